import { refuse } from '../../lib/errors.ts'
import { type FieldPath, lookup } from '../../mapping/index.ts'
import { boolean, type JsonNode, string, where } from '../json-node.ts'
import type { Scope } from '../scope.ts'

/** Option `case_insensitive` of a clause: the field and value to compare instead, so that letter case makes no difference. */
export const foldCase = (
  option: JsonNode | undefined,
  field: FieldPath,
  value: JsonNode,
  scope: Scope,
): { field: FieldPath; value: JsonNode } => {
  if (option === undefined || !boolean(option) || field.compare === 'hex') return { field, value }
  if (field.compare === 'token' || (field.compare === 'exact' && field.kind === 'address')) {
    // An address is a single word, so its analysed form is the same text in lower case.
    const lowerCase = { path: value.path, value: string(value, 'a text').toLowerCase() }
    return { field: field.compare === 'token' ? field : lookup(scope.kind, field.field)!, value: lowerCase }
  }
  const remedy = field.encoding === 'raw' ? ` Ask for [${field.field}] instead, with the value in lower case.` : ''
  throw refuse(
    'illegal_argument_exception',
    `${where(option)}: [${field.path}] does not support case insensitive queries.${remedy}`,
  )
}
