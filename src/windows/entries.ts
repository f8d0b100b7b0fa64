import type { Exact } from '../query/ast.ts'
import { compareExact } from '../query/exact.ts'
import type { KeyReading } from './newest.ts'
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
  ids: readonly string[]
  /** In the order of the measures. */
  parts: readonly EntryPart[]
  /** Of a rule of the target `State`, which has no measures. */
  reading?: KeyReading
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

export interface MatchValues<Match> {
  id(match: Match): string
  values(match: Match, measure: number): readonly WindowValue[]
}

/** A match as it was read: once for all rules with the same keys and measures. */
export interface ReadMatch<Match> {
  match: Match
  key: string
  id: string
  /** In the order of the measures. */
  values: readonly (readonly WindowValue[])[]
  /** As the only match of its key; made on demand. */
  entry?: WindowEntry
}

export const readMatch = <Match>(
  measures: readonly WindowMeasure[],
  { id, values }: MatchValues<Match>,
  key: string,
  match: Match,
): ReadMatch<Match> => ({ match, key, id: id(match), values: measures.map((_, i) => values(match, i)) })

const loneEntry = (measures: readonly WindowMeasure[], { key, id, values }: ReadMatch<unknown>): WindowEntry => {
  const parts = measures.map(emptyPart)
  for (let i = 0; i < measures.length; i++) gather(parts[i]!, measures[i]!, values[i]!)
  return { key, count: 1, ids: [id], parts: parts.map(toPart) }
}

interface SeveralMatches<Match> {
  count: number
  ids: string[]
  parts: GatheredPart[]
  last: Match
}

export interface WindowEntries<Match> {
  add(key: string, match: Match): void
  addRead(read: ReadMatch<Match>): void
  finish(): WindowEntry[]
  /** The last match of each entry. */
  lasts(): Match[]
}

/** Gathers the matches of one rule in one block. Most keys have one match: it is kept as it is. */
export const createEntries = <Match>(
  measures: readonly WindowMeasure[],
  from: MatchValues<Match>,
): WindowEntries<Match> => {
  const keys = new Map<string, ReadMatch<Match> | SeveralMatches<Match>>()

  const addTo = (several: SeveralMatches<Match>, { match, id, values }: ReadMatch<Match>) => {
    several.count++
    several.last = match
    if (several.ids.length < MAX_NAMED) several.ids.push(id)
    for (let i = 0; i < measures.length; i++) gather(several.parts[i]!, measures[i]!, values[i]!)
  }

  const addRead = (read: ReadMatch<Match>) => {
    const { key } = read
    const found = keys.get(key)
    if (found === undefined) keys.set(key, read)
    else if ('count' in found) addTo(found, read)
    else {
      const several = { count: 0, ids: [], parts: measures.map(emptyPart), last: found.match }
      addTo(several, found)
      addTo(several, read)
      keys.set(key, several)
    }
  }

  return {
    add: (key, match) => addRead(readMatch(measures, from, key, match)),
    addRead,
    finish: () =>
      Array.from(keys, ([key, found]) => {
        if (!('count' in found)) {
          found.entry ??= loneEntry(measures, found)
          return found.entry
        }
        const { count, ids, parts } = found
        return { key, count, ids, parts: parts.map(toPart) }
      }),
    lasts: () => Array.from(keys.values(), found => ('count' in found ? found.last : found.match)),
  }
}

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

const toPart = (part: GatheredPart): EntryPart => {
  if ('texts' in part) return { of: [...part.texts] }
  if ('sum' in part) return [String(part.sum.digits), part.sum.scale, part.sum.values, part.signed]
  return part.bound ? [String(part.bound.digits), part.bound.scale] : null
}
