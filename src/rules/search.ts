import type { Parts } from '../lib/time.ts'
import { type Kind, lookup } from '../mapping/index.ts'
import type { Node } from '../query/ast.ts'
import type { SearchRequest } from '../query/request.ts'
import { and, range } from '../query/simplify.ts'
import { lower, toQuery } from './lower.ts'
import { type RuleConfig, TARGET_KINDS } from './rule.ts'

export interface SearchOfRule {
  /** Blocks that are looked at, both inclusive. */
  from: number
  to: number
  order: 'asc' | 'desc'
  /** Number of hits, or -1 for all. */
  size: number
}

/** Blocks that a simulation looks through, both included; by default all that are stored. */
export interface SimulationRange {
  fromBlock?: number | undefined
  toBlock?: number | undefined
  /** In place of both: so many of the newest blocks. */
  lastBlocks?: number | undefined
  /** Parts of time by which what is found is counted, at most. */
  buckets?: number | undefined
  /** Hits to show. */
  size?: number | undefined
}

/** The result of running a rule over stored history. */
export interface Simulation {
  /** How often the rule would have fired. */
  total: number
  /** Whether every block of the range is stored; where not, `holes` are those that are missing. */
  complete: boolean
  holes: { from: number; to: number }[]
  fromBlock: number
  toBlock: number
  /** As a search shows them, the newest first. */
  hits: unknown[]
  /** How much was found by the time of blocks; null where no block of the range is stored. Absent where nobody asked. */
  series?: SimulationSeries | null
  /** Of a rule of several networks: what each gives, but for its hits. Then holes and series are told there alone. */
  networks?: Omit<SimulationOfNetwork, 'hits'>[]
  /** What will not do what the rule's owner may expect, as with a stored rule. */
  warnings?: string[]
}

export interface SimulationOfNetwork extends Simulation {
  network: string
}

export interface SimulationSeries {
  intervalMs: number
  /** When each begins, as ISO-8601 UTC. */
  buckets: { from: string; count: number }[]
}

/** Counts what a search of a rule finds by parts of the time of blocks, which begin at multiples of their length. */
export const withSeries = (request: SearchRequest, { intervalMs }: Pick<Parts, 'intervalMs'>): SearchRequest => {
  const fields = Object.fromEntries(request.parts.map(({ kind }) => [kind, lookup(kind, 'timestamp')!]))
  const values = { fields, type: 'date', missing: undefined } as const
  const shape = { minDocCount: 1, order: [{ by: '_key', ascending: true }], keyed: false } as const
  const edges = { format: undefined, extended: undefined, hard: undefined }
  const spec = { kind: 'histogram', values, interval: intervalMs, offset: 0, ...shape, ...edges } as const
  return {
    ...request,
    aggregations: { aggs: [{ name: 'series', spec, gives: 'buckets', aggs: [], pipelines: [] }], pipelines: [] },
  }
}

/** The first or the last stored block of a range. */
export const edgeOf = (from: number, to: number, order: 'asc' | 'desc'): SearchRequest => ({
  parts: [{ kind: 'block', query: blocksBetween('block', from, to) }],
  sort: [{ by: '_doc', fields: {}, order, missing: '_last' }],
  from: 0,
  size: 1,
  source: true,
  trackTotal: false,
})

/** What a rule finds, as a search of what is stored. */
export const searchOf = (config: RuleConfig, { from, to, order, size }: SearchOfRule): SearchRequest => {
  const kind = TARGET_KINDS[config.targetType]
  const conditions = lower(config)
  return {
    parts: [{ kind, query: and([blocksBetween(kind, from, to), toQuery(kind, conditions)]) }],
    sort: [{ by: '_doc', fields: {}, order, missing: '_last' }],
    from: 0,
    size,
    source: true,
    trackTotal: size >= 0,
  }
}

/** Where kinds have the number of their block, other than in `blockNumber`. */
const NUMBER_FIELDS: Partial<Record<Kind, string>> = { block: 'number', token: 'firstSeen' }

const blocksBetween = (kind: Kind, from: number, to: number): Node =>
  range(lookup(kind, `${NUMBER_FIELDS[kind] ?? 'blockNumber'}.num`)!, { gte: BigInt(from), lte: BigInt(to) })

/** The block that a document says it is of. */
export const blockOfDocument = ({
  _source,
}: {
  _source: Record<string, unknown>
}): { number: number; hash: string } => {
  const { blockNumber, number, firstSeen, blockHash, hash } = _source as Record<string, { num: number } & string>
  return { number: (blockNumber ?? number ?? firstSeen)!.num, hash: (blockHash ?? hash)! }
}
