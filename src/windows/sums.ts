import type { Exact } from '../query/ast.ts'

/** An exact sum: `digits` / 10^`scale`, of so many values. */
export interface ExactSum {
  digits: bigint
  scale: number
  values: number
}

/** Exact, whatever the scales. */
export const addExact = (sum: ExactSum, number: Exact): void => {
  sum.digits += digitsAt(sum, number)
}

export const subtractExact = (sum: ExactSum, number: Exact): void => {
  sum.digits -= digitsAt(sum, number)
}

/** The digits of a number at the scale of the sum, which is raised to that of the number. */
const digitsAt = (sum: ExactSum, { digits, scale }: Exact): bigint => {
  if (scale === sum.scale) return digits
  if (scale < sum.scale) return digits * 10n ** BigInt(sum.scale - scale)
  sum.digits *= 10n ** BigInt(scale - sum.scale)
  sum.scale = scale
  return digits
}
