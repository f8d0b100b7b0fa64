import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { createDateReader } from '../../src/query/dates/reader.ts'
import { createQueryBudget } from '../../src/query/scope.ts'

const NOW = Date.parse('2024-02-29T12:34:56.789Z')
const place = { path: 'p', value: '' }

const read = (text: string, options: { up?: boolean; zone?: string; format?: string } = {}): string => {
  const { up = false, zone, format } = options
  const reader = createDateReader({
    now: () => NOW,
    budget: createQueryBudget(),
    zone: zone === undefined ? undefined : { place, text: zone },
    format: format === undefined ? undefined : { place, text: format },
  })
  return new Date(reader.read({ path: 'p', value: text }, text, up)).toISOString()
}

test('seconds, milliseconds and ISO-8601', () => {
  const cases: Record<string, string> = {
    '0': '1970-01-01T00:00:00.000Z',
    '-1': '1969-12-31T23:59:59.000Z',
    '1583971200': '2020-03-12T00:00:00.000Z',
    '1583971200.25': '2020-03-12T00:00:00.250Z',
    '99999999999': '5138-11-16T09:46:39.000Z',
    '100000000000': '1973-03-03T09:46:40.000Z',
    '1583971200123': '2020-03-12T00:00:00.123Z',
    '2020': '1970-01-01T00:33:40.000Z',
    '2020-03': '2020-03-01T00:00:00.000Z',
    '2020-03-12': '2020-03-12T00:00:00.000Z',
    '2020-03-12T': '2020-03-12T00:00:00.000Z',
    '2020-03-12T10': '2020-03-12T10:00:00.000Z',
    '2020-03-12T10:11': '2020-03-12T10:11:00.000Z',
    '2020-03-12T10:11:12': '2020-03-12T10:11:12.000Z',
    '2020-03-12T10:11:12.3': '2020-03-12T10:11:12.300Z',
    '2020-03-12T10:11:12.123456789Z': '2020-03-12T10:11:12.123Z',
    '2020-03-12T10:11:12Z': '2020-03-12T10:11:12.000Z',
    '2020-03-12T10:11:12+05:30': '2020-03-12T04:41:12.000Z',
    '2020-03-12T10:11-0800': '2020-03-12T18:11:00.000Z',
    '2020-03-12T10+01': '2020-03-12T09:00:00.000Z',
    '0001-01-01': '0001-01-01T00:00:00.000Z',
  }
  assert.deepEqual(Object.fromEntries(Object.keys(cases).map(text => [text, read(text)])), cases)
})

test('what is left open is filled upwards where the operator asks for it, save month and day', () => {
  const cases: Record<string, string> = {
    '2020-03': '2020-03-01T23:59:59.999Z',
    '2020-03-12': '2020-03-12T23:59:59.999Z',
    '2020-03-12T10': '2020-03-12T10:59:59.999Z',
    '2020-03-12T10:11': '2020-03-12T10:11:59.999Z',
    '2020-03-12T10:11:12': '2020-03-12T10:11:12.999Z',
    '2020-03-12T10:11:12.3': '2020-03-12T10:11:12.300Z',
    '1583971200': '2020-03-12T00:00:00.000Z',
    'now/d': '2024-02-29T23:59:59.999Z',
    'now/d-1d': '2024-02-28T23:59:59.999Z',
    'now-1d/M': '2024-02-29T23:59:59.999Z',
    '2020-03-12||': '2020-03-12T00:00:00.000Z',
    '2020-03-12||/M': '2020-03-31T23:59:59.999Z',
  }
  assert.deepEqual(Object.fromEntries(Object.keys(cases).map(text => [text, read(text, { up: true })])), cases)
})

