import type { Exact } from '../query/ast.ts'
import { compareExact } from '../query/exact.ts'
import type { WindowMeasure } from './spec.ts'
import { addExact, type ExactSum } from './sums.ts'

/** A value of a match. */
export interface WindowValue {
  /** Equal for equal values. */
  text: string
  /** Absent for what is no number. */
  number?: Exact | undefined
  /** Whether no value of its type is negative. */
  unsigned: boolean
}

/** The matches of one key in one block, as JSON keeps them. */
export interface WindowEntry {
  /** JSON list of the values of `by`. */
  key: string
  count: number
  /** Of the first matches. */
  ids: string[]
  /** In the order of the measures. */
  parts: EntryPart[]
}

export type EntryPart =
  /** Of a sum: digits, scale, number of values, and 1 if they may be negative. */
  | [digits: string, scale: number, values: number, signed: 0 | 1]
  /** Of the least or greatest value. */
  | [digits: string, scale: number]
  | null
  /** Of distinct values: their texts. */
  | { of: string[] }

/** Matches of a key that are named in its alert. */
export const MAX_NAMED = 20

type GatheredPart = { sum: ExactSum; signed: 0 | 1 } | { bound: Exact | undefined } | { texts: Set<string> }

/** Gathers the matches of one rule in one block. */
export const createEntries = (measures: readonly WindowMeasure[]) => {
  const keys = new Map<string, { count: number; ids: string[]; parts: GatheredPart[] }>()
  const emptyPart = ({ kind }: WindowMeasure): GatheredPart =>
    kind === 'sum'
      ? { sum: { digits: 0n, scale: 0, values: 0 }, signed: 0 }
      : kind === 'distinct'
        ? { texts: new Set() }
        : { bound: undefined }

  const gather = (part: GatheredPart, { kind }: WindowMeasure, values: readonly WindowValue[]) => {
    for (const { text, number, unsigned } of values) {
      if ('texts' in part) part.texts.add(text)
      else if (number === undefined) continue
      else if ('sum' in part) {
        addExact(part.sum, number)
        part.sum.values++
        if (!unsigned) part.signed = 1
      } else if (part.bound === undefined || compareExact(number, part.bound) * (kind === 'least' ? -1 : 1) > 0)
        part.bound = number
    }
  }

  return {
    /** `valuesOf`: of each measure. `id` is asked for where it is named. */
    add(key: string, id: () => string, valuesOf: (measure: number) => readonly WindowValue[]) {
      let found = keys.get(key)
      if (found === undefined) {
        found = { count: 0, ids: [], parts: measures.map(emptyPart) }
        keys.set(key, found)
      }
      found.count++
      if (found.ids.length < MAX_NAMED) found.ids.push(id())
      for (let i = 0; i < measures.length; i++) gather(found.parts[i]!, measures[i]!, valuesOf(i))
    },
    finish: (): WindowEntry[] =>
      [...keys].map(([key, { count, ids, parts }]) => ({ key, count, ids, parts: parts.map(toPart) })),
  }
}

const toPart = (part: GatheredPart): EntryPart => {
  if ('texts' in part) return { of: [...part.texts] }
  if ('sum' in part) return [String(part.sum.digits), part.sum.scale, part.sum.values, part.signed]
  return part.bound ? [String(part.bound.digits), part.bound.scale] : null
}
