import type { TimeParts } from '../lib/time.ts'
import { type Kind, lookup } from '../mapping/index.ts'
import type { Node } from '../query/ast.ts'
import type { SearchRequest } from '../query/request.ts'
import { andNode, rangeNode } from '../query/simplify.ts'
import { type FindList, lowerConditions, toQuery } from './lower.ts'
import { kindOfTarget, type RuleConfig } from './rule.ts'

export interface SearchOfRule {
  from: number
  to: number
  order: 'asc' | 'desc'
  /** -1 for all. */
  size: number
}

/** Blocks of a simulation, both inclusive; by default all that are stored. */
export interface SimulatedRange {
  fromBlock?: number | undefined
  toBlock?: number | undefined
  /** In place of both: so many of the newest blocks. */
  lastBlocks?: number | undefined
  /** Most buckets of the series. */
  buckets?: number | undefined
  size?: number | undefined
}

/** The result of running a rule over stored history (backtest). */
export interface RuleSimulation {
  total: number
  /** Whether every block of the range is stored; `holes` are those that are not. */
  complete: boolean
  holes: { from: number; to: number }[]
  fromBlock: number
  toBlock: number
  /** Newest first. */
  hits: unknown[]
  /** Matches by time; null if no block of the range is stored. Only on request. */
  series?: SimulationSeries | null
  /** For several networks: each result without hits; only these have holes and series. */
  networks?: Omit<SimulationOfNetwork, 'hits'>[]
  /** Also for stored rules. */
  warnings?: string[]
}

export interface SimulationOfNetwork extends RuleSimulation {
  network: string
}

export interface SimulationSeries {
  intervalMs: number
  /** ISO-8601, UTC. */
  buckets: { from: string; count: number }[]
}

/** Adds a histogram of the blocks' times. */
export const withSeries = (request: SearchRequest, { intervalMs }: Pick<TimeParts, 'intervalMs'>): SearchRequest => {
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

export const edgeSearch = (from: number, to: number, order: 'asc' | 'desc'): SearchRequest => ({
  parts: [{ kind: 'block', query: blocksBetween('block', from, to) }],
  sort: [{ by: '_doc', fields: {}, order, missing: '_last' }],
  from: 0,
  size: 1,
  source: true,
  trackTotal: false,
})

export const searchOf = (
  config: RuleConfig,
  { from, to, order, size }: SearchOfRule,
  lists?: FindList,
): SearchRequest => {
  const kind = kindOfTarget(config.targetType)
  const conditions = lowerConditions(config, lists)
  return {
    parts: [{ kind, query: andNode([blocksBetween(kind, from, to), toQuery(kind, conditions)]) }],
    sort: [{ by: '_doc', fields: {}, order, missing: '_last' }],
    from: 0,
    size,
    source: true,
    trackTotal: size >= 0,
  }
}

/** Fields with the block's number, other than `blockNumber`. */
const NUMBER_FIELDS: Partial<Record<Kind, string>> = { block: 'number', token: 'firstSeen' }

const blocksBetween = (kind: Kind, from: number, to: number): Node =>
  rangeNode(lookup(kind, `${NUMBER_FIELDS[kind] ?? 'blockNumber'}.num`)!, { gte: BigInt(from), lte: BigInt(to) })

export const documentBlock = ({ _source }: { _source: Record<string, unknown> }): { number: number; hash: string } => {
  const { blockNumber, number, firstSeen, blockHash, hash } = _source as Record<string, { num: number } & string>
  return { number: (blockNumber ?? number ?? firstSeen)!.num, hash: (blockHash ?? hash)! }
}
