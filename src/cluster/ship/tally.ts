import type { Hidden } from '../../engine/shipping/shipped-ranges.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import { META_FIELDS } from '../indices/names.ts'
import { hiddenClauses } from '../query/dsl.ts'

/** Number of documents of a kind, and a checksum of their positions. */
export interface Tally {
  count: number
  /** Exact for up to 2^29 documents. */
  sum: number
}

/** 24-bit hash of a position. */
export const mixPosition = (position: number): number => {
  const low = position | 0
  const high = Math.floor(position / 2 ** 32) | 0
  let mixed = Math.imul(low, FACTORS[0]) ^ Math.imul(high, FACTORS[1])
  mixed = Math.imul(mixed ^ (mixed >>> 15), FACTORS[2])
  return (mixed ^ (mixed >>> 13)) >>> 8
}

const FACTORS = [0x9e3779b1 | 0, 0x85ebca6b | 0, 0xc2b2ae35 | 0] as const

/** The same in the cluster's script language. */
const MIX_SCRIPT = [
  `long p = doc['${META_FIELDS.position}'].value`,
  'int m = ((int)p * params.a) ^ ((int)(p >>> 32) * params.b)',
  'm = (m ^ (m >>> 15)) * params.c',
  'return (m ^ (m >>> 13)) >>> 8',
].join('; ')

export const tallies = (): Map<Kind, Tally> => new Map(KINDS.map(kind => [kind, { count: 0, sum: 0 }]))

export const addTo = (all: ReadonlyMap<Kind, Tally>, kind: Kind, position: number) => {
  const tally = all.get(kind)!
  tally.count++
  tally.sum += mixPosition(position)
}

/** Aggregations for tallies of the matches of a query. */
export const TALLY_AGGREGATIONS = {
  kinds: {
    terms: { field: META_FIELDS.kind, size: KINDS.length },
    aggs: {
      sum: {
        sum: {
          script: { lang: 'painless', source: MIX_SCRIPT, params: { a: FACTORS[0], b: FACTORS[1], c: FACTORS[2] } },
        },
      },
    },
  },
}

export interface TallyAnswer {
  buckets: { key: number; doc_count: number; sum: { value: number } }[]
}

export const talliesIn = ({ buckets }: TallyAnswer): Map<Kind, Tally> => {
  const all = tallies()
  for (const { key, doc_count, sum } of buckets) all.set(KINDS[key]!, { count: doc_count, sum: sum.value })
  return all
}

/** Kinds whose tallies differ. */
export const differingKinds = (some: ReadonlyMap<Kind, Tally>, others: ReadonlyMap<Kind, Tally>): Kind[] =>
  KINDS.filter(kind => {
    const [one, other] = [some.get(kind)!, others.get(kind)!]
    return one.count !== other.count || one.sum !== other.sum
  })

/** Number of documents of a block in an index, by the block hash that they contain. */
interface BlockCount {
  block: number
  /** Undefined if they contain none. */
  hash: string | undefined
  count: number
}

export interface CountsAnswer {
  after_key?: object
  buckets: { key: { block: number; hash: string | null }; doc_count: number }[]
}

/** Most rows of one answer. */
const COUNTS_PER_PAGE = 10_000

/** Counts the visible documents of an index, in block order. */
export const countsBody = (kind: Kind, hidden: readonly Hidden[], after: object | undefined) => ({
  size: 0,
  track_total_hits: false,
  query: { bool: { must_not: hiddenClauses({ hidden }) } },
  aggs: {
    blocks: {
      composite: {
        size: COUNTS_PER_PAGE,
        sources: [
          { block: { terms: { field: META_FIELDS.block } } },
          { hash: { terms: { field: kind === 'block' ? 'hash' : 'blockHash', missing_bucket: true } } },
        ],
        ...(after && { after }),
      },
    },
  },
})

export const countsIn = ({ buckets }: CountsAnswer): BlockCount[] =>
  buckets.map(({ key: { block, hash }, doc_count }) => ({ block, hash: hash ?? undefined, count: doc_count }))
