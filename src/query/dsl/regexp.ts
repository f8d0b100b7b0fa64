import { refuse } from '../../lib/errors.ts'
import { integer, type JsonNode, scalar, string, unexpected, where } from '../json-node.ts'
import { testedMetaField } from '../meta.ts'
import { matcherOf } from '../pattern.ts'
import { OPERATORS, type Operator } from '../regexp/parse.ts'
import { onField } from '../scope.ts'
import { constant } from '../score.ts'
import { readFlag, shapeOn } from '../text-query.ts'
import { type Clause, onlyField, shortOrLong } from './clause.ts'
import { checkRewrite } from './rewrite.ts'

export const regexp: Clause = {
  doc: 'A keyword, or a word of a text field, matches this regular expression as a whole, in the syntax of Lucene: . ? * + {2,5} | ( ) [a-z] "literal" and, depending on flags, & ~ <1-99> @ #.',
  example: { 'event.raw': { value: 'Trans.*|Sw[a-z]+' } },
  fieldwise: true,
  lower(place, scope) {
    const [name, at] = onlyField('regexp', place)
    const keys = shortOrLong(at, 'value', OPTIONS)
    checkRewrite(keys.rewrite)
    const text = scalar(keys.value, 'a text')
    const ignoreCase = readFlag(keys.case_insensitive, false)
    const operators = readFlags(keys)
    const states = keys.max_determinized_states
    const most = states && integer(states, 'how many states the automaton may have')
    checkLength(text, keys.value)
    const pattern = { how: 'regexp', text, ignoreCase, operators } as const
    const meta = testedMetaField('regexp', name, at, scope, value => matcherOf(pattern)(value))
    if (meta) return constant(meta)
    return onField(name, at, scope, field =>
      shapeOn('regexp', field, keys.value, text, {
        ignoreCase,
        operators,
        ...(most !== undefined && { states: most }),
      }),
    )
  },
}

const OPTIONS = ['flags', 'flags_value', 'case_insensitive', 'max_determinized_states', 'rewrite'] as const

/** As Elasticsearch's `index.max_regex_length`. */
const LONGEST = 1000

export const checkLength = (text: string, place: JsonNode): void => {
  if (text.length <= LONGEST) return
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: the regular expression has ${text.length} characters, and may have at most ${LONGEST}.`,
  )
}

/** `ALL`, `NONE`, or names with bars between them, of which `AUTOMATON` has no meaning here; or as the number that stands for them. */
const readFlags = ({ flags, flags_value }: { flags?: JsonNode; flags_value?: JsonNode }): readonly Operator[] => {
  if (flags_value !== undefined) {
    const bits = integer(flags_value, 'a number whose bits are flags')
    if (flags === undefined) return (bits & 0xffff) === 0xffff ? OPERATORS : OPERATORS.filter((_, i) => bits & BITS[i]!)
  }
  if (flags === undefined || flags.value === null) return OPERATORS
  const names = string(flags, EXPECTED).toUpperCase().split('|')
  if (names.some(name => !KNOWN.has(name.trim()))) throw unexpected(flags, EXPECTED)
  const given = new Set(names.map(name => name.trim()))
  return given.has('ALL') ? OPERATORS : OPERATORS.filter(operator => given.has(operator))
}

const BITS = [1, 2, 32, 8, 4]
const KNOWN: ReadonlySet<string> = new Set(['ALL', 'NONE', 'AUTOMATON', '', ...OPERATORS])
const EXPECTED = `"ALL", "NONE", or some of ${OPERATORS.join('|')}`
