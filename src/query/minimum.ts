import { refuse } from '../lib/errors.ts'
import { type JsonNode, scalar, show, where } from './json-node.ts'

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
