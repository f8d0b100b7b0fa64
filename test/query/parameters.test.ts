import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChainsieveError } from '../../src/lib/errors.ts'
import type { JsonValue } from '../../src/query/json.ts'
import { parseExactJson } from '../../src/query/json.ts'
import { isJsonMap } from '../../src/query/json-node.ts'
import { withParameters } from '../../src/query/parameters.ts'

const plain = (value: JsonValue): unknown => {
  if (isJsonMap(value)) return Object.fromEntries(Array.from(value, ([name, inner]) => [name, plain(inner)]))
  return Array.isArray(value) ? value.map(plain) : value
}

const merged = (query: string, body = '{}') =>
  plain(withParameters(parseExactJson(body), [...new URLSearchParams(query)]))

const refused = (query: string, message: RegExp, body = '{}') =>
  assert.throws(
    () => merged(query, body),
    (error: unknown) => error instanceof ChainsieveError && error.next === 'refuse' && message.test(error.message),
    query,
  )

test('what the URL says wins over the body', () => {
  assert.deepEqual(merged('size=3&from=2', '{"size": 5, "query": {}}'), { size: '3', from: '2', query: {} })
  assert.deepEqual(merged('track_total_hits=100', '{"track_total_hits": true}'), { track_total_hits: 100 })
  assert.deepEqual(merged('track_total_hits=false'), { track_total_hits: 'false' })
  assert.deepEqual(merged('version&explain=false&track_scores=true'), {
    version: 'true',
    explain: 'false',
    track_scores: 'true',
  })
  assert.deepEqual(merged('docvalue_fields=a,b&stored_fields=_none_&stats=x&timeout=1s&terminate_after=5'), {
    ...{ docvalue_fields: ['a', 'b'], stored_fields: ['_none_'] },
    ...{ stats: ['x'], timeout: '1s', terminate_after: '5' },
  })
  assert.deepEqual(merged('pretty&preference=x&constructor=1&__proto__=2', '{"size": 1}'), { size: 1 })
})

test('sort keys of the URL come behind those of the body', () => {
  assert.deepEqual(merged('sort=a:desc,b,c:asc'), { sort: [{ a: 'desc' }, 'b', { c: 'asc' }] })
  assert.deepEqual(merged('sort=a', '{"sort": "x"}'), { sort: ['x', 'a'] })
  assert.deepEqual(merged('sort=a', '{"sort": [{"x": "desc"}]}'), { sort: [{ x: 'desc' }, 'a'] })
  refused('sort=a:down', /\[down\], and needs asc or desc/)
})

test('_source of the URL takes the place of that of the body', () => {
  assert.deepEqual(merged('_source=false', '{"_source": ["x"]}'), { _source: false })
  assert.deepEqual(merged('_source=true', '{"_source": false}'), { _source: true })
  assert.deepEqual(merged('_source=a,b.*'), { _source: { includes: ['a', 'b.*'], excludes: [] } })
  assert.deepEqual(merged('_source_includes=a&_source_excludes=b,c'), {
    _source: { includes: ['a'], excludes: ['b', 'c'] },
  })
  assert.deepEqual(merged('_source_include=a'), { _source: { includes: ['a'], excludes: [] } })
  assert.deepEqual(merged('_source=a&_source_excludes=b'), { _source: { includes: ['a'], excludes: ['b'] } })
  assert.deepEqual(merged('_source=false&_source_includes=a'), { _source: false })
  assert.deepEqual(merged('_source=', '{"_source": "x"}'), { _source: true })
  assert.deepEqual(merged('_source_includes=', '{"_source": "x"}'), { _source: 'x' })
})

test('q is a query_string in place of the query', () => {
  assert.deepEqual(merged('q=event:transfer', '{"query": {"match_all": {}}}'), {
    query: { query_string: { query: 'event:transfer' } },
  })
  assert.deepEqual(merged('q=a&df=event&default_operator=AND&analyze_wildcard=true&lenient=true'), {
    query: {
      query_string: {
        ...{ query: 'a', default_field: 'event', default_operator: 'AND' },
        ...{ analyze_wildcard: 'true', lenient: 'true' },
      },
    },
  })
  refused('df=event', /\[df\] has no meaning without \[q\]/)
})

test('a total that is a number is an exact one', () => {
  assert.deepEqual(merged('rest_total_hits_as_int=true&track_total_hits=true'), { track_total_hits: 'true' })
  refused('rest_total_hits_as_int=true&track_total_hits=10', /not accurate, got 10/)
  refused('rest_total_hits_as_int=true', /not accurate, got 5/, '{"track_total_hits": 5}')
})
