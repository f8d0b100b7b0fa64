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
}

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
