import type { FieldPath, Kind } from '../../../mapping/index.ts'
import { findFieldId, HASHED, termOf } from '../../index/terms.ts'
import type { Reader } from '../../reader.ts'
import { addressIds, type Leaf } from '../fields/condition.ts'
import { NOTHING, type Plan } from './plan.ts'

export const byPostings = (
  kind: Kind,
  field: FieldPath,
  leaf: Extract<Leaf, { op: 'in' }>,
  reader: Reader,
): Plan | undefined => {
  const id = findFieldId(kind, field.field)
  const values = id === undefined ? undefined : postedValues(field, leaf, reader)
  if (id === undefined || !values) return undefined
  return values.length === 0
    ? NOTHING
    : { by: 'terms', terms: values.map(({ value, fingerprint }) => ({ term: termOf(value, id), fingerprint })) }
}

/** Values as terms have them; undefined where these do not tell. See `term` of forms. */
const postedValues = (
  field: FieldPath,
  leaf: Extract<Leaf, { op: 'in' }>,
  reader: Reader,
): { value: number; fingerprint: number }[] | undefined => {
  const { values } = leaf
  const plain = (ids: readonly number[]) => [...new Set(ids)].map(value => ({ value, fingerprint: 0 }))
  switch (field.kind) {
    case 'address':
      return plain(addressIds(leaf, reader))
    case 'keyword':
      return plain(values.flatMap(value => reader.nameId(String(value)) ?? []))
    case 'hex':
      return values.map(value => {
        const { high, low } = reader.hash(String(value))
        return { value: HASHED + high, fingerprint: low }
      })
    case 'boolean':
      return values.length === 1 && values[0] === false ? plain([0]) : undefined
    default:
      return undefined
  }
}
