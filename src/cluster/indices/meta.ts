import { KINDS, type Kind } from '../../mapping/index.ts'

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
