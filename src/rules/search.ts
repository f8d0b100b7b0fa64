import type { TimeParts } from '../lib/time.ts'
import { type Kind, lookup } from '../mapping/index.ts'
import type { Node } from '../query/ast.ts'
import type { SearchRequest } from '../query/request.ts'
import { andNode, rangeNode } from '../query/simplify.ts'
import type { ShownStep } from '../windows/sequence.ts'
import type { ShownCondition } from '../windows/spec.ts'
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
  /** Most episodes to show; `MAX_EPISODES` by default. */
  episodes?: number | undefined
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
  /** How many alerts there would have been; null if it takes too long to tell. */
  alerts?: number | null
  /** For each receiver of the rule. */
  messages?: SimulatedMessages[]
  /** Only of a rule with `when`. */
  windows?: SimulatedWindows
  /** Also for stored rules. */
  warnings?: string[]
}

/** Messages that a receiver would have got, as if each block had been final at once; null if it takes too long to tell. */
export interface SimulatedMessages {
  /** Place in the rule's alerts. */
  action: number
  type: string
  messages: number | null
}

export interface SimulatedWindows {
  /** Newest first, `MAX_EPISODES` of them at most; `alerts` is their number. */
  episodes: SimulatedEpisode[]
  /** How many had not ended. */
  open: number
  /** Blocks at which a window reached into blocks that are not stored. */
  undecided: { from: number; to: number }[]
}

export interface SimulatedEpisode {
  /** Only for several networks. */
  network?: string
  key: Readonly<Record<string, string | null>>
  opened: SimulatedMoment
  /** Null while it is open; absent with `First` and with steps, whose alerts do not end. */
  ended?: SimulatedMoment | null
  matches: number
  /** Of a rule with steps. */
  steps?: ShownStep[]
  /** Of each condition the value that was furthest beyond its bound. */
  peak: ShownCondition[]
}

export interface SimulatedMoment {
  block: number
  /** ISO-8601, UTC. */
  time: string
}

/** Most episodes that a simulation shows. */
export const MAX_EPISODES = 1_000

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

export const blocksBetween = (kind: Kind, from: number, to: number): Node =>
  rangeNode(lookup(kind, `${NUMBER_FIELDS[kind] ?? 'blockNumber'}.num`)!, { gte: BigInt(from), lte: BigInt(to) })

export const documentBlock = ({ _source }: { _source: Record<string, unknown> }): { number: number; hash: string } => {
  const { blockNumber, number, firstSeen, blockHash, hash } = _source as Record<string, { num: number } & string>
  return { number: (blockNumber ?? number ?? firstSeen)!.num, hash: (blockHash ?? hash)! }
}
