import { refuse } from '../../lib/errors.ts'
import { isObject, type JsonNode, known, scalar, unexpected, where } from '../json-node.ts'
import { testedMetaField } from '../meta.ts'
import { matcherOf } from '../pattern.ts'
import { onField } from '../scope.ts'
import { constant } from '../score.ts'
import { readFlag, shapeOn } from '../text-query.ts'
import { type Clause, onlyField } from './clause.ts'
import { checkRewrite } from './rewrite.ts'

export const wildcard: Clause = {
  doc: 'A keyword, or a word of a text field, matches this pattern: * stands for any characters, ? for one, and a backslash escapes them. With case_insensitive in any letter case.',
  example: { 'event.raw': { value: 'Trans*' } },
  fieldwise: true,
  lower(place, scope) {
    const [name, at] = onlyField('wildcard', place)
    const { value, case_insensitive, rewrite } = readKeys(at)
    checkRewrite(rewrite)
    const ignoreCase = readFlag(case_insensitive, false)
    const text = scope.budget.text(scalar(value, 'a text'), value)
    const meta = testedMetaField('wildcard', name, at, scope, matcherOf({ how: 'wildcard', text, ignoreCase }))
    if (meta) return constant(meta)
    return onField(name, at, scope, field => shapeOn('wildcard', field, value, text, { ignoreCase }))
  },
}

/** The text goes by either of two names. */
const readKeys = (place: JsonNode) => {
  if (!isObject(place.value)) return { value: place, case_insensitive: undefined, rewrite: undefined }
  const keys = known(place, 'an object such as {"value": "Trans*"}', [
    'value',
    'wildcard',
    'case_insensitive',
    'rewrite',
  ])
  const { value, wildcard, ...rest } = keys
  if (value && wildcard)
    throw refuse('parsing_exception', `${where(wildcard)}: [value] and [wildcard] mean the same. Keep one of them.`)
  const given = value ?? wildcard
  if (given === undefined) throw unexpected(place, 'a text, or an object with [value]')
  return { case_insensitive: rest.case_insensitive, rewrite: rest.rewrite, value: given }
}
