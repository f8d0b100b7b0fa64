import { refuse } from '../../lib/errors.ts'
import { ALL, NONE } from '../ast.ts'
import { boolean, elements, type JsonNode, known, scalar, show, where } from '../json-node.ts'
import { and, atLeast, not } from '../simplify.ts'
import type { Clause } from './clause.ts'

export const bool: Clause = {
  doc: 'Joins clauses, each given as one object or as a list: all of filter and must hold, none of must_not, and of should one where there is no filter or must beside it, or as many as minimum_should_match says. Without a clause it matches everything.',
  example: { filter: [{ term: { event: 'transfer' } }], must_not: { term: { 'blockNumber.num': 1 } } },
  lower(place, scope, inner) {
    const keys = known(place, 'an object', KEYS)
    const nodes = (at: JsonNode | undefined, within = scope) =>
      at === undefined ? [] : elements(at).map(clause => inner(clause, within))
    const required = [...nodes(keys.must), ...nodes(keys.filter)]
    // What must not be found is neither shown nor marked.
    const forbidden = nodes(keys.must_not, { ...scope, innerHits: undefined, marks: undefined })
    const optional = nodes(keys.should)
    const spec = keys.minimum_should_match
    const clauses = required.length + forbidden.length + optional.length
    const needed = spec === undefined ? 0 : minimumOf(spec, optional.length)
    const purelyNegative = forbidden.length === clauses

    if (clauses === 0) return ALL
    if (purelyNegative && keys.adjust_pure_negative && !boolean(keys.adjust_pure_negative)) return NONE
    // With nothing else that must hold, Elasticsearch wants one of should even where the minimum is 0.
    const least = purelyNegative ? 0 : required.length === 0 ? Math.max(needed, 1) : needed
    return and([...required, ...forbidden.map(not), atLeast(least, optional)])
  },
}

const KEYS = ['filter', 'must', 'must_not', 'should', 'minimum_should_match', 'adjust_pure_negative'] as const

/**
 * How many of `count` clauses must hold: `2`, `-1` (all but one), `"75%"`, `"-25%"`, or conditions such as `"2<75%"`, which
 * applies where there are more than two clauses. Several conditions are divided by spaces. Percentages are rounded down.
 */
export const minimumOf = (place: JsonNode, count: number): number => {
  const text = scalar(place, 'a number, or a text such as "75%" or "2<75%"')
  if (text.length > LONGEST) throw malformed(place)
  if (!text.includes('<')) return simple(place, text.trim(), count)
  let minimum = count
  for (const condition of text
    .trim()
    .replace(/\s*<\s*/g, '<')
    .split(/\s+/)) {
    const [bound = '', spec = '', ...more] = condition.split('<')
    if (!/^-?\d{1,9}$/.test(bound) || more.length > 0) throw malformed(place)
    if (count <= Number(bound)) break
    minimum = simple(place, spec, count)
  }
  return minimum
}

const simple = (place: JsonNode, spec: string, count: number): number => {
  const [, digits, percent] = /^([+-]?\d{1,9})(%?)$/.exec(spec) ?? []
  if (digits === undefined) throw malformed(place)
  const number = Number(digits)
  // In single precision, as Elasticsearch calculates.
  const share = percent ? Math.trunc(Math.fround(count * number * Math.fround(0.01))) : number
  return Math.max(0, number < 0 ? count + share : share)
}

/** Characters: spaces among them are looked at again and again. */
const LONGEST = 1000

const malformed = (place: JsonNode) =>
  refuse(
    'number_format_exception',
    `${where(place)}: expected a number, or a text such as "-1", "75%" or "2<75%", received ${show(place.value)}.`,
  )
