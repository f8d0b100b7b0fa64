import { refuse } from '../../lib/errors.ts'
import type { FieldPath } from '../../mapping/index.ts'
import { analyze } from '../analysis.ts'
import { NONE, type Node } from '../ast.ts'
import { equals } from '../conditions.ts'
import { type Fuzziness, readFuzziness } from '../fuzzy.ts'
import { boolean, integer, type JsonNode, scalar, string, unexpected, where } from '../json-node.ts'
import { onField, onMetaField, type Scope } from '../scope.ts'
import { and, atLeast, fuzzy, isIn } from '../simplify.ts'
import { minimumOf } from './bool.ts'
import { type Clause, onlyField, shortOrLong } from './clause.ts'

export const match: Clause = {
  doc: 'A text field contains one of the words of the query, or all of them with the operator "and", in any letter case. Any other field is compared as by term. With fuzziness (0, 1, 2, "AUTO" or "AUTO:low,high") names that differ in so many letters are found as well.',
  example: { event: { query: 'Tranfser', fuzziness: 'AUTO' } },
  lower(place, scope) {
    const [name, at] = onlyField('match', place)
    const { value, ...how } = shortOrLong(at, 'query', OPTIONS)
    const options = readOptions(how)
    if (how.fuzziness && (name === '_id' || name === '_type')) throw notFuzzy(how.fuzziness, name, EXACT)
    return onMetaField(name, [value], scope) ?? onField(name, at, scope, field => matches(field, value, options, scope))
  },
}

const OPTIONS = ['operator', 'minimum_should_match', 'fuzziness', 'prefix_length', 'fuzzy_transpositions'] as const

interface Options {
  all: boolean
  minimum: JsonNode | undefined
  near: { at: JsonNode; fuzziness: Fuzziness; prefix: number; transpositions: boolean } | undefined
}

const readOptions = (how: Partial<Record<(typeof OPTIONS)[number], JsonNode>>): Options => {
  const { operator, minimum_should_match: minimum, fuzziness, prefix_length, fuzzy_transpositions } = how
  // As in Elasticsearch, these have to be right even where nothing is fuzzy.
  const prefix = prefix_length === undefined ? 0 : readLength(prefix_length)
  const transpositions = fuzzy_transpositions === undefined || boolean(fuzzy_transpositions)
  return {
    all: operator !== undefined && isAnd(operator),
    minimum,
    near: fuzziness && { at: fuzziness, fuzziness: readFuzziness(fuzziness), prefix, transpositions },
  }
}

const matches = (field: FieldPath, value: JsonNode, { all, minimum, near }: Options, scope: Scope): Node => {
  if (near) checkFuzzy(field, near.at)
  if (field.compare !== 'token')
    return near ? isNear(field, scope.budget.text(scalar(value, 'a text'), value), near) : equals(field, value, scope)
  const words = analyze(scope.budget.text(scalar(value, 'a text'), value))
  scope.budget.clauses(words.length, value)
  if (near && words.length > MAX_FUZZY) throw unexpected(value, `at most ${MAX_FUZZY} words where fuzziness is given`)
  const nodes = words.map(word => (near ? isNear(field, word, near) : isIn(field, [word])))
  if (nodes.length === 0) return NONE
  if (all) return and(nodes)
  // Of a single word no minimum is asked.
  if (nodes.length === 1 || minimum === undefined) return atLeast(1, nodes)
  return atLeast(Math.max(1, minimumOf(minimum, nodes.length)), nodes)
}

/** Each is held against all names. */
const MAX_FUZZY = 100

const isNear = (field: FieldPath, text: string, near: NonNullable<Options['near']>): Node =>
  fuzzy(field, { text, edits: near.fuzziness(text), prefix: near.prefix, transpositions: near.transpositions })

/** Near values are found among names, of which there are few. */
const checkFuzzy = (field: FieldPath, at: JsonNode): void => {
  if (field.kind === 'text' || field.kind === 'keyword') return
  throw notFuzzy(
    at,
    field.path,
    field.kind === 'address' ? ADDRESS : field.compare === 'hex' ? EXACT : `is of type [${field.es}]`,
  )
}

const ADDRESS = 'holds addresses, of which one that differs in a digit is another account'
const EXACT = 'is looked up whole'

const notFuzzy = (at: JsonNode, name: string, why: string) =>
  refuse(
    'query_shard_exception',
    `${where(at)}: fuzziness works on names, such as event and method, and [${name}] ${why}.`,
  )

const readLength = (place: JsonNode): number => {
  const length = integer(place, EXPECTED_LENGTH)
  if (length < 0) throw unexpected(place, EXPECTED_LENGTH)
  return length
}

const EXPECTED_LENGTH = 'how many characters at the beginning are the same, 0 or more'

const isAnd = (place: JsonNode): boolean => {
  const operator = string(place, '"and" or "or"').toLowerCase()
  if (operator !== 'and' && operator !== 'or') throw unexpected(place, '"and" or "or"')
  return operator === 'and'
}
