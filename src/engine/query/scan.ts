import { type ColumnData, valueAt } from '../index/column-codec.ts'
import { type ColumnCondition, DOUBT, NO, type Verdict, YES } from './column-conditions.ts'
import { count, EMPTY, each, listed, lowerBound, type OrdinalSet, run } from './sets.ts'

/** What a scan of a column finds among the candidates. */
export interface Scanned {
  found: OrdinalSet
  /** Those that the column does not tell all about. */
  doubtful: OrdinalSet
}

/** Values that are compared between two looks at whether to go on. */
const STRETCH = 2 ** 14

/** Candidates whose value fulfils a condition. */
export const scan = (data: ColumnData, condition: ColumnCondition, within: OrdinalSet, check: () => void): Scanned => {
  const { values, base, dictionary } = data
  const { low, high, judge } = condition
  if (!values) return ofOne(valueAt(data, 0), condition, within)
  // Bounds of what is stored: of a dictionary, places in it.
  const from = dictionary ? lowerBound(dictionary, low) : low - base
  const to = dictionary ? upperBound(dictionary, high) - 1 : high - base
  if (from > to) return NOTHING
  const found = createList(count(within))
  if (!judge) {
    if (within.form === 'run')
      for (let start = within.from; start < within.to; start += STRETCH) {
        check()
        const end = Math.min(start + STRETCH, within.to)
        for (let ordinal = start; ordinal < end; ordinal++) {
          const value = values[ordinal]!
          if (value >= from && value <= to) found.push(ordinal)
        }
      }
    else
      each(within, ordinal => {
        const value = values[ordinal]!
        if (value >= from && value <= to) found.push(ordinal)
      })
    return { found: found.take(), doubtful: EMPTY }
  }
  const verdictOf = remembering(data, judge)
  const doubtful: number[] = []
  let seen = 0
  each(within, ordinal => {
    if ((++seen & 0xfff) === 0) check()
    const value = values[ordinal]!
    if (value < from || value > to) return
    const verdict = verdictOf(value)
    if (verdict === YES) found.push(ordinal)
    else if (verdict === DOUBT) doubtful.push(ordinal)
  })
  return { found: found.take(), doubtful: listed(Uint32Array.from(doubtful)) }
}

const NOTHING: Scanned = { found: EMPTY, doubtful: EMPTY }

/** All documents have the same value. */
const ofOne = (value: number, { low, high, judge }: ColumnCondition, within: OrdinalSet): Scanned => {
  const verdict = value < low || value > high ? NO : judge ? judge(value) : YES
  return { found: verdict === YES ? within : EMPTY, doubtful: verdict === DOUBT ? within : EMPTY }
}

/** Judges each stored value once where there are few different ones. */
const remembering = (
  { width, base, dictionary }: ColumnData,
  judge: (value: number) => Verdict,
): ((stored: number) => Verdict) => {
  if (!dictionary && width > 2) return stored => judge(base + stored)
  const verdicts = new Uint8Array(dictionary ? dictionary.length : 2 ** (8 * width))
  return stored => {
    verdicts[stored] ||= judge(dictionary ? dictionary[stored]! : base + stored)
    return verdicts[stored] as Verdict
  }
}

const createList = (most: number) => {
  const list = new Uint32Array(most)
  let size = 0
  return {
    push(ordinal: number) {
      list[size++] = ordinal
    },
    take: (): OrdinalSet => {
      if (size === 0) return EMPTY
      return list[size - 1]! - list[0]! === size - 1 ? run(list[0]!, list[0]! + size) : listed(list.subarray(0, size))
    },
  }
}

/** Index of the first of some ascending numbers that is above another one. */
const upperBound = (list: ArrayLike<number>, value: number): number => {
  const at = lowerBound(list, value)
  return list[at] === value ? at + 1 : at
}
