import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FILLS } from '../../scripts/attack/fills.ts'
import { type Place, placesOf } from '../../scripts/attack/places.ts'
import type { ShownParameter } from '../../src/http/description.ts'
import { describeApi } from '../../src/http/description.ts'
import type { Schema } from '../../src/http/openapi/schema.ts'
import { AGGREGATIONS } from '../../src/query/aggs/kinds/index.ts'
import { PIPELINES } from '../../src/query/aggs/pipelines/index.ts'
import { BODY_KEY_NAMES } from '../../src/query/body-keys.ts'
import { CLAUSES } from '../../src/query/dsl/index.ts'

const api = describeApi({ rules: true, metrics: true, management: true })
const BODY = 1e6
const places = placesOf(api, { body: BODY }, { id: () => '1' })
const byOperation = Map.groupBy(places, ({ operation }) => operation)

test('every operation, parameter and body is attacked', () => {
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
      const operation = `${method.toUpperCase()} ${path}`
      const ats = new Set(byOperation.get(operation)?.map(({ at }) => at))
      for (const one of parameters) {
        const { in: where, name } = named(one)
        assert.ok(ats.has(`${where} ${name}`), `${operation}: ${where} ${name}`)
      }
      if (requestBody) assert.ok(ats.has('body 0'), `${operation}: its body`)
    }
})

test('so are every key, clause, aggregation and pipeline of a search', () => {
  const ats = new Set(byOperation.get(SEARCH)!.map(({ at }) => at))
  const wanted = [
    ...BODY_KEY_NAMES.filter(key => key !== 'aggregations'),
    ...Object.keys(CLAUSES).map(name => `query.${name}`),
    ...Object.keys({ ...AGGREGATIONS, ...PIPELINES }).map(name =>
      name.endsWith('_bucket') ? `aggs.a.${name}` : `aggs.h.aggs.a.${name}`,
    ),
  ]
  assert.deepEqual(
    wanted.filter(at => !ats.has(`body 0.${at}`)),
    [],
  )
})
const SEARCH = 'POST /{technology}/{blockchain}/{network}/es/{index}/_search'

test('what the description leaves open must be named, so that a new route cannot be left out', () => {
  const with_ = (path: string, schema: Schema) => {
    const operation = {
      ...api.paths['/alerting/rules/simulate']!.post!,
      requestBody: { content: { 'application/json': { schema } } },
    }
    return () => placesOf({ ...api, paths: { [path]: { post: operation } } }, { body: BODY }, { id: () => '1' })
  }
  assert.throws(with_('/new/{thing}', {}), /VALUES .*\[thing\]/)
  assert.throws(with_('/new', { type: 'object', properties: { odd: { type: 'object' } } }), /VALUES .*\[odd\]/)
  assert.doesNotThrow(
    with_('/new', { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } }),
  )
})

test('a fill grows with its parts, in every place', () => {
  const some = places.filter((_, i) => i % 997 === 0)
  const length = (place: Place, parts: number, fill: (typeof FILLS)[number]) => {
    const { path, body = '', headers } = place.put(fill.make(parts, place), fill.is)
    return path.length + body.length + Object.values(headers).join().length
  }
  for (const place of some)
    for (const fill of FILLS.filter(({ is }) => is === 'text' || place.takes === 'json')) {
      const [few, more] = [length(place, 3, fill), length(place, 30, fill)]
      assert.ok(more >= few + 27 * Math.min(1, fill.size(place)) * 0.9, `${place.operation} ${place.at} ${fill.name}`)
      if (fill.is === 'json' && place.takes === 'json') JSON.parse(fill.make(3, place))
    }
})

test('URL parameters are repeated', () => {
  const [pairs] = places.filter(({ at }) => at.startsWith('pairs '))
  const fill = FILLS.find(({ name }) => name.startsWith('what works'))!
  assert.match(pairs!.put(fill.make(3, pairs!), 'text').path, /\?(\w+=1)&\1&\1$/)
})

test('a body stays JSON, whatever stands in one of its places', () => {
  for (const place of places.filter(
    ({ at, operation }) => !at.includes(' pretty') && operation === SEARCH && /^(body|name)/.test(at),
  ))
    assert.deepEqual(typeof JSON.parse(place.put('a"b', 'text').body!), at0(place) ? 'string' : 'object')
})

const at0 = ({ at }: Place) => at === 'body 0'
const named = (one: ShownParameter) =>
  (one.$ref ? api.components.parameters[one.$ref.split('/').at(-1)!] : one) as { in: string; name: string }
