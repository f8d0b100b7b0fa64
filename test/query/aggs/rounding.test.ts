import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CALENDAR_UNITS, parseLength, readInterval, readOffset } from '../../../src/query/dates/calendar.ts'
import { createRounding, type Interval, type Rounding } from '../../../src/query/dates/rounding.ts'
import { UTC, zoneOf } from '../../../src/query/dates/time-zone.ts'
import { parseExactJson } from '../../../src/query/json.ts'
import { bodyNode, type JsonNode, members } from '../../../src/query/json-node.ts'
import { createQueryBudget } from '../../../src/query/scope.ts'
import { findElasticsearch } from '../../support/elasticsearch.ts'

const place = { path: 'p', value: '' }
const HOUR = 3_600_000
const zoned = (zone: string) => zoneOf(place, zone, createQueryBudget())
const intervalOf = (text: string): Interval => CALENDAR_UNITS.get(text) ?? parseLength(text)!
const rounding = (interval: string, zone = 'Z', offset = 0): Rounding =>
  createRounding(intervalOf(interval), zoned(zone), offset)

/** Starts of the buckets from one instant to another, as gaps are filled. */
const starts = (of: Rounding, first: string, last: string): string[] => {
  const found: string[] = []
  for (let at = of.round(Date.parse(first)); at <= Date.parse(last); at = of.next(at)) {
    found.push(new Date(at).toISOString().replace(':00.000Z', 'Z'))
  }
  return found
}

/** As Elasticsearch 7.17.29 answers with min_doc_count 0. */
test('days, weeks and hours of zones whose clocks are changed', () => {
  assert.deepEqual(starts(rounding('day', 'Europe/Berlin'), '2020-03-28T12:00:00Z', '2020-03-30T12:00:00Z'), [
    '2020-03-27T23:00Z',
    '2020-03-28T23:00Z',
    '2020-03-29T22:00Z',
  ])
  assert.deepEqual(starts(rounding('hour', 'Europe/Berlin'), '2020-10-24T23:30:00Z', '2020-10-25T02:30:00Z'), [
    '2020-10-24T23:00Z',
    '2020-10-25T00:00Z',
    '2020-10-25T01:00Z',
    '2020-10-25T02:00Z',
  ])
  assert.deepEqual(starts(rounding('3h', 'Europe/Berlin'), '2020-03-28T23:30:00Z', '2020-03-29T08:30:00Z'), [
    '2020-03-28T23:00Z',
    '2020-03-29T01:00Z',
    '2020-03-29T04:00Z',
    '2020-03-29T07:00Z',
  ])
  // A day that began at one o'clock, and one that was left out.
  assert.deepEqual(starts(rounding('day', 'America/Sao_Paulo'), '2018-11-03T12:00:00Z', '2018-11-05T12:00:00Z'), [
    '2018-11-03T03:00Z',
    '2018-11-04T03:00Z',
    '2018-11-05T02:00Z',
  ])
  assert.deepEqual(starts(rounding('day', 'Pacific/Apia'), '2011-12-29T12:00:00Z', '2011-12-31T12:00:00Z'), [
    '2011-12-29T10:00Z',
    '2011-12-30T10:00Z',
    '2011-12-31T10:00Z',
  ])
})

test('units of the calendar begin where a naive calendar lets them begin', () => {
  const naive: Record<string, (date: Date) => number> = {
    minute: date => date.setUTCSeconds(0, 0),
    hour: date => date.setUTCMinutes(0, 0, 0),
    day: date => date.setUTCHours(0, 0, 0, 0),
    week: date => new Date(date.setUTCHours(0, 0, 0, 0)).setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7)),
    month: date => new Date(date.setUTCDate(1)).setUTCHours(0, 0, 0, 0),
    quarter: date =>
      new Date(date.setUTCMonth(date.getUTCMonth() - (date.getUTCMonth() % 3), 1)).setUTCHours(0, 0, 0, 0),
    year: date => new Date(date.setUTCMonth(0, 1)).setUTCHours(0, 0, 0, 0),
  }
  const units = fc.constantFrom(...Object.keys(naive))
  fc.assert(
    fc.property(units, fc.integer({ min: -8e13, max: 8e13 }), (unit, at) => {
      const of = rounding(unit)
      assert.equal(of.round(at), naive[unit]!(new Date(at)))
      assert.equal(of.next(of.round(at)), naive[unit]!(new Date(of.next(of.round(at)))))
    }),
    { numRuns: 500 },
  )
})

