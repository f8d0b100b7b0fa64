import { refuse } from '../../lib/errors.ts'
import type { FieldPath } from '../../mapping/index.ts'
import type { Node } from '../ast.ts'
import { ignoresCase } from '../conditions.ts'
import { type JsonNode, scalar, where } from '../json-node.ts'
import { onField } from '../scope.ts'
import { exists, range } from '../simplify.ts'
import { type Clause, onlyField, shortOrLong } from './clause.ts'
import { foldCase } from './letter-case.ts'

export const prefix: Clause = {
  doc: 'A keyword begins with this text, or a word of a text field does.',
  example: { 'event.raw': 'Trans' },
  lower(place, scope) {
    const [name, at] = onlyField('prefix', place)
    const { value, case_insensitive } = shortOrLong(at, 'value', ['case_insensitive'])
    if (name === '_id' || name === '_type') {
      throw refuse('illegal_argument_exception', `${where(at)}: [${name}] does not support prefix queries.`)
    }
    return onField(name, at, scope, field => {
      const folded = foldCase(case_insensitive, field, value, scope)
      scope.budget.text(scalar(folded.value, 'a text'), folded.value)
      return beginsWith(folded.field, folded.value)
    })
  },
}

/** What begins with a text lies between it and the text whose last character is the next one. */
const beginsWith = (field: FieldPath, place: JsonNode): Node => {
  if ((field.es !== 'keyword' && field.es !== 'text') || field.compare === 'integer') {
    const what = field.compare === 'integer' ? 'holds integers' : `is of type [${field.es}]`
    throw refuse(
      'query_shard_exception',
      `${where(place)}: prefix works on keyword and text fields, and [${field.path}] ${what}.`,
    )
  }
  const given = scalar(place, 'a text')
  const text = ignoresCase(field) ? given.toLowerCase() : given
  if (text === '') return exists(field)
  const characters = Array.from(text)
  while (characters.at(-1) === LAST_CHARACTER) characters.pop()
  const last = characters.pop()
  if (last === undefined) return range(field, { gte: text })
  return range(field, { gte: text, lt: characters.join('') + after(last) })
}

const LAST_CHARACTER = '\u{10ffff}'

/** The next character; surrogates are none. */
const after = (character: string) => {
  const code = character.codePointAt(0)! + 1
  return String.fromCodePoint(code === 0xd800 ? 0xe000 : code)
}
