import { coinAmount } from '../../../documents/show.ts'
import { lowerBound } from '../../../lib/arrays.ts'
import type { Bounds, QueryValue } from '../../../query/ast.ts'
import { GREATEST_LONG } from '../../../query/simplify.ts'
import { analyzeText } from '../../../query/text/analysis.ts'
import { UNLISTED, UNLISTED_CALL } from '../../index/terms.ts'
import type { StoreReader } from '../../reader.ts'
import {
  addressIds,
  commonStart,
  type FieldCondition,
  INEXACT,
  interpreterOf,
  isInexactNumber,
  LONGS_END,
  testOf,
} from '../fields/field-values.ts'
/** Whether a column value fulfils a condition; in doubt the document is read. */
export type ColumnVerdict = typeof NO | typeof YES | typeof DOUBT
export const NO = 1
export const YES = 2
export const DOUBT = 3

/** A condition on the numbers of a column. */
export interface ColumnCondition {
  /** Values outside these bounds, and missing ones, never match. */
  low: number
  high: number
  /** Undefined where all values within the bounds match. */
  judge?: (value: number) => ColumnVerdict
  /** Only the bounds themselves need `judge`, if they are 2^53 or more: all values between them match. */
  edges?: true
}

/** Translates a field condition to numbers of its column; `never` where nothing can match. */
export const conditionOf = (leaf: FieldCondition, reader: StoreReader): ColumnCondition | 'never' => {
  const { kind, encoding, compare } = leaf.field
  if (compare === 'integer') return ofIntegers(leaf)
  switch (kind) {
    case 'address':
      return ofAddresses(leaf, reader)
    case 'boolean':
      return leaf.op === 'in' ? oneOfNumbers(leaf.values.map(Number)) : judged(leaf, reader)
    case 'text':
    case 'keyword':
      return leaf.op === 'in' && compare !== 'token'
        ? oneOfNumbers(leaf.values.flatMap(value => reader.nameId(String(value)) ?? []))
        : judged(leaf, reader)
    case 'quantity':
    case 'amount':
    case 'long':
      if (encoding === 'num' || kind === 'long') return ofLongs(leaf)
      if (encoding === 'coin') return ofCoins(leaf)
      if (encoding === 'padded' && leaf.op === 'range') return ofPadded(leaf) ?? judged(leaf, reader)
      if (leaf.op === 'exists') return { low: 0, high: Number.POSITIVE_INFINITY }
      if (leaf.op === 'in')
        return oneInteger(leaf.values.flatMap(value => hexInteger(String(value), encoding === 'padded')))
      return judged(leaf, reader)
    default:
      return judged(leaf, reader)
  }
}

/** Compares each distinct value once, in the form that queries use. */
const judged = (leaf: FieldCondition, reader: StoreReader): ColumnCondition => {
  const { field } = leaf
  const test = testOf(leaf)
  const interpret = interpreterOf(field, reader)
  const known = new Map<number, ColumnVerdict>()
  const isWords = field.kind === 'text' && field.encoding === ''
  const verdictOf = (value: number): ColumnVerdict => {
    if (isInexactNumber(field, value)) return field.encoding === 'num' && value > LONGS_END ? NO : DOUBT
    if (field.kind === 'hex' && isShared(value, reader)) return DOUBT
    if (isWords) return analyzeText(reader.name(value)).some(test) ? YES : NO
    const seen = interpret(value)
    return seen !== undefined && test(seen) ? YES : NO
  }
  return {
    low: 0,
    high: Number.POSITIVE_INFINITY,
    judge(value) {
      let verdict = known.get(value)
      if (verdict === undefined) {
        reader.check()
        verdict = verdictOf(value)
        if (known.size >= MAX_VERDICTS) known.clear()
        known.set(value, verdict)
      }
      return verdict
    },
  }
}

const MAX_VERDICTS = 50_000

/** Whether a signature is the shared one for those beyond the dictionary's limit. */
export const isShared = (signature: number, reader: StoreReader): boolean => {
  const { key } = reader.signature(signature)
  return key === UNLISTED || key === UNLISTED_CALL
}

const oneOfNumbers = (values: readonly number[]): ColumnCondition | 'never' => {
  const set = new Set(values)
  if (set.size === 0) return 'never'
  const [low, high] = rangeOfValues(values)
  if (set.size === high - low + 1) return { low, high }
  return { low, high, judge: value => (set.has(value) ? YES : NO) }
}

/** Numbers have no digit patterns, only bounds. */
const boundsIn = (leaf: Extract<FieldCondition, { op: 'range' | 'pattern' }>): Bounds =>
  leaf.op === 'range' ? leaf.bounds : {}

const rangeOfValues = (values: readonly number[]): [low: number, high: number] =>
  values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ] as [number, number])

