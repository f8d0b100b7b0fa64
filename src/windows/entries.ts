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

/** The only match of a key so far; rules with the same measures share it. */
export interface LoneMatch<Match> extends Pick<WindowEntry, 'ids' | 'parts'> {
  match: Match
}

export const loneMatchOf = <Match>(
  measures: readonly WindowMeasure[],
  { id, values }: MatchValues<Match>,
  match: Match,
): LoneMatch<Match> => {
  const parts = measures.map(emptyPart)
  for (let i = 0; i < measures.length; i++) gather(parts[i]!, measures[i]!, values(match, i))
  return { match, ids: [id(match)], parts: parts.map(toPart) }
}

interface SeveralMatches<Match> {
  count: number
  ids: string[]
  parts: GatheredPart[]
  last: Match
}

export interface WindowEntries<Match> {
  add(key: string, match: Match): void
  finish(): WindowEntry[]
  /** The last match of each entry. */
  lasts(): Match[]
}

/** Gathers the matches of one rule in one block. Most keys have one match: it is kept as it is. */
export const createEntries = <Match>(
  measures: readonly WindowMeasure[],
  from: MatchValues<Match>,
  lone = (match: Match) => loneMatchOf(measures, from, match),
): WindowEntries<Match> => {
  const keys = new Map<string, LoneMatch<Match> | SeveralMatches<Match>>()

  const addTo = (several: SeveralMatches<Match>, match: Match) => {
    several.count++
    several.last = match
    if (several.ids.length < MAX_NAMED) several.ids.push(from.id(match))
    for (let i = 0; i < measures.length; i++) gather(several.parts[i]!, measures[i]!, from.values(match, i))
  }

  return {
    add(key, match) {
      const found = keys.get(key)
      if (found === undefined) keys.set(key, lone(match))
      else if ('count' in found) addTo(found, match)
      else {
        const several = { count: 0, ids: [], parts: measures.map(emptyPart), last: match }
        addTo(several, found.match)
        addTo(several, match)
        keys.set(key, several)
      }
    },
    finish: () =>
      Array.from(keys, ([key, found]) =>
        'count' in found
          ? { key, count: found.count, ids: found.ids, parts: found.parts.map(toPart) }
          : { key, count: 1, ids: found.ids, parts: found.parts },
      ),
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
