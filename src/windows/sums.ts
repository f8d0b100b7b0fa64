import type { Exact } from '../query/ast.ts'

/** An exact sum: `digits` / 10^`scale`, of so many values. */
export interface ExactSum {
  digits: bigint
  scale: number
  values: number
}

/** Exact: the scale of the sum is raised to that of the number. */
export const addExact = (sum: Pick<ExactSum, 'digits' | 'scale'>, { digits, scale }: Exact): void => {
  if (scale > sum.scale) {
    sum.digits = rescale(sum.digits, scale - sum.scale)
    sum.scale = scale
  }
  sum.digits += rescale(digits, sum.scale - scale)
}

/** Digits at a scale that is greater by `by`. */
export const rescale = (digits: bigint, by: number): bigint => (by === 0 ? digits : digits * 10n ** BigInt(by))
