import { refuse } from '../lib/errors.ts'
import { type JsonNode, string, where } from './json-node.ts'
import { parseNested } from './nested-sort.ts'
import type { Sort } from './request.ts'
import type { SortScope } from './sort.ts'

type Given = Partial<Record<'mode' | 'nested' | 'nested_path' | 'nested_filter' | 'format' | 'numeric_type', JsonNode>>

/** Every document has one id, so that what is said of missing values, of several values, and of lists changes nothing. */
export const idSort = (order: Sort['order'], given: Given, scope: SortScope): Sort => {
  const { mode, format, numeric_type } = given
  if (mode && !['min', 'max'].includes(string(mode, '"min" or "max"').toLowerCase()))
    throw refuse(
      'query_shard_exception',
      `${where(mode)}: we only support AVG, MEDIAN and SUM on number based fields, and [_id] is not one. Its modes are min and max.`,
    )
  if (numeric_type)
    throw refuse(
      'query_shard_exception',
      `${where(numeric_type)}: [numeric_type] option cannot be set on a non-numeric field, got _id. Leave it out.`,
    )
  if (format)
    throw refuse(
      'illegal_argument_exception',
      `${where(format)}: Field [_id] of type [_id] does not support custom formats: leave the format out.`,
    )
  parseNested(given, scope)
  return { by: '_id', fields: {}, order, missing: '_last' }
}
