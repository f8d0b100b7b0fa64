import type { FieldPath } from '../mapping/index.ts'
import type { Compare, Exact, Node } from '../query/ast.ts'
import { ceil, floor, showExact } from '../query/exact.ts'
import { exists, range } from '../query/simplify.ts'

/** What an order to an exact number means for the integers and doubles of an index. */
export type Order = Exclude<Compare['how'], 'equal'>

export type IntegerBounds = { least: bigint } | { most: bigint }

/** The integers that are in such order to a number. */
export const integersFrom = (how: Order, number: Exact): IntegerBounds => {
  switch (how) {
    case 'greater':
      return { least: floor(number) + 1n }
    case 'greaterOrEqual':
      return { least: ceil(number) }
    case 'less':
      return { most: ceil(number) - 1n }
    case 'lessOrEqual':
      return { most: floor(number) }
  }
}

/** The doubles that round numbers in such order to one: the bound itself may stand for one that is within. */
export const doublesFrom = (field: FieldPath, how: Order, number: Exact): Node => {
  const bound = doubleOf(number)
  if (!Number.isFinite(bound)) return exists(field)
  return range(field, how === 'greater' || how === 'greaterOrEqual' ? { gte: bound } : { lte: bound })
}

export const doubleOf = (number: Exact): number => Number(showExact(number))
