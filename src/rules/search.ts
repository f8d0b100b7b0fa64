import { type Kind, lookup } from '../mapping/index.ts'
import type { Node } from '../query/ast.ts'
import type { SearchRequest } from '../query/request.ts'
import { and, range } from '../query/simplify.ts'
import { TARGET_KINDS } from './attributes.ts'
import { lower, toQuery } from './lower.ts'
import type { RuleConfig } from './rule.ts'

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

/** What a rule would have done in stored history. */
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

/** What a rule finds, as a search of what is stored; undefined where entities of its target are not indexed. */
export const searchOf = (config: RuleConfig, { from, to, order, size }: SearchOfRule): SearchRequest | undefined => {
  const kind = TARGET_KINDS[config.targetType]
  const conditions = lower(config)
  if (kind === undefined || conditions === undefined) return undefined
  return {
    parts: [{ kind, query: and([blocksBetween(kind, from, to), toQuery(kind, conditions)]) }],
    sort: [{ by: '_doc', fields: {}, order, missing: '_last' }],
    from: 0,
    size,
    source: true,
    trackTotal: size >= 0,
  }
}

const blocksBetween = (kind: Kind, from: number, to: number): Node =>
  range(lookup(kind, kind === 'block' ? 'number.num' : 'blockNumber.num')!, { gte: BigInt(from), lte: BigInt(to) })
