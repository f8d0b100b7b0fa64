import type { FieldPath } from '../mapping/index.ts'
import type { Node } from './ast.ts'
import { ignoresCase } from './conditions.ts'
import { constant, type Scored } from './score.ts'
import { exists, pattern, range } from './simplify.ts'

/** A keyword begins with this text, or a word of a text field does. */
export const prefixOn = (field: FieldPath, given: string): Scored =>
  constant(
    // The order of digits is none of numbers.
    field.compare === 'integer' && given !== ''
      ? pattern(field, Object.freeze({ how: 'prefix', text: given, ignoreCase: false }))
      : beginsWith(field, ignoresCase(field) ? given.toLowerCase() : given),
  )

/** What begins with a text lies between it and the text whose last character is the next one. */
const beginsWith = (field: FieldPath, text: string): Node => {
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
