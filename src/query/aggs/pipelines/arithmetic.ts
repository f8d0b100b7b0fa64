import { refuse } from '../../../lib/errors.ts'
import { longOf } from '../../date-text.ts'
import { where } from '../../json-node.ts'
import type { Source } from './source.ts'

/** A double, or an integer of Java. */
export type Numeric = number | bigint

export const negative = (value: Numeric): Numeric => (typeof value === 'bigint' ? -value : -value)

interface Operation {
  doubles(a: number, b: number): number
  integers(a: bigint, b: bigint): bigint
}

export const ARITHMETIC: ReadonlyMap<string, Operation> = new Map([
  ['+', { doubles: (a, b) => a + b, integers: (a, b) => a + b }],
  ['-', { doubles: (a, b) => a - b, integers: (a, b) => a - b }],
  ['*', { doubles: (a, b) => a * b, integers: (a, b) => a * b }],
  ['/', { doubles: (a, b) => a / b, integers: (a, b) => a / b }],
  ['%', { doubles: (a, b) => a % b, integers: (a, b) => a % b }],
])

export const arithmetic = (operation: Operation, a: Numeric, b: Numeric, { at }: Source): Numeric => {
  if (typeof a !== 'bigint' || typeof b !== 'bigint') return operation.doubles(Number(a), Number(b))
  if (b === 0n && (operation === ARITHMETIC.get('/') || operation === ARITHMETIC.get('%'))) {
    throw refuse('arithmetic_exception', `${where(at)}: / by zero. Of doubles it gives no value: write 0.0.`)
  }
  const found = operation.integers(a, b)
  const bits = isInt(a) && isInt(b) ? 32 : 64
  if (found === BigInt.asIntN(bits, found)) return found
  throw refuse(
    'arithmetic_exception',
    `${where(at)}: ${found} is not an integer of ${bits} bits. Write one of the numbers with a fraction, such as 2.0.`,
  )
}

const isInt = (value: bigint): boolean => value === BigInt.asIntN(32, value)

export const COMPARISONS = new Map<string, (a: Numeric, b: Numeric) => boolean>([
  ['<', (a, b) => a < b],
  ['<=', (a, b) => a <= b],
  ['>', (a, b) => a > b],
  ['>=', (a, b) => a >= b],
])

const ofDoubles = (takes: number, of: (...numbers: number[]) => Numeric) => ({
  takes,
  of: (numbers: Numeric[]): Numeric => of(...numbers.map(Number)),
})

export const FUNCTIONS = new Map<string, { takes: number; of: (numbers: Numeric[]) => Numeric }>([
  ['abs', ofDoubles(1, Math.abs)],
  ['max', ofDoubles(2, Math.max)],
  ['min', ofDoubles(2, Math.min)],
  ['round', ofDoubles(1, value => longOf(Math.floor(value + 0.5)))],
  ['floor', ofDoubles(1, Math.floor)],
  ['ceil', ofDoubles(1, Math.ceil)],
  ['sqrt', ofDoubles(1, Math.sqrt)],
  ['log', ofDoubles(1, Math.log)],
  ['log10', ofDoubles(1, Math.log10)],
  ['exp', ofDoubles(1, Math.exp)],
  ['pow', ofDoubles(2, (a, b) => a ** b)],
])
