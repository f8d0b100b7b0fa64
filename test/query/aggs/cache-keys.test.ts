import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aggregationCacheKeys } from '../../../src/query/aggs/parse.ts'
import { type JsonValue, parseExactJson } from '../../../src/query/json.ts'
import { parseSearch } from '../../../src/query/parse.ts'

const textsOf = (aggregations: object) =>
  aggregationCacheKeys(parseExactJson(JSON.stringify(aggregations)) as JsonValue)
const overTime = (name: string, bounds: object, more: object = {}) => ({
  [name]: { date_histogram: { field: 'timestamp', fixed_interval: '1h', ...bounds }, ...more },
})

test('aggregations that find the same in segments share a text, those that find something else do not', () => {
  const [first, second] = [0, 10].map(min => overTime('a', { extended_bounds: { min, max: 20 } }))
  assert.equal(textsOf(first!)?.found, textsOf(second!)?.found)
  assert.notEqual(textsOf(first!)?.whole, textsOf(second!)?.whole)
  const inside = [0, 10].map(min => overTime('x', {}, { aggs: overTime('a', { extended_bounds: { min, max: 20 } }) }))
  assert.equal(textsOf(inside[0]!)?.found, textsOf(inside[1]!)?.found)
  const others = [
    overTime('a', { hard_bounds: { min: 0, max: 20 } }),
    overTime('a', { hard_bounds: { min: 10, max: 20 } }),
    overTime('b', {}),
    overTime('extended_bounds', {}),
    { a: { terms: { field: 'timestamp' } } },
    overTime('a', {}, { aggs: { extended_bounds: { max: { field: 'x' } } } }),
    overTime('a', {}, { aggs: { extended_bounds: { min: { field: 'x' } } } }),
  ]
  assert.equal(new Set(others.map(one => textsOf(one)?.found)).size, others.length)
})

test('what shows hits is not kept', () => {
  assert.equal(textsOf({ a: { top_hits: {} } }), undefined)
})

test('aggregations that count from now are not kept, however now is written; a name or an unused word is no date', () => {
  const keeps = (aggs: object) =>
    parseSearch(JSON.stringify({ query: { range: { timestamp: { gte: 'now-1d' } } }, aggs }), ['tx'], 0).aggregated !==
    undefined
  const filter = (query: object) => ({ a: { filter: query } })
  const counted = [
    { a: { date_range: { field: 'timestamp', ranges: [{ from: 'now-1d' }] } } },
    { a: { date_range: { field: 'timestamp', ranges: [{ to: 'now/d' }] } } },
    { a: { date_histogram: { field: 'timestamp', fixed_interval: '1d', hard_bounds: { max: 'now' } } } },
    filter({ query_string: { query: 'timestamp:[n\\ow-60s TO *]' } }),
    filter({ wrapper: { query: Buffer.from('{"range":{"timestamp":{"gte":"now-1d"}}}').toString('base64') } }),
    { b: { terms: { field: 'from.raw' }, aggs: filter({ range: { timestamp: { lt: 'now' } } }) } },
  ]
  for (const aggs of counted) assert.equal(keeps(aggs), false, JSON.stringify(aggs))
  const lasting = [
    { now: { terms: { field: 'from.raw' } } },
    filter({ term: { from: 'now' } }),
    { a: { date_range: { field: 'timestamp', ranges: [{ from: '2024-01-01||-1d' }] } } },
  ]
  for (const aggs of lasting) assert.equal(keeps(aggs), true, JSON.stringify(aggs))
})
