import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { type JsonValue, Numeral, parseExactJson } from '../../src/query/json.ts'

const plain = (value: JsonValue): unknown => {
  if (value instanceof Numeral) return Number(value.text)
  if (value instanceof Map) return Object.fromEntries(Array.from(value, ([name, inner]) => [name, plain(inner)]))
  return Array.isArray(value) ? value.map(plain) : value
}

const refusal = (text: string): string => {
  try {
    parseExactJson(text)
  } catch (error) {
    assert.ok(error instanceof ChainsieveError)
    return `${error.code}: ${error.message}`
  }
  return 'accepted'
}

test('it reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(0, 2, '\t'), (text, indent) => {
      const expected: unknown = JSON.parse(text)
      assert.deepEqual(plain(parseExactJson(JSON.stringify(expected, null, indent))), expected)
    }),
  )
})

test('it refuses what JSON.parse refuses, and no more', () => {
  const characters = fc.constantFrom(...'{}[]",:0123456789.eE+-truefalsn \\u\n\u0001')
  fc.assert(
    fc.property(fc.array(characters, { maxLength: 12 }), list => {
      const text = list.join('')
      let expected = true
      try {
        JSON.parse(text)
      } catch {
        expected = false
      }
      const said = refusal(text)
      assert.equal(said === 'accepted' || said.includes('occurs twice'), expected, `${text}: ${said}`)
    }),
    { numRuns: 3000 },
  )
})

test('numbers keep every digit', () => {
  const cases: Record<string, unknown> = {
    '5': 5,
    '-5': -5,
    '5.0': new Numeral('5.0'),
    '5.00000000000000000001': new Numeral('5.00000000000000000001'),
    '1e3': new Numeral('1e3'),
    '1e-400': new Numeral('1e-400'),
    '9007199254740991': 9007199254740991,
    '9007199254740992': new Numeral('9007199254740992'),
    '115792089237316195423570985008687907853269984665640564039457584007913129639935': new Numeral(
      '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    ),
    '0.1': new Numeral('0.1'),
    '-1.50': new Numeral('-1.50'),
    '1e400': new Numeral('1e400'),
  }
  for (const [text, expected] of Object.entries(cases)) {
    assert.deepEqual(parseExactJson(text), expected, text)
    assert.deepEqual(parseExactJson(`{"a":[${text}]}`), new Map([['a', [expected]]]), text)
  }
})

test('names that objects have by themselves are names like others', () => {
  assert.deepEqual(
    parseExactJson('{"__proto__":1,"constructor":2}'),
    new Map([
      ['__proto__', 1],
      ['constructor', 2],
    ]),
  )
})

test('a fault is told with its place, what was due and what stands there', () => {
  const example = 'Send one JSON object, such as {"query":{"match_all":{}}}.'
  const cases: Record<string, string> = {
    '{"a":1,}': `json_parse_exception: line 1, column 8: the body is not JSON: expected a name in double quotes, found "}". ${example}`,
    '{\n  "a" 1\n}': `json_parse_exception: line 2, column 7: the body is not JSON: expected a colon, found "1". ${example}`,
    "{'a':1}": `json_parse_exception: line 1, column 2: the body is not JSON: expected a name in double quotes, found "'". ${example}`,
    '[1 2]': `json_parse_exception: line 1, column 4: the body is not JSON: expected a comma or ], found "2". ${example}`,
    '{"a":1 "b":2}': `json_parse_exception: line 1, column 8: the body is not JSON: expected a comma or }, found "\\"". ${example}`,
    '{"a":01}': `json_parse_exception: line 1, column 7: the body is not JSON: expected a comma or }, found "1". ${example}`,
    '{"a":NaN}': `json_parse_exception: line 1, column 6: the body is not JSON: expected a value, found "N". ${example}`,
    '"a\nb"': `json_parse_exception: line 1, column 3: the body is not JSON: expected a string without control characters, found "\\n". ${example}`,
    '"\\x"': `json_parse_exception: line 1, column 2: the body is not JSON: expected an escape sequence of JSON, found "\\\\". ${example}`,
    '{} 😀': `json_parse_exception: line 1, column 4: the body is not JSON: expected the end of the body, found "😀". ${example}`,
    '{"a":':
      'json_e_o_f_exception: line 1, column 6: the body is cut off: expected a value, found the end. Send one whole JSON object.',
    '{"a':
      'json_e_o_f_exception: line 1, column 4: the body is cut off: expected the rest of a string, found the end. Send one whole JSON object.',
    '{"a":1,"a":2}': 'json_parse_exception: line 1, column 8: the name "a" occurs twice in one object.',
  }
  assert.deepEqual(Object.fromEntries(Object.keys(cases).map(text => [text, refusal(text)])), cases)
})

test('nesting is limited, however deep it goes', () => {
  assert.equal(refusal('['.repeat(DEFAULT_LIMITS.nesting) + ']'.repeat(DEFAULT_LIMITS.nesting)), 'accepted')
  for (const depth of [DEFAULT_LIMITS.nesting + 1, 1000, 5_000_000]) {
    assert.match(
      refusal('['.repeat(depth)),
      /^parsing_exception: The query up to line 1, column 101 has more than 100 levels of nested objects and lists/,
    )
    assert.match(
      refusal('{"a":'.repeat(depth)),
      /^parsing_exception: The query up to line 1, column \d+ has more than 100 levels of nested objects/,
    )
  }
})
