import { refuse } from '../lib/errors.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../limits/index.ts'

/** Lossless JSON: numbers that no double represents stay text, and duplicate keys are refused. */
export type JsonValue = null | boolean | number | Numeral | string | readonly JsonValue[] | JsonMap
export type JsonMap = ReadonlyMap<string, JsonValue>

/** A JSON number that is not written as an integer, or an integer that no double represents. */
export class Numeral {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/**
 * Refuses invalid JSON by line and column, and JSON beyond the limits, since parsing recurses.
 * Thirty nested `bool`, Elasticsearch's own limit, take at most 91 levels.
 */
export const parseExactJson = (
  text: string,
  limits: Pick<Limits, 'nesting' | 'jsonValues'> = DEFAULT_LIMITS,
): JsonValue => {
  let at = 0
  let values = 0

  const value = (depth: number): JsonValue => {
    skipSpace()
    if (++values > limits.jsonValues) throw tooMuch('jsonValues')
    const char = text[at]
    if (char === '{') return object(depth + 1)
    if (char === '[') return list(depth + 1)
    if (char === '"') return string()
    for (const [word, meaning] of JSON_WORDS) {
      if (text.startsWith(word, at)) {
        at += word.length
        return meaning
      }
    }
    JSON_NUMBER.lastIndex = at
    const number = JSON_NUMBER.exec(text)?.[0]
    if (number === undefined) throw fault('a value')
    at += number.length
    const integer = JSON_INTEGER.test(number) ? Number(number) : Number.NaN
    return Number.isSafeInteger(integer) ? integer : new Numeral(number)
  }

  const object = (depth: number): JsonMap => {
    checkDepth(depth)
    const members = new Map<string, JsonValue>()
    at++
    skipSpace()
    if (text[at] === '}') {
      at++
      return members
    }
    for (;;) {
      skipSpace()
      if (text[at] !== '"') throw fault('a name in double quotes')
      const start = at
      const name = string()
      if (members.has(name)) {
        at = start
        throw refuse(
          'json_parse_exception',
          `${place()}: the name ${shortenText(JSON.stringify(name))} occurs twice in one object.`,
        )
      }
      skipSpace()
      if (text[at] !== ':') throw fault('a colon')
      at++
      members.set(name, value(depth))
      skipSpace()
      const end = text[at]
      if (end !== ',' && end !== '}') throw fault('a comma or }')
      at++
      if (end === '}') return members
    }
  }

  const list = (depth: number): JsonValue[] => {
    checkDepth(depth)
    const elements: JsonValue[] = []
    at++
    skipSpace()
    if (text[at] === ']') {
      at++
      return elements
    }
    for (;;) {
      elements.push(value(depth))
      skipSpace()
      const end = text[at]
      if (end !== ',' && end !== ']') throw fault('a comma or ]')
      at++
      if (end === ']') return elements
    }
  }

  const string = (): string => {
    const start = at
    let escaped = false
    for (at++; ; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE_CODE) break
      if (Number.isNaN(code)) throw fault('the rest of a string')
      if (code < SPACE_CODE) throw fault('a string without control characters')
      if (code !== JSON_BACKSLASH) continue
      escaped = true
      JSON_ESCAPE.lastIndex = at
      const sequence = JSON_ESCAPE.exec(text)?.[0]
      if (sequence === undefined) throw fault('an escape sequence of JSON')
      at += sequence.length - 1
    }
    at++
    return escaped ? (JSON.parse(text.slice(start, at)) as string) : text.slice(start + 1, at - 1)
  }

  const skipSpace = () => {
    for (;;) {
      const code = text.charCodeAt(at)
      if (code !== SPACE_CODE && code !== 10 && code !== 13 && code !== 9) return
      at++
    }
  }

  const checkDepth = (depth: number) => {
    if (depth > limits.nesting) throw tooMuch('nesting')
  }

  const tooMuch = (name: 'nesting' | 'jsonValues') =>
    overLimit(name, { ...DEFAULT_LIMITS, ...limits }, `The query up to ${place()}`)

  const place = () => {
    const before = text.slice(0, at)
    const line = before.split('\n').length
    return `line ${line}, column ${at - before.lastIndexOf('\n')}`
  }

  const fault = (expected: string) => {
    if (at >= text.length) {
      return refuse(
        'json_e_o_f_exception',
        `${place()}: the body is cut off: expected ${expected}, found the end. Send one whole JSON object.`,
      )
    }
    const found = JSON.stringify(String.fromCodePoint(text.codePointAt(at)!))
    return refuse(
      'json_parse_exception',
      `${place()}: the body is not JSON: expected ${expected}, found ${found}. Send one JSON object, such as {"query":{"match_all":{}}}.`,
    )
  }

  const whole = value(0)
  skipSpace()
  if (at < text.length) throw fault('the end of the body')
  return whole
}

const JSON_WORDS: [string, JsonValue][] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
const JSON_NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const JSON_INTEGER = /^-?\d+$/
const JSON_ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const QUOTE_CODE = 34
const JSON_BACKSLASH = 92
const SPACE_CODE = 32

export const textOfJson = (value: JsonValue): string => {
  if (value instanceof Numeral) return value.text
  if (value instanceof Map)
    return `{${Array.from(value as ReadonlyMap<string, JsonValue>, ([name, inner]) => `${JSON.stringify(name)}:${textOfJson(inner)}`).join()}}`
  if (Array.isArray(value)) return `[${value.map(textOfJson).join()}]`
  return JSON.stringify(value)
}

const LONGEST_SHOWN = 100
export const shortenText = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1)}…` : text
