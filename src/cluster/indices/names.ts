import { KINDS, type Kind } from '../../mapping/index.ts'
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

/** What the cluster's documents hold beside what they show, as the last member of `_source`. */
export interface Meta {
  /** The batch that wrote it. Each batch has a greater number than all before it, and its documents have it as their version. */
  batch: number
  block: number
  /** Block number × 2^22 + place in the block: the order of the chain. */
  position: number
  /** `_routing` and `_parent` of a hit; of blocks none. */
  routing: string | undefined
  parent: string | undefined
}
export const META = 'chainsieve'
/** Fields of the meta data, as queries name them. */
export const META_FIELDS = {
  batch: `${META}.batch`,
  block: `${META}.block`,
  position: `${META}.position`,
  /** Tells kinds apart that stand at one position. */
  kind: `${META}.kind`,
  routing: `${META}.routing`,
  parent: `${META}.parent`,
} as const
/** How an index declares them. */
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
/** The member's text, to stand behind the last member of a document. */
export const metaText = (kind: Kind, { batch, block, position, routing, parent }: Meta): string => {
  const above = routing === undefined ? '' : `,"routing":"${routing}","parent":"${parent}"`
  return `${OPENING}{"batch":${batch},"block":${block},"position":${position},"kind":${KINDS.indexOf(kind)}${above}}`
}
/** The text of a document as it is shown, and what the cluster holds beside it. */
export const splitSource = (text: string): { source: string; meta: Meta & { kind: number } } => {
  const at = text.lastIndexOf(OPENING)
  const from = at + OPENING.length
  return { source: `${text.slice(0, at)}}`, meta: JSON.parse(text.slice(from, -1)) as Meta & { kind: number } }
}
/** The same of bytes, of which `last` is where the last member's value begins. `source` is changed. */
export const splitBytes = (source: Buffer, last: number): { shown: Buffer; meta: Meta & { kind: number } } => {
  const meta = JSON.parse(source.toString('latin1', last, source.length - 1)) as Meta & { kind: number }
  const end = last - OPENING.length
  source[end] = CLOSE
  return { shown: source.subarray(0, end + 1), meta }
}
const OPENING = `,"${META}":`
const CLOSE = '}'.charCodeAt(0)