test('date math', () => {
  const cases: Record<string, string> = {
    now: '2024-02-29T12:34:56.789Z',
    'now-7d': '2024-02-22T12:34:56.789Z',
    'now+1h-30m+5s': '2024-02-29T13:05:01.789Z',
    'now-2H': '2024-02-29T10:34:56.789Z',
    'now+d': '2024-03-01T12:34:56.789Z',
    'now-1y': '2023-02-28T12:34:56.789Z',
    'now-4y': '2020-02-29T12:34:56.789Z',
    'now-13M': '2023-01-29T12:34:56.789Z',
    'now+12M': '2025-02-28T12:34:56.789Z',
    'now+2w': '2024-03-14T12:34:56.789Z',
    'now/s': '2024-02-29T12:34:56.000Z',
    'now/m': '2024-02-29T12:34:00.000Z',
    'now/h': '2024-02-29T12:00:00.000Z',
    'now/1d': '2024-02-29T00:00:00.000Z',
    'now/w': '2024-02-26T00:00:00.000Z',
    'now/M': '2024-02-01T00:00:00.000Z',
    'now/y': '2024-01-01T00:00:00.000Z',
    'now/M-1d/w': '2024-01-29T00:00:00.000Z',
    '2024-03-03||/w': '2024-02-26T00:00:00.000Z',
    '2024-03-04||/w': '2024-03-04T00:00:00.000Z',
    '2024-01-31||+1M': '2024-02-29T00:00:00.000Z',
    '2024-01-31||+1M+1M': '2024-03-29T00:00:00.000Z',
    '1583971200||+1d/d': '2020-03-13T00:00:00.000Z',
    '1969-12-31T23:59:59||/h': '1969-12-31T23:00:00.000Z',
  }
  assert.deepEqual(Object.fromEntries(Object.keys(cases).map(text => [text, read(text)])), cases)
})

test('time zones hold for dates and roundings that name none', () => {
  const berlin = { zone: 'Europe/Berlin' }
  const cases: [string, string, { zone: string; up?: boolean }][] = [
    ['2024-02-29', '2024-02-28T23:00:00.000Z', berlin],
    ['2024-07-01', '2024-06-30T22:00:00.000Z', berlin],
    ['2024-07-01', '2024-07-01T21:59:59.999Z', { ...berlin, up: true }],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z', berlin],
    ['1583971200', '2020-03-12T00:00:00.000Z', berlin],
    ['now', '2024-02-29T12:34:56.789Z', berlin],
    ['now/d', '2024-02-28T23:00:00.000Z', berlin],
    ['now/d', '2024-02-29T11:00:00.000Z', { zone: '+13:00' }],
    ['2024-02-29', '2024-02-29T08:00:00.000Z', { zone: '-8' }],
    ['2024-02-29', '2024-02-28T18:30:00.000Z', { zone: '+0530' }],
    ['2024-02-29', '2024-02-29T00:00:00.000Z', { zone: 'Z' }],
    // The clock is put forward at 2 on 31 March and back at 3 on 27 October.
    ['2024-03-31T02:30', '2024-03-31T01:30:00.000Z', berlin],
    ['2024-10-27T02:30', '2024-10-27T00:30:00.000Z', berlin],
    ['2024-03-30T12:00||+1d', '2024-03-31T10:00:00.000Z', berlin],
    ['2024-03-30T12:00||+24h', '2024-03-31T11:00:00.000Z', berlin],
    ['2024-10-27||+1d', '2024-10-27T23:00:00.000Z', berlin],
    ['2024-10-27T12:00||/d', '2024-10-27T22:59:59.999Z', { ...berlin, up: true }],
  ]
  for (const [text, expected, options] of cases) assert.equal(read(text, options), expected, `${text} ${options.zone}`)
})