test('an instant lies in its bucket, whatever the interval, the zone and the instants before', () => {
  const intervals = fc.constantFrom('7ms', '1s', '45m', '90m', '5h', '1d', '9d', ...CALENDAR_UNITS.keys())
  const zones = fc.constantFrom(
    'Z',
    '-03:30',
    'Europe/Berlin',
    'America/Sao_Paulo',
    'Australia/Lord_Howe',
    'Pacific/Apia',
  )
  const instants = fc.array(fc.integer({ min: -1e12, max: 5e12 }), { minLength: 1, maxLength: 10 })
  fc.assert(
    fc.property(
      intervals,
      zones,
      fc.integer({ min: -HOUR, max: 30 * HOUR }),
      instants,
      (interval, zone, offset, all) => {
        const of = rounding(interval, zone, offset)
        for (const at of all) {
          const start = of.round(at)
          assert.ok(start <= at)
          assert.equal(start, rounding(interval, zone, offset).round(at))
          assert.equal(of.round(start), start)
          assert.ok(of.next(start) > start)
          assert.ok(of.count(start, of.next(start)) >= 2)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('how many buckets there would be is told without making them', () => {
  assert.equal(rounding('1s').count(0, 1.7e12), 1_700_000_002)
  assert.equal(rounding('year', 'Europe/Berlin').count(0, 1.7e12), 55)
  assert.equal(rounding('1s').count(1, 0), 0)
})

test('years far away are rounded as well, and in time', () => {
  const of = rounding('year', 'Europe/Berlin')
  for (const at of [-8.6e15, -1e13, 1e13, 8.6e15]) assert.ok(of.round(at) <= at && of.round(at) > at - 367 * 24 * HOUR)
})

test('the longest intervals begin far before', () => {
  const instant = Date.UTC(2025, 0, 1)
  for (const zone of ['Z', 'Europe/Berlin']) {
    const { round, next } = createRounding(99_999_999 * 24 * HOUR, zoned(zone))
    assert.ok(round(instant) <= instant && next(round(instant)) > 8e15, zone)
  }
})

const keysOf = (text: string): Record<string, JsonNode> =>
  Object.fromEntries(members(bodyNode(parseExactJson(text)), 'keys'))
const read = (text: string) => readInterval(bodyNode(parseExactJson(text)), keysOf(text))

test('intervals in three spellings', () => {
  const cases: [string, string | number][] = [
    ['{"interval":"1H"}', HOUR],
    ['{"fixed_interval":"1H"}', HOUR],
    ['{"interval":"1h"}', 'hour'],
    ['{"interval":3600000}', HOUR],
    ['{"interval":"1M"}', 'month'],
    ['{"interval":"90m"}', 90 * 60_000],
    ['{"fixed_interval":"1d"}', 24 * HOUR],
    ['{"fixed_interval":" 1 d "}', 24 * HOUR],
    ['{"fixed_interval":"+1D"}', 24 * HOUR],
    ['{"fixed_interval":"99999999999999d"}', Number.MAX_SAFE_INTEGER],
    ['{"calendar_interval":"1q"}', 'quarter'],
    ['{"calendar_interval":"second"}', 'second'],
  ]
  for (const [text, expected] of cases) {
    const interval = read(text)
    assert.equal(typeof interval === 'number' ? interval : interval.name, expected, text)
  }
})

test('intervals that are none are refused by name', () => {
  const cases: [string, RegExp][] = [
    ['{"calendar_interval":"2d"}', /calendar_interval: The supplied interval \[2d\] could not be parsed as a calendar/],
    ['{"calendar_interval":"1H"}', /could not be parsed/],
    ['{"fixed_interval":"1M"}', /fixed_interval: Unable to parse interval \[1M\]/],
    ['{"interval":"2w"}', /Unable to parse interval \[2w\]/],
    ['{"interval":"1.5h"}', /Unable to parse interval/],
    ['{"interval":""}', /Unable to parse interval/],
    ['{"interval":"toString"}', /Unable to parse interval/],
    ['{"fixed_interval":"0d"}', /Zero or negative/],
    ['{"fixed_interval":"-1d"}', /Zero or negative/],
    ['{"fixed_interval":"1micros"}', /Zero or negative/],
    ['{"fixed_interval":3600000}', /fixed_interval: expected/],
    ['{"interval":"1d","fixed_interval":"1d"}', /fixed_interval: Cannot use it together with interval/],
    ['{}', /expected an object with \[calendar_interval\]/],
  ]
  for (const [text, message] of cases) assert.throws(() => read(text), message)
})

test('offsets', () => {
  const offset = (text: string) => readOffset({ path: 'offset', value: parseExactJson(text) })
  assert.deepEqual(['"6h"', '"+6h"', '"-6H"', '3600000', '"0"'].map(offset), [6 * HOUR, 6 * HOUR, -6 * HOUR, HOUR, 0])
  assert.equal(readOffset(undefined), 0)
  for (const text of ['"x"', '"1M"', '""', 'true']) assert.throws(() => offset(text), /offset/)
})

const CHANGES: [zone: string, at: string][] = [
  ['Europe/Berlin', '2020-03-29T01:00:00Z'],
  ['Europe/Berlin', '2020-10-25T01:00:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
  ['Australia/Lord_Howe', '2020-04-04T15:00:00Z'],
  ['America/Havana', '2020-11-01T05:00:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Asia/Kathmandu', '1985-12-31T18:30:00Z'],
]

type Answer = { aggregations: Record<string, { buckets: { key: number; doc_count: number }[] }> }

test('the buckets of Elasticsearch around changes of clocks', async t => {
  const elasticsearch = await findElasticsearch()
  if (!elasticsearch) return t.skip('no Elasticsearch 7.17 runs')
  const instants = CHANGES.flatMap(([, at]) =>
    Array.from({ length: 300 }, (_, i) => Date.parse(at) + (i - 150) * 17 * 60_000),
  )
  await elasticsearch.fill(
    'pipelines-rounding',
    { t: { type: 'date' } },
    instants.map(at => ({ t: at })),
  )
  t.after(() => elasticsearch.remove('pipelines-rounding'))
  const calendar = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'].map(unit => ({
    calendar_interval: unit,
  }))
  const fixed = ['20m', '1h', '90m', '5h', '12h', '1d', '3d'].map(size => ({ fixed_interval: size }))
  for (const zone of new Set(CHANGES.map(([zone]) => zone))) {
    const shapes = [...calendar, ...fixed].map(interval => ({
      ...interval,
      field: 't',
      time_zone: zone,
      offset: '-90m',
    }))
    const aggs = Object.fromEntries(shapes.map((shape, i) => [i, { date_histogram: { ...shape, min_doc_count: 1 } }]))
    const answer: { body: unknown } = await elasticsearch.ask('POST', '/pipelines-rounding/_search', { size: 0, aggs })
    const found: Answer['aggregations'] = (answer.body as Answer).aggregations
    for (const [i, shape] of shapes.entries()) {
      const interval =
        'fixed_interval' in shape ? parseLength(shape.fixed_interval)! : intervalOf(shape.calendar_interval)
      const of = createRounding(interval, zoned(zone), -90 * 60_000)
      const counts = new Map<number, number>()
      for (const at of instants.toSorted((a, b) => a - b)) counts.set(of.round(at), (counts.get(of.round(at)) ?? 0) + 1)
      const expected = found[i]!.buckets.map(({ key, doc_count }) => [key, doc_count])
      assert.deepEqual([...counts], expected, JSON.stringify(shape))
    }
  }
})

test('UTC needs no zone', () => assert.equal(createRounding(10, UTC).round(-1), -10))
