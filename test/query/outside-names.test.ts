import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { CLAUSES } from '../../src/query/dsl/index.ts'
import { parseSearch } from '../../src/query/parse.ts'

/** What every plain object answers to, though nobody has put it there. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype)
const NAME = '"*"'

/** A name of the same letter cases that is known nowhere (j is no letter of date formats either). */
const shapeOf = (text: string) => text.replace(/[a-z]/g, 'j').replace(/[A-Z]/g, 'J')

const outcome = (body: string, kinds: readonly Kind[], name: string): string => {
  try {
    const request = parseSearch(body.replaceAll('*', name), kinds, 0)
    return shapeOf(JSON.stringify(request, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)))
  } catch (error) {
    assert.ok(error instanceof ChainsieveError && error.next === 'refuse', `${body} with ${name}: ${error}`)
    return error.code
  }
}

/** Every way to put a name into this JSON: in place of each key and of each scalar, and as a key more in each object. */
const places = function* (value: unknown, whole: (part: string) => string): Generator<string> {
  yield whole(NAME)
  if (Array.isArray(value)) {
    for (const [i, one] of value.entries())
      yield* places(one, part => whole(`[${value.map((other, at) => (at === i ? part : JSON.stringify(other)))}]`))
    return
  }
  if (typeof value !== 'object' || value === null) return
  const members = Object.entries(value).map(([key, inner]) => [JSON.stringify(key), JSON.stringify(inner)] as const)
  const written = (list: readonly (readonly [string, string])[]) => `{${list.map(pair => pair.join(':'))}}`
  for (const more of ['1', NAME, '{}', '[]', '{"value":1}']) yield whole(written([...members, [NAME, more]]))
  for (const [i, inner] of Object.values(value).entries()) {
    yield whole(written(members.map((pair, at) => (at === i ? [NAME, pair[1]] : pair))))
    yield* places(inner, part => whole(written(members.map((pair, at) => (at === i ? [pair[0], part] : pair)))))
  }
}

const BODIES: readonly [body: unknown, ...kinds: Kind[]][] = [
  ...Object.entries(CLAUSES).map(([name, { example, on = 'event' }]): [unknown, Kind] => [
    { query: { [name]: example } },
    on,
  ]),
  [{ query: { range: { timestamp: { gte: '2020', lt: 'now/d', format: 'yyyy', time_zone: 'Europe/Berlin' } } } }, 'tx'],
  [{ query: { term: { 'event.raw': { value: 'a', case_insensitive: true } } } }, 'event'],
  [{ query: { match: { event: { query: 'a b', operator: 'or', minimum_should_match: '2<75%' } } } }, 'event'],
  [{ query: { ids: { values: ['0x00'], type: ['tx'] } } }, 'tx', 'log'],
  [{ sort: ['gas.num', { timestamp: { order: 'asc', missing: '_last', mode: 'min', unmapped_type: 'long' } }] }, 'tx'],
  [{ _source: { includes: ['event'], excludes: ['args'] }, track_total_hits: true, size: 1, from: 0 }, ...KINDS],
]

test('names that every plain object has mean no more in a query than any strange one', () => {
  let tried = 0
  for (const [body, ...kinds] of BODIES)
    for (const text of new Set(places(body, part => part))) {
      for (const name of INHERITED) {
        assert.equal(outcome(text, kinds, name), outcome(text, kinds, shapeOf(name)), `${text} with ${name}`)
        tried++
      }
    }
  assert.ok(tried > 3000, String(tried))
})

test('a date format of such a name, alone or among others, is refused', () => {
  for (const name of INHERITED)
    for (const format of [name, `yyyy||${name}`, `strict_${name}`])
      assert.equal(
        outcome(JSON.stringify({ query: { range: { timestamp: { gte: '2020', format } } } }), ['tx'], name),
        'illegal_argument_exception',
        format,
      )
})
