import type { Value } from '../../ast.ts'
import type { CompositeSource } from '../ast.ts'
import type { Value as Shown } from '../result.ts'

/** A part of a key as it is shown; null where it is missing. */
export const compositePart = (value: Value | null, source: CompositeSource): Shown => {
  if (value === null) return null
  if (source.by === 'histogram') return Number(value)
  if (source.by === 'date_histogram') return source.format ? source.format(Number(value)) : BigInt(value)
  switch (source.values.type) {
    case 'keyword':
      return String(value)
    case 'double':
      return Number(value)
    case 'boolean':
      return Boolean(value)
    default:
      return BigInt(value)
  }
}
