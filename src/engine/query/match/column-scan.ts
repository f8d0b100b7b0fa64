import { lowerBound, upperBound } from '../../../lib/arrays.ts'
import { type ColumnData, type StoredValues, valueAt } from '../../index/column-codec.ts'
import { INEXACT } from '../fields/field-values.ts'
import { type ColumnCondition, type ColumnVerdict, DOUBT, NO, YES } from '../plan/column-conditions.ts'
import { count, countedBits, EMPTY_SET, listed, type OrdinalSet, run, toArray } from './ordinal-set.ts'

/** The result of a scan among candidates. */
export interface Scanned {
  found: OrdinalSet
  /** Candidates that the column cannot decide. */
  doubtful: OrdinalSet
}

/** Values that are compared between two looks at whether to go on. */
const STRETCH = 2 ** 14
/** Values between two checks where each may have to be looked up. */
const JUDGED = 2 ** 9

/** Candidates whose value fulfils a condition. */
export const scan = (data: ColumnData, condition: ColumnCondition, within: OrdinalSet, check: () => void): Scanned => {
  const { values, base, dictionary } = data
  const { low, high, edges } = condition
  if (!values) return ofOne(valueAt(data, 0), condition, within)
  const judge = edges && isPrecise(data) ? undefined : condition.judge
  // Bounds of what is stored: of a dictionary, places in it.
  const from = dictionary ? lowerBound(dictionary, low) : low - base
  const to = dictionary ? upperBound(dictionary, high) - 1 : high - base
  if (from > to) return NOTHING_SCANNED
  if (!judge && within.form !== 'list' && count(within) >= MANY)
    return { found: bitsBetween(values, [from, to], within, check), doubtful: EMPTY_SET }
  const inside = scanBetween(values, [from, to], within, check)
  if (!judge) return { found: setOf(inside), doubtful: EMPTY_SET }
  const verdictOf = judgeOnce(data, judge)
  const doubtful: number[] = []
  let size = 0
  for (let i = 0; i < inside.length; i++) {
    if ((i & (JUDGED - 1)) === 0) check()
    const ordinal = inside[i]!
    const value = values[ordinal]!
    const verdict = edges && value !== from && value !== to ? YES : verdictOf(value)
    if (verdict === YES) inside[size++] = ordinal
    else if (verdict === DOUBT) doubtful.push(ordinal)
  }
  return { found: setOf(inside.subarray(0, size)), doubtful: listed(Uint32Array.from(doubtful)) }
}

/** Whether each value is a single integer, so that bounds need no second look. */
const isPrecise = ({ width, base, dictionary }: ColumnData): boolean =>
  dictionary ? dictionary.at(-1)! < INEXACT : width <= 4 && base + 2 ** (8 * width) < INEXACT

/** Candidates whose stored value lies between two others, in a list of its own. */
const scanBetween = (
  values: StoredValues,
  [from, to]: readonly [number, number],
  within: OrdinalSet,
  check: () => void,
): Uint32Array => {
  const candidates = within.form === 'run' ? undefined : toArray(within)
  const [start, end] = within.form === 'run' ? [within.from, within.to] : [0, candidates!.length]
  const found = new Uint32Array(end - start)
  let size = 0
  for (let at = start; at < end; at += STRETCH) {
    check()
    const stop = Math.min(at + STRETCH, end)
    if (candidates)
      for (let i = at; i < stop; i++) {
        const value = values[candidates[i]!]!
        if (value >= from && value <= to) found[size++] = candidates[i]!
      }
    else
      for (let ordinal = at; ordinal < stop; ordinal++) {
        const value = values[ordinal]!
        if (value >= from && value <= to) found[size++] = ordinal
      }
  }
  return found.subarray(0, size)
}

/** Number of candidates from which on bits take less time than a list. */
const MANY = 1024

/** As `scanBetween` with bits as result, for candidates of any form but a list. */
const bitsBetween = (
  values: StoredValues,
  [from, to]: readonly [number, number],
  within: Exclude<OrdinalSet, { form: 'list' }>,
  check: () => void,
): OrdinalSet => {
  const [first, last] = within.form === 'run' ? [within.from, within.to] : [0, values.length]
  const bits = new Uint32Array((values.length + 31) >>> 5)
  const isWhole = !(values instanceof Float64Array)
  const most = 2 ** (8 * values.BYTES_PER_ELEMENT) - 1
  const [least, greatest] = [Math.max(0, Math.ceil(from)), Math.min(most, Math.floor(to))]
  if (isWhole && least > greatest) return EMPTY_SET
  // Small bounds leave the sign of one of two differences, of any words.
  const isSmall = isWhole && greatest < 2 ** 31
  const low = least | 0
  const above = ~(greatest - least)
  for (let at = first; at < last; at += STRETCH) {
    check()
    const stop = Math.min(at + STRETCH, last)
    for (let ordinal = at; ordinal < stop; ) {
      const word = ordinal >>> 5
      const end = Math.min(stop, (word + 1) << 5)
      let found = 0
      if (isSmall)
        for (; ordinal < end; ordinal++) {
          const value = values[ordinal]! | 0
          found |= (~((value - least) | (greatest - value)) >>> 31) << (ordinal & 31)
        }
      else if (isWhole)
        for (; ordinal < end; ordinal++) {
          // The borrow of an unsigned difference: branches would be mispredicted.
          const over = ((values[ordinal]! | 0) - low) | 0
          const borrow = ((above & over) | ((above | over) & (~above - over))) >>> 31
          found |= (borrow ^ 1) << (ordinal & 31)
        }
      else
        for (; ordinal < end; ordinal++) {
          const value = values[ordinal]!
          if (value >= from && value <= to) found |= 1 << (ordinal & 31)
        }
      bits[word]! |= found
    }
  }
  if (within.form === 'bits') for (let word = 0; word < bits.length; word++) bits[word]! &= within.bits[word]!
  const found = countedBits(bits)
  return count(found) === count(within) ? within : found
}

/** The set of an ascending list; neighbours are a run. */
const setOf = (list: Uint32Array): OrdinalSet => {
  const last = list.length - 1
  return last >= 0 && list[last]! - list[0]! === last ? run(list[0]!, list[0]! + last + 1) : listed(list)
}

const NOTHING_SCANNED: Scanned = { found: EMPTY_SET, doubtful: EMPTY_SET }

/** All documents have the same value. */
const ofOne = (value: number, { low, high, judge, edges }: ColumnCondition, within: OrdinalSet): Scanned => {
  const isSure = !judge || (edges && value !== low && value !== high)
  const verdict = value < low || value > high ? NO : isSure ? YES : judge(value)
  return { found: verdict === YES ? within : EMPTY_SET, doubtful: verdict === DOUBT ? within : EMPTY_SET }
}

/** Judges each stored value once where there are few different ones. */
const judgeOnce = (
  { width, base, dictionary }: ColumnData,
  judge: (value: number) => ColumnVerdict,
): ((stored: number) => ColumnVerdict) => {
  if (!dictionary && width > 2) return stored => judge(base + stored)
  const verdicts = new Uint8Array(dictionary ? dictionary.length : 2 ** (8 * width))
  return stored => {
    verdicts[stored] ||= judge(dictionary ? dictionary[stored]! : base + stored)
    return verdicts[stored] as ColumnVerdict
  }
}
