import type { FieldPath } from '../../mapping/index.ts'
import type { Bounds } from '../../query/ast.ts'
import { GREATEST_LONG, LEAST_LONG } from '../../query/simplify.ts'
import { between, type Dsl, every, has, some, termIn } from './dsl.ts'

/**
 * Integers of any size (uint256). The cluster indexes their hex digits, and a long if the value
 * fits. Digits of equal length sort like their numbers.
 */
interface IntegerShapes {
  /** Documents with a value. */
  exists: Dsl
  /** Values within the range of a long. */
  long(from: bigint, to: bigint): Dsl
  /** Values greater than any long. */
  above(from: bigint, to: bigint): Dsl
  /** Values less than any long. */
  below(from: bigint, to: bigint): Dsl
}

const END = 2n ** 256n

export const existsInteger = (field: FieldPath): Dsl => shapesOf(field).exists

export const integerIn = (field: FieldPath, values: readonly bigint[]): Dsl => {
  if (field.encoding === 'dec' && field.kind !== 'decimal') {
    const base = field.field
    return termIn(
      `${base}.raw`,
      values.map(value => (value < 0n ? '-' : hexText(value))),
    )
  }
  const shapes = shapesOf(field)
  return some(values.map(value => within(shapes, value, value)))
}

export const integerWithin = (field: FieldPath, { gte = -END, lte = END }: Bounds): Dsl => {
  const [from, to] = [gte as bigint, lte as bigint]
  if (field.kind === 'wide' || field.kind === 'amount') {
    if (to < 0n) return some([])
    const lower = from > 0n ? { gte: padded(from) } : {}
    const upper = to < END ? { lte: padded(to) } : {}
    if (from >= END) return some([])
    return Object.keys({ ...lower, ...upper }).length === 0
      ? has(`${field.field}.padded`)
      : between(`${field.field}.padded`, { ...lower, ...upper })
  }
  return within(shapesOf(field), from, to)
}

const within = (shapes: IntegerShapes, from: bigint, to: bigint): Dsl => {
  if (from <= -END && to >= END) return shapes.exists
  const parts: Dsl[] = []
  if (from < LEAST_LONG) parts.push(shapes.below(from, minBigint(to, LEAST_LONG - 1n)))
  if (to >= LEAST_LONG && from <= GREATEST_LONG)
    parts.push(shapes.long(maxBigint(from, LEAST_LONG), minBigint(to, GREATEST_LONG)))
  if (to > GREATEST_LONG) parts.push(shapes.above(maxBigint(from, GREATEST_LONG + 1n), to))
  return some(parts)
}

const shapesOf = (field: FieldPath): IntegerShapes =>
  field.kind === 'decimal' ? ofArgument(field) : ofQuantity(field.field)

const ofQuantity = (base: string): IntegerShapes => ({
  exists: has(`${base}.raw`),
  long: (from, to) => longs(`${base}.num`, from, to),
  above: (from, to) => digitsWithin(`${base}.raw`, from, minBigint(to, END - 1n)),
  below: () => some([]),
})

/** Arguments have values in hex; negative ones in two's complement of the type's width. */
const ofArgument = ({ path }: FieldPath): IntegerShapes => {
  const base = path.slice(0, -'.dec'.length)
  const [hex, num, type] = [`${base}.hex`, `${base}.num`, `${base}.type`]
  const wide = WIDTHS.filter(bits => bits > 64)
  const negative = wide.map(bits =>
    every([termIn(type, [`int${bits}`]), matching(hex, `0x[89a-f][0-9a-f]{${bits / 4 - 1}}`)]),
  )
  return {
    exists: termIn(type, ['bool', ...WIDTHS.flatMap(bits => [`int${bits}`, `uint${bits}`])]),
    long: (from, to) => longs(num, from, to),
    above: (from, to) => ({
      bool: {
        filter: [
          termIn(type, ['uint64', ...wide.flatMap(bits => [`int${bits}`, `uint${bits}`])]),
          digitsWithin(hex, from, minBigint(to, END - 1n)),
        ],
        must_not: negative,
      },
    }),
    below: (from, to) =>
      some(
        wide
          .filter(bits => to >= -(2n ** BigInt(bits - 1)))
          .map(bits => {
            const size = 2n ** BigInt(bits)
            const least = size + maxBigint(from, -(size >> 1n))
            return every([termIn(type, [`int${bits}`]), digitsWithin(hex, least, size + to)])
          }),
      ),
  }
}

const WIDTHS = Array.from({ length: 32 }, (_, i) => 8 * (i + 1))

const longs = (field: string, from: bigint, to: bigint): Dsl =>
  between(field, {
    ...((from > LEAST_LONG || to === GREATEST_LONG) && { gte: String(from) }),
    ...(to < GREATEST_LONG && { lte: String(to) }),
  })

/** Positive integers, which stand in hex without leading zeros: longer ones are greater. */
const digitsWithin = (field: string, from: bigint, to: bigint): Dsl => {
  const [low, high] = [hexText(from), hexText(to)]
  // Texts of other lengths sort between two texts of one length.
  const ofLength = (length: number, bounds: object): Dsl =>
    every([between(field, bounds), matching(field, `0x[0-9a-f]{${length - 2}}`)])
  if (low.length === high.length) return ofLength(low.length, { gte: low, lte: high })
  const parts = [ofLength(low.length, { gte: low }), ofLength(high.length, { lte: high })]
  const [least, most] = [low.length - 1, high.length - 3]
  if (least <= most) parts.push(matching(field, `0x[0-9a-f]{${least},${most}}`))
  return some(parts)
}

const matching = (field: string, value: string): Dsl => ({ regexp: { [field]: { value, flags: 'NONE' } } })

const hexText = (value: bigint): string => `0x${value.toString(16)}`
export const padded = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`
const minBigint = (a: bigint, b: bigint) => (a < b ? a : b)
const maxBigint = (a: bigint, b: bigint) => (a > b ? a : b)
