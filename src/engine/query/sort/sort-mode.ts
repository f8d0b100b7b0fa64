import type { Kind } from '../../../mapping/index.ts'
import { compareValues, type QueryValue } from '../../../query/ast.ts'
import { indexedValuesOf, nestedValues } from '../../../query/predicate.ts'
import type { SortMode, SortSpec } from '../../../query/request.ts'
import { GREATEST_LONG, LEAST_LONG } from '../../../query/simplify.ts'
import { type Documents, memberName } from '../documents.ts'

/**
 * Reads sort values that differ from the field's own: a mode over several values, elements of a
 * nested list, or a cast. Undefined where the field's own value is the key.
 */
export const chosenReader = (
  kind: Kind,
  { fields, order, mode, nested, as }: Pick<SortSpec, 'fields' | 'order' | 'mode' | 'nested' | 'as'>,
  documents: Documents,
): ((position: number) => QueryValue | undefined) | undefined => {
  const field = fields[kind]
  if (!field) return undefined
  const isPlain = !nested && !as && (mode === undefined || !isMany(field))
  if (isPlain) return undefined
  const read = nested
    ? nestedValues(field, { path: nested.path, node: nested.filter[kind]!, most: nested.most })
    : ({ _source }: Parameters<ReturnType<typeof nestedValues>>[0]) => indexedValuesOf(field, _source)
  const names = nested ? [nested.path] : [memberName(field)]
  const choose = MODE_VALUES[mode ?? (order === 'asc' ? 'min' : 'max')]
  return position => {
    const [document] = documents.load(kind, [position], names)
    const values = document ? read(document) : []
    if (values.length === 0) return undefined
    return cast(choose(values), as)
  }
}

const isMany = ({ kind, list }: NonNullable<SortSpec['fields'][Kind]>): boolean =>
  list !== undefined || kind === 'hexList' || kind === 'integers'

/** Each reduces one or more values. Integers are Java longs: sums overflow, means are rounded. */
const MODE_VALUES: Record<SortMode, (values: readonly QueryValue[]) => QueryValue> = {
  min: values => values.reduce((best, value) => (compareValues(value, best) < 0 ? value : best)),
  max: values => values.reduce((best, value) => (compareValues(value, best) > 0 ? value : best)),
  sum: values => sumValues(values),
  avg(values) {
    const total = sumValues(values)
    if (values.length === 1) return total
    const mean = Number(total) / values.length
    return typeof total === 'bigint' ? toLong(Math.round(mean)) : mean
  },
  median(values) {
    const sorted = values.toSorted(compareValues)
    const middle = sorted.length >> 1
    if (sorted.length % 2 === 1) return sorted[middle]!
    const mean = (Number(sorted[middle - 1]) + Number(sorted[middle])) / 2
    return typeof sorted[middle] === 'bigint' ? toLong(Math.round(mean)) : mean
  },
}

const sumValues = (values: readonly QueryValue[]): bigint | number => {
  if (typeof values[0] === 'bigint')
    return BigInt.asIntN(
      64,
      (values as bigint[]).reduce((a, b) => a + b, 0n),
    )
  return values.reduce<number>((total, value) => total + Number(value), 0)
}

/** Casts like Java from double to long. */
const toLong = (value: number): bigint => {
  if (value >= 2 ** 63) return GREATEST_LONG
  return value <= -(2 ** 63) ? LEAST_LONG : BigInt(Math.trunc(value))
}

const cast = (value: QueryValue, as: SortSpec['as']): QueryValue => {
  switch (as) {
    case 'double':
      return Number(value)
    case 'long':
      return typeof value === 'number' ? toLong(value) : value
    case 'date_nanos':
      return BigInt(value as number) * 1_000_000n
    default:
      return value
  }
}
