import type { Kind } from '../../mapping/index.ts'
import type { ClusterOptions } from '../connection/cluster.ts'

export type IndexNaming = Pick<ClusterOptions, 'prefix' | 'blocksPerIndex'>

/** What the names of a network's indices begin with: `chainsieve-ethereum-ethereum-mainnet`. */
export const baseOf = ({ prefix }: Pick<IndexNaming, 'prefix'>, network: string): string =>
  `${prefix}-${dashed(network)}`

/** Asked for with each document. */
const dashed = (network: string): string => {
  if (network !== last.network) last = { network, text: network.replaceAll('/', '-').toLowerCase() }
  return last.text
}
let last = { network: '', text: '' }

/** All documents of a kind, whatever index they lie in. */
export const aliasOf = (naming: Pick<IndexNaming, 'prefix'>, network: string, kind: Kind): string =>
  `${baseOf(naming, network)}-${kind}`

/**
 * The index of a document. Tokens lie in one, since the block that first shows a token may become a lower one; other kinds lie by ranges of
 * blocks: `…-tx-000003`.
 */
export const indexNameOf = (naming: IndexNaming, network: string, kind: Kind, block: number): string => {
  const { prefix } = naming
  const range = kind === 'token' ? 0 : Math.floor(block / naming.blocksPerIndex)
  const known = names.get(kind)
  if (known && known.range === range && known.network === network && known.prefix === prefix) return known.name
  const name = `${aliasOf(naming, network, kind)}-${String(range).padStart(6, '0')}`
  names.set(kind, { prefix, network, range, name })
  return name
}

/** The last one of each kind: it is asked for with each document. */
const names = new Map<Kind, { prefix: string; network: string; range: number; name: string }>()

/**
 * `_id` of a document in the cluster. A contract that was created again at its address is several documents, which show one id: there each
 * has its position behind it.
 */
export const clusterId = (kind: Kind, id: string, position: number): string =>
  kind === 'contract' ? `${id}${POSITION_MARK}${position}` : id

/** The id that a document shows. */
export const shownId = (id: string): string => {
  const end = id.indexOf(POSITION_MARK)
  return end < 0 ? id : id.slice(0, end)
}

/** Stands in no id. */
const POSITION_MARK = '@'
