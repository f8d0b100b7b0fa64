import { KINDS, type Kind } from '../../mapping/index.ts'
import type { ClusterOptions } from '../connection/cluster.ts'

export type IndexNaming = Pick<ClusterOptions, 'prefix' | 'blocksPerIndex'>

/** Prefix of the names of a network's indices: `chainsieve-ethereum-ethereum-mainnet`. */
export const baseOf = ({ prefix }: Pick<IndexNaming, 'prefix'>, network: string): string =>
  `${prefix}-${dashed(network)}`

/** Caches the last name, since each document needs it. */
const dashed = (network: string): string => {
  if (network !== last.network) last = { network, text: network.replaceAll('/', '-').toLowerCase() }
  return last.text
}

let last = { network: '', text: '' }

/** Alias of all indices of a kind. */
export const aliasOf = (naming: Pick<IndexNaming, 'prefix'>, network: string, kind: Kind): string =>
  `${baseOf(naming, network)}-${kind}`

/**
 * Index of a document. Tokens share one, since a token's first block may become a lower one; other
 * kinds have one per range of blocks: `…-tx-000003`.
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

/** Last name of each kind, since each document needs one. */
const names = new Map<Kind, { prefix: string; network: string; range: number; name: string }>()

/**
 * `_id` of a document in the cluster. A contract that was recreated at its address has several
 * documents that show the same id, so their positions are appended.
 */
export const clusterId = (kind: Kind, id: string, position: number): string =>
  kind === 'contract' ? `${id}${POSITION_MARK}${position}` : id

/** The id that a document shows. */
export const shownId = (id: string): string => {
  const end = id.indexOf(POSITION_MARK)
  return end < 0 ? id : id.slice(0, end)
}

/** Occurs in no id. */
const POSITION_MARK = '@'

/** Metadata of a document in the cluster: the last member of `_source`, hidden from answers. */
export interface Meta {
  /** Batch that wrote the document, and the document's version. Batch numbers increase. */
  batch: number
  block: number
  /** Block number × 2^22 + place in the block: the order of the chain. */
  position: number
  /** `_routing` and `_parent` of a hit; undefined for blocks. */
  routing: string | undefined
  parent: string | undefined
}

export const META = 'chainsieve'

/** Fields of the meta data, as queries name them. */
export const META_FIELDS = {
  batch: `${META}.batch`,
  block: `${META}.block`,
  position: `${META}.position`,
  /** Distinguishes kinds at the same position. */
  kind: `${META}.kind`,
  routing: `${META}.routing`,
  parent: `${META}.parent`,
} as const

/** Mapping of the metadata. */
export const META_PROPERTIES = {
  properties: {
    batch: { type: 'long' },
    block: { type: 'long' },
    position: { type: 'long' },
    kind: { type: 'byte' },
    routing: { type: 'keyword', index: false, doc_values: false },
    parent: { type: 'keyword' },
  },
} as const

/** Text of the metadata member, to append after the last member of a document. */
export const metaText = (kind: Kind, { batch, block, position, routing, parent }: Meta): string => {
  const above = routing === undefined ? '' : `,"routing":"${routing}","parent":"${parent}"`
  return `${OPENING}{"batch":${batch},"block":${block},"position":${position},"kind":${KINDS.indexOf(kind)}${above}}`
}

/** Splits `_source` into the shown text and the metadata. */
export const splitSource = (text: string): { source: string; meta: Meta & { kind: number } } => {
  const at = text.lastIndexOf(OPENING)
  const from = at + OPENING.length
  return { source: `${text.slice(0, at)}}`, meta: JSON.parse(text.slice(from, -1)) as Meta & { kind: number } }
}

/** Does the same for bytes, in place. `last`: offset of the last member's value. */
export const splitBytes = (source: Buffer, last: number): { shown: Buffer; meta: Meta & { kind: number } } => {
  const meta = JSON.parse(source.toString('latin1', last, source.length - 1)) as Meta & { kind: number }
  const end = last - OPENING.length
  source[end] = CLOSE
  return { shown: source.subarray(0, end + 1), meta }
}

const OPENING = `,"${META}":`
const CLOSE = '}'.charCodeAt(0)
