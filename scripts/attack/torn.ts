/** A hit of blocks or transactions, or of what is in them. */
export interface ChainHit {
  _index: string
  _type: string
  _id: string
  _source: {
    hash?: string
    parentHash?: string
    blockHash?: string
    number?: { num: number }
    blockNumber?: { num: number }
  }
}

/** What shows that an answer with all hits is not of one state of the chain; undefined where nothing does. */
export const tornBy = (hits: readonly ChainHit[], total: number | undefined): string | undefined => {
  if (total !== undefined && total !== hits.length) return `tells a total of ${total}, and has ${hits.length} hits`
  const ids = new Set<string>()
  const hashes = new Map<string, string>()
  const parents = new Map<string, string>()
  for (const { _index, _type, _id, _source } of hits) {
    const id = `${_index}/${_id}`
    if (ids.has(id)) return `has ${id} twice`
    ids.add(id)
    const isBlock = _type === 'block'
    const network = _index.slice(0, -_type.length)
    const number = (isBlock ? _source.number : _source.blockNumber)?.num
    const hash = isBlock ? _id : _source.blockHash
    if (number === undefined || hash === undefined) continue
    const at = `${network}${number}`
    if ((hashes.get(at) ?? hash) !== hash) return `has block ${at} as ${hashes.get(at)} and as ${hash}`
    hashes.set(at, hash)
    if (isBlock && _source.parentHash !== undefined) parents.set(`${network}${number - 1}`, _source.parentHash)
  }
  for (const [at, parent] of parents)
    if ((hashes.get(at) ?? parent) !== parent)
      return `has block ${at} as ${hashes.get(at)}, but its child names ${parent}`
  return undefined
}
