import type { Value } from '../../ast.ts'
import type { SpecOf, ValueType } from '../ast.ts'
import type { Member } from '../result.ts'

/** What `typed_keys` puts before the name. */
export const TERMS_TYPES: Readonly<Record<ValueType, string>> = {
  keyword: 'sterms',
  long: 'lterms',
  boolean: 'lterms',
  date: 'lterms',
  double: 'dterms',
}

export const rareTermsType = (type: ValueType): string => (type === 'keyword' ? 'srareterms' : 'lrareterms')

/** A key as Elasticsearch shows one of its type. */
export const termKey = (
  value: Value,
  { values: { type }, format }: Pick<SpecOf<'terms'>, 'values' | 'format'>,
): Member[] => {
  switch (type) {
    case 'keyword':
      return [['key', String(value)]]
    case 'boolean':
      return [
        ['key', value ? 1n : 0n],
        ['key_as_string', value ? 'true' : 'false'],
      ]
    case 'double':
      return [['key', Number(value)], ...(format ? [['key_as_string', format(Number(value))] as Member] : [])]
    default:
      return [['key', BigInt(value)], ...(format ? [['key_as_string', format(Number(value))] as Member] : [])]
  }
}
