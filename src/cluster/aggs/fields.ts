import { KINDS } from '../../mapping/index.ts'
import type { FieldValues, ValueType } from '../../query/aggs/ast.ts'
import type { QueryValue } from '../../query/ast.ts'
import { notInCluster } from '../deviations.ts'
import { META_FIELDS } from '../indices/names.ts'
import { isMixed, SHOWN_FIELD } from '../indices/template.ts'

/** Source of an aggregation's values. With `format`, dates are exchanged in milliseconds. */
export const valueSource = (
  values: FieldValues,
): { field: string; missing?: string | number | boolean; value_type?: string } => {
  const field = fieldOf(values)
  if (values.missing === undefined) return { field }
  // Indices without the field need its type.
  return { field, missing: plain(values.missing), value_type: VALUE_TYPES[values.type] }
}

const VALUE_TYPES: Record<ValueType, string> = {
  keyword: 'string',
  long: 'long',
  double: 'double',
  boolean: 'boolean',
  date: 'date',
}

export const inMilliseconds = ({ type }: FieldValues): { format?: string } =>
  type === 'date' ? { format: 'epoch_millis' } : {}

/** A name that no index has. */
const UNKNOWN_FIELD = 'chainsieve.nothing'

export const fieldOf = ({ fields, meta }: FieldValues): string => {
  // The kind stands for `_index`, which all its documents share.
  if (meta !== undefined) return meta === '_id' ? META_FIELDS.position : META_FIELDS.kind
  const all = Object.values(fields)
  const [first] = all
  if (!first) return UNKNOWN_FIELD
  const other = all.find(({ path }) => path !== first.path)
  if (other)
    throw notInCluster(
      `a field that is [${first.path}] in one entity and [${other.path}] in another`,
      'search one of them',
    )
  if (first.compare === 'integer')
    throw notInCluster(
      `an aggregation of [${first.path}]`,
      first.list ? 'use [args.value.num], or [args.value.hex]' : `use [${first.field}.raw], which has the same values`,
    )
  if (first.kind === 'flattened')
    throw notInCluster(
      `an aggregation of [${first.path}]`,
      'read it from the documents; its members have no index there',
    )
  return isMixed(first.declaration, first) ? `${first.path}.${SHOWN_FIELD}` : first.path
}

/** Converts to a JSON value. */
export const plain = (value: QueryValue): string | number | boolean =>
  typeof value === 'bigint' ? String(value) : value

/** Converts a value of the cluster's answer. */
export const valueFrom = (found: unknown, { type, meta }: Pick<FieldValues, 'type' | 'meta'>): QueryValue => {
  if (meta !== undefined && meta !== '_id') return meta[KINDS[Number(found)]!]!
  switch (type) {
    case 'keyword':
      return String(found)
    case 'boolean':
      return found === 1 || found === true || found === 'true'
    case 'long':
      return BigInt(found as number | bigint | string)
    default:
      return Number(found)
  }
}
