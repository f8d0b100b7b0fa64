import { refuse } from '../../lib/errors.ts'
import { type FieldPath, lookup } from '../../mapping/index.ts'
import { equals } from '../conditions.ts'
import { boolean, type JsonNode, string, where } from '../json-node.ts'
import { patternOn } from '../leaves.ts'
import type { Scope } from '../scope.ts'
import { constant, type Scored } from '../score.ts'

/** Option `case_insensitive` of a clause: that the field has the value in whatever letter case; undefined where it is not wanted. */
export const inAnyCase = (
  option: JsonNode | undefined,
  field: FieldPath,
  value: JsonNode,
  scope: Scope,
): Scored | undefined => {
  if (option === undefined || option.value === null || !boolean(option)) return undefined
  if (field.compare === 'hex') return constant(equals(field, value, scope))
  if (field.compare !== 'token' && field.compare !== 'exact')
    throw refuse(
      'illegal_argument_exception',
      `${where(option)}: [${field.path}] does not support case insensitive queries.`,
    )
  const text = scope.budget.text(string(value, 'a text'), value)
  const lowerCase = { path: value.path, value: text.toLowerCase() }
  if (field.compare === 'token') return constant(equals(field, lowerCase, scope))
  // An address is a single word, so its analysed form is the same text in lower case.
  if (field.kind === 'address') return constant(equals(lookup(scope.kind, field.field)!, lowerCase, scope))
  const escaped = text.replace(/[\\*?]/g, '\\$&')
  return patternOn('case insensitive', field, value, { how: 'wildcard', text: escaped, ignoreCase: true })
}