const oneInteger = (integers: readonly bigint[]): ColumnCondition | 'never' => {
  const values = integers.map(Number)
  const condition = oneOfNumbers(values)
  if (condition === 'never' || condition.high < INEXACT) return condition
  const set = new Set(values)
  return { ...condition, judge: value => (!set.has(value) ? NO : value < INEXACT ? YES : DOUBT) }
}

/** Integers in a closed range. */
const integersBetween = (low: bigint, high: bigint): ColumnCondition | 'never' => {
  if (low > high) return 'never'
  const [from, to] = [Number(low), Number(high)]
  if (to < INEXACT) return { low: from, high: to }
  return { low: from, high: to, judge: value => verdictInside(value, from, to, low, high), edges: true }
}

/** Only a double equal to a bound may stand for integers on both sides of that bound. */
const verdictInside = (value: number, from: number, to: number, low: bigint, high: bigint): ColumnVerdict => {
  if (value < INEXACT || (value !== from && value !== to)) return YES
  const [least, greatest] = integersOfDouble(value)
  return low <= least && greatest <= high ? YES : DOUBT
}

/** The least and the greatest integer that a double beyond 2^53 may stand for. */
const integersOfDouble = (value: number): [least: bigint, greatest: bigint] => {
  const own = BigInt(value)
  return [(own + BigInt(neighbour(value, -1n))) / 2n, (own + BigInt(neighbour(value, 1n))) / 2n]
}

const NEIGHBOUR_BITS = new BigInt64Array(1)
const DOUBLE_VALUE = new Float64Array(NEIGHBOUR_BITS.buffer)
/** The next double above or below a positive one. */
const neighbour = (value: number, step: bigint): number => {
  DOUBLE_VALUE[0] = value
  NEIGHBOUR_BITS[0]! += step
  return DOUBLE_VALUE[0]!
}

const ofLongs = (leaf: FieldCondition): ColumnCondition | 'never' => {
  if (leaf.op === 'in')
    return oneInteger(leaf.values.map(toBigint).filter(value => value >= 0n && value <= GREATEST_LONG))
  if (leaf.op === 'exists') return integersBetween(0n, GREATEST_LONG)
  const { gt, gte, lt, lte } = boundsIn(leaf)
  let low = 0n
  let high = GREATEST_LONG
  if (gte !== undefined) low = maxBigint(low, toBigint(gte))
  if (gt !== undefined) low = maxBigint(low, toBigint(gt) + 1n)
  if (lte !== undefined) high = minBigint(high, toBigint(lte))
  if (lt !== undefined) high = minBigint(high, toBigint(lt) - 1n)
  return integersBetween(low, high)
}

/** Integers of any size. */
const ofIntegers = (leaf: FieldCondition): ColumnCondition | 'never' => {
  if (leaf.op === 'in') return oneInteger(leaf.values.map(toBigint).filter(value => value >= 0n))
  if (leaf.op === 'exists') return { low: 0, high: Number.POSITIVE_INFINITY }
  if (leaf.op === 'pattern') return ofDigits(leaf)
  const { gte, lte } = leaf.bounds
  const high = lte === undefined ? LARGEST_INTEGER : minBigint(toBigint(lte), LARGEST_INTEGER)
  return integersBetween(gte === undefined ? 0n : maxBigint(toBigint(gte), 0n), high)
}

/** A pattern of decimal digits. */
const ofDigits = (leaf: FieldCondition): ColumnCondition => {
  const test = testOf(leaf)
  const judge = (value: number): ColumnVerdict => (value >= INEXACT ? DOUBT : test(BigInt(value)) ? YES : NO)
  return { low: 0, high: Number.POSITIVE_INFINITY, judge }
}

const LARGEST_INTEGER = 2n ** 256n - 1n

/** 64-digit bounds sort like the integers. */
const ofPadded = ({ bounds }: Extract<FieldCondition, { op: 'range' }>): ColumnCondition | 'never' | undefined => {
  const { gt, gte, lt, lte } = bounds
  if ([gt, gte, lt, lte].some(bound => bound !== undefined && !/^0x[0-9a-f]{64}$/.test(String(bound)))) return undefined
  const low = gte !== undefined ? BigInt(String(gte)) : gt !== undefined ? BigInt(String(gt)) + 1n : 0n
  const high = lte !== undefined ? BigInt(String(lte)) : lt !== undefined ? BigInt(String(lt)) - 1n : LARGEST_INTEGER
  return integersBetween(low, high)
}

/** The integer of a hex text; none where this encoding never writes the text. */
const hexInteger = (text: string, padded: boolean): bigint[] => {
  if (!/^0x[0-9a-f]+$/.test(text)) return []
  const written = padded ? text.length === 66 : text === '0x0' || text[2] !== '0'
  return written && text.length <= 66 ? [BigInt(text)] : []
}

