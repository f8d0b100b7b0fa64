import type { Exact } from '../query/ast.ts'

/** An exact sum: `digits` / 10^`scale`, of so many values. */
export interface Sum {
  digits: bigint
  scale: number
  values: number
}

/** Adds `times` × a number. */
export const addExact = (sum: Sum, { digits, scale }: Exact, times: bigint): void => {
  if (scale > sum.scale) {
    sum.digits *= 10n ** BigInt(scale - sum.scale)
    sum.scale = scale
  }
  sum.digits += times * (scale < sum.scale ? digits * 10n ** BigInt(sum.scale - scale) : digits)
}
