import type { FieldPath } from '../../mapping/index.ts'
import { analyze } from '../analysis.ts'
import { NONE, type Node } from '../ast.ts'
import { equals } from '../conditions.ts'
import { type Place, scalar, string, unexpected } from '../place.ts'
import { onField, onMetaField, type Scope } from '../scope.ts'
import { and, atLeast, isIn } from '../simplify.ts'
import { minimumOf } from './bool.ts'
import { type Clause, onlyField, shortOrLong } from './clause.ts'

export const match: Clause = {
  doc: 'A text field contains one of the words of the query, or all of them with the operator "and", in any letter case. Any other field is compared as by term.',
  example: { event: 'Transfer' },
  lower(place, scope) {
    const [name, at] = onlyField('match', place)
    const { value, operator, minimum_should_match } = shortOrLong(at, 'query', ['operator', 'minimum_should_match'])
    const how = { operator, minimum_should_match }
    return onMetaField(name, [value], scope) ?? onField(name, at, scope, field => matches(field, value, how, scope))
  },
}

const matches = (
  field: FieldPath,
  value: Place,
  how: { operator: Place | undefined; minimum_should_match: Place | undefined },
  scope: Scope,
): Node => {
  const all = how.operator !== undefined && isAnd(how.operator)
  if (field.compare !== 'token') return equals(field, value, scope.now)
  const text = scalar(value, 'a text')
  if (text.length > LONGEST_TEXT) throw unexpected(value, `a text of at most ${LONGEST_TEXT} characters`)
  const words = analyze(text).map(word => isIn(field, [word]))
  if (words.length === 0) return NONE
  if (all) return and(words)
  // Of a single word no minimum is asked.
  if (words.length === 1 || how.minimum_should_match === undefined) return atLeast(1, words)
  return atLeast(Math.max(1, minimumOf(how.minimum_should_match, words.length)), words)
}

const LONGEST_TEXT = 10_000

const isAnd = (place: Place): boolean => {
  const operator = string(place, '"and" or "or"').toLowerCase()
  if (operator !== 'and' && operator !== 'or') throw unexpected(place, '"and" or "or"')
  return operator === 'and'
}