test('formats', () => {
  const cases: [string, string, string][] = [
    ['epoch_millis', '1583971200000', '2020-03-12T00:00:00.000Z'],
    ['epoch_millis', '5', '1970-01-01T00:00:00.005Z'],
    ['epoch_second', '1583971200000', '+052164-01-19T00:00:00.000Z'],
    ['yyyy', '2020', '2020-01-01T00:00:00.000Z'],
    ['yyyy-MM-dd HH:mm:ss', '2020-03-12 10:11:12', '2020-03-12T10:11:12.000Z'],
    ['uuuu/M/d H:m:s.SSS', '2020/3/2 1:2:3.045', '2020-03-02T01:02:03.045Z'],
    ["yyyyMMdd'T'HHmmssX", '20200312T101112Z', '2020-03-12T10:11:12.000Z'],
    ['yyyy-MM-dd HH:mm Z', '2020-03-12 10:11 +0200', '2020-03-12T08:11:00.000Z'],
    ["yyyy-MM-dd 'o''clock' HH", "2020-03-12 o'clock 05", '2020-03-12T05:00:00.000Z'],
    ['dd.MM.yyyy||epoch_second', '12.03.2020', '2020-03-12T00:00:00.000Z'],
    ['dd.MM.yyyy||epoch_second', '1583971200', '2020-03-12T00:00:00.000Z'],
    ['strict_date', '2020-03-12', '2020-03-12T00:00:00.000Z'],
    ['basic_date', '20200312', '2020-03-12T00:00:00.000Z'],
    ['date_hour_minute_second', '2020-03-12T10:11:12', '2020-03-12T10:11:12.000Z'],
    ['strict_date_time', '2020-03-12T10:11:12.013Z', '2020-03-12T10:11:12.013Z'],
    ['strict_date_optional_time', '2020', '2020-01-01T00:00:00.000Z'],
    ['yyyy.MM', '2020.03||+1M', '2020-04-01T00:00:00.000Z'],
  ]
  for (const [format, text, expected] of cases) assert.equal(read(text, { format }), expected, `${format}: ${text}`)
})

const refusal = (text: string, options: { zone?: string; format?: string } = {}) => {
  try {
    return read(text, options)
  } catch (error) {
    assert.ok(error instanceof ChainsieveError, String(error))
    return error.code
  }
}

test('what is no date is refused', () => {
  const texts = [
    '',
    'today',
    '2020-13-01',
    '2023-02-29',
    '2020-03-32',
    '2020-3-1',
    '20-03-12',
    '2020-03-12 10:11',
    '2020-03-12T24:00',
    '2020-03-12T10:60',
    '2020-03-12T10:11:60',
    '2020-03-12T10:11:12.',
    '2020-03T10',
    '0x5e6a4900',
    '1e9',
    '99999999999999999999',
    'now-',
    'now-1',
    'now1d',
    'now-1D',
    'now -1d',
    'now-1.5d',
    'now/',
    'now/2d',
    'now/0d',
    '||+1d',
    '2020-03-12|+1d',
    '2020-03-12+1d',
    'now+999999999y',
    'Now',
    'now||+1d',
  ]
  for (const text of texts) assert.equal(refusal(text), 'parse_exception', text)
})

test('what is no format or no zone is refused', () => {
  for (const format of [
    '',
    'yyyy||',
    'bbbb',
    'ddd',
    'yyyy]',
    'yyyy VVV',
    "yyyy 'at",
    'y'.repeat(101),
    'strict_dates',
  ]) {
    assert.equal(refusal('2020', { format }), 'illegal_argument_exception', format)
  }
  for (const zone of ['', 'Berlin', '+25:00', '+02:60', '2', 'now']) {
    assert.equal(refusal('2020-01-01', { zone }), 'illegal_argument_exception', zone)
  }
})

test('ISO-8601 is read as the language reads it', () => {
  const date = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  fc.assert(fc.property(date, it => assert.equal(read(it.toISOString()), it.toISOString())))
})

test('the hour that comes twice when clocks are set back is rounded as the one that is meant', () => {
  const zone = 'America/St_Johns'
  const [first, second] = [2172716940, 2172716940 + 3_600]
  assert.equal(read(`${first}||/m`, { zone, up: true }), '2038-11-07T04:29:59.999Z')
  assert.equal(read(`${second}||/m`, { zone }), '2038-11-07T05:29:00.000Z')
  assert.equal(read(`${second}||/m`, { zone, up: true }), '2038-11-07T05:29:59.999Z')
})

test('rounding never leaves the unit that holds the moment', () => {
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', '+05:45', '-11:00')
  const moment = fc.integer({ min: 0, max: 4e9 })
  fc.assert(
    fc.property(moment, fc.constantFrom(...'yMwdhms'), zones, (second, unit, zone) => {
      const text = `${second}||/${unit}`
      const [low, high] = [read(text, { zone }), read(text, { zone, up: true })].map(it => Date.parse(it))
      assert.ok(low! <= second * 1000 && second * 1000 <= high!, `${text} ${zone}`)
      // What follows the last millisecond is the start of the next unit.
      const next = new Date(high! + 1).toISOString()
      assert.equal(read(`${next}||/${unit}`, { zone }), next, `${text} ${zone}`)
    }),
  )
})
