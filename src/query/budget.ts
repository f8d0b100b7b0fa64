import { DEFAULT_LIMITS, type Limits, overLimit } from '../limits/index.ts'
import { type JsonNode, where } from './json-node.ts'

export type QueryBudget = ReturnType<typeof createQueryBudget>

export interface QueryBudgetOptions {
  limits?: Limits | undefined
  /** Called with every clause; throws to stop reading the query. */
  check?: (() => void) | undefined
}

/** Counts what one query asks for, and refuses what is beyond the limits before any work is done for it. */
export const createQueryBudget = ({ limits = DEFAULT_LIMITS, check }: QueryBudgetOptions = {}) => {
  let clauses = 0
  let values = 0
  const zones = new Set<string>()
  return {
    limits,
    /** Also asks whether to go on: see `BudgetOptions`. */
    clauses(more: number, place: JsonNode) {
      check?.()
      clauses += more
      if (clauses > limits.clauses) throw overLimit('clauses', limits, `The query up to ${where(place)}`)
    },
    values(more: number, place: JsonNode) {
      values += more
      if (values > limits.values) throw overLimit('values', limits, `The query up to ${where(place)}`)
    },
    text(text: string, place: JsonNode): string {
      if (text.length > limits.text) throw overLimit('text', limits, where(place))
      return text
    },
    /** A name, key or format, which the answer may repeat very often. */
    name(text: string, place: JsonNode): string {
      if (text.length > limits.nameLength) throw overLimit('nameLength', limits, where(place))
      return text
    },
    timeZone(name: string, place: JsonNode) {
      zones.add(name)
      if (zones.size > limits.timeZones) throw overLimit('timeZones', limits, `The query up to ${where(place)}`)
    },
  }
}