/** `coin` rises with the integer, so bounds on doubles become exact bounds in wei. */
const ofCoins = (leaf: FieldCondition): ColumnCondition | 'never' => {
  if (leaf.op === 'exists') return { low: 0, high: Number.POSITIVE_INFINITY }
  if (leaf.op === 'in') return leaf.values.length > FEW_COINS ? manyCoins(leaf.values) : fewCoins(leaf.values)
  const { gt, gte, lt, lte } = boundsIn(leaf)
  let low = 0n
  let high = LARGEST_INTEGER
  if (gte !== undefined) low = maxBigint(low, leastOfCoin(Number(gte), false))
  if (gt !== undefined) low = maxBigint(low, leastOfCoin(Number(gt), true))
  if (lte !== undefined) high = minBigint(high, leastOfCoin(Number(lte), true) - 1n)
  if (lt !== undefined) high = minBigint(high, leastOfCoin(Number(lt), false) - 1n)
  return integersBetween(low, high)
}

/** Number of values from which mapping column values to coins takes less time than the inverse. */
const FEW_COINS = 100

const fewCoins = (values: readonly QueryValue[]): ColumnCondition | 'never' => {
  const runs = values.flatMap(value => {
    const [low, high] = [leastOfCoin(Number(value), false), leastOfCoin(Number(value), true) - 1n]
    return low > high ? [] : [{ low, high, from: Number(low), to: Number(high) }]
  })
  if (runs.length === 0) return 'never'
  const judge = (value: number): ColumnVerdict => {
    const near = runs.filter(({ from, to }) => value >= from && value <= to)
    const verdicts = near.map(({ from, to, low, high }) => verdictInside(value, from, to, low, high))
    return verdicts.includes(YES) ? YES : verdicts.length > 0 ? DOUBT : NO
  }
  return { low: Math.min(...runs.map(({ from }) => from)), high: Math.max(...runs.map(({ to }) => to)), judge }
}

const manyCoins = (values: readonly QueryValue[]): ColumnCondition => {
  const coins = new Set(values)
  const sorted = Float64Array.from(values as number[]).sort()
  const judge = (value: number): ColumnVerdict => {
    if (value < INEXACT) return coins.has(coinAmount(value)) ? YES : NO
    const next = sorted[lowerBound(sorted, coinAmount(neighbour(value, -1n)))]
    return next !== undefined && next <= coinAmount(neighbour(value, 1n)) ? DOUBT : NO
  }
  return { low: 0, high: Number.POSITIVE_INFINITY, judge }
}

/** Least integer whose coin amount is ≥ `value`, or > `value` with `beyond`. */
const leastOfCoin = (value: number, beyond: boolean): bigint => {
  const holds = (integer: bigint) => (beyond ? coinAmount(integer) > value : coinAmount(integer) >= value)
  if (holds(0n)) return 0n
  // The product's last digits are inexact: bisect 8 units in the last place around it.
  const near = value * 1e18
  let low = near < 1e77 ? BigInt(Math.floor(near * (1 - 2 ** -50))) : 0n
  let high = near < 1e77 ? BigInt(Math.ceil(near * (1 + 2 ** -50))) + 1n : LARGEST_INTEGER + 1n
  if (holds(low)) low = 0n
  if (!holds(high)) high = LARGEST_INTEGER + 1n
  while (low < high) {
    const middle = (low + high) / 2n
    if (holds(middle)) high = middle
    else low = middle + 1n
  }
  return low
}

const ofAddresses = (leaf: FieldCondition, reader: StoreReader): ColumnCondition | 'never' => {
  if (leaf.op === 'exists') return { low: 0, high: Number.POSITIVE_INFINITY }
  if (leaf.op === 'in') return oneOfNumbers(addressIds(leaf, reader))
  const ids = addressesWithStart(leaf, reader)
  if (!ids) return judged(leaf, reader)
  const test = testOf(leaf)
  const interpret = interpreterOf(leaf.field, reader)
  return oneOfNumbers(ids.filter(id => test(interpret(id)!)))
}

/** The dictionary finds addresses by a common prefix; undefined if that is too short to match few. */
export const addressesWithStart = (
  leaf: Extract<FieldCondition, { op: 'range' | 'pattern' }>,
  reader: StoreReader,
): number[] | undefined => {
  const [, start = ''] = /^0x([0-9a-f]{0,40})/.exec(commonStart(leaf).toLowerCase()) ?? []
  if (start.length < TELLING_DIGITS) return undefined
  const [first, last] = ['0', 'f'].map(digit => Buffer.from(start.padEnd(40, digit), 'hex'))
  return reader.prepare('SELECT id FROM address WHERE bytes BETWEEN ? AND ?').pluck().all(first, last) as number[]
}

/** A prefix of three digits is a range whose ends share two. */
const TELLING_DIGITS = 2

const toBigint = (value: QueryValue): bigint => (typeof value === 'bigint' ? value : BigInt(Math.floor(Number(value))))
const maxBigint = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const minBigint = (a: bigint, b: bigint): bigint => (a < b ? a : b)
