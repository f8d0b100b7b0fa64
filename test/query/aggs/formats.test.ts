import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numberWriterOf } from '../../../src/query/aggs/number-format.ts'
import { zoneOf } from '../../../src/query/dates/time-zone.ts'
import { dateWriterOf } from '../../../src/query/dates/write-format.ts'
import { createQueryBudget } from '../../../src/query/scope.ts'

const place = { path: 'aggs.h.format', value: '' }
const date = (format: string, instant: number, zone = 'UTC') =>
  dateWriterOf(place, format, zoneOf(place, zone, createQueryBudget()))(instant)

/** As Elasticsearch 7.17.29 writes them. */
test('dates by names and by patterns of Java', () => {
  const cases: [format: string, utc: string, berlin: string][] = [
    ['yyyy-MM-dd HH:mm:ss', '1985-12-30 09:45:00', '1985-12-30 10:45:00'],
    ['epoch_second', '504783900', '504783900'],
    ['epoch_millis', '504783900000', '504783900000'],
    ['strict_date_optional_time', '1985-12-30T09:45:00.000Z', '1985-12-30T10:45:00.000+01:00'],
    ['basic_date_time', '19851230T094500.000Z', '19851230T104500.000+01:00'],
    ['hh:mm a', '09:45 AM', '10:45 AM'],
    ['EEE, d MMM yyyy', 'Mon, 30 Dec 1985', 'Mon, 30 Dec 1985'],
    ['EEEE MMMM', 'Monday December', 'Monday December'],
    ['YYYY-ww', '1986-01', '1986-01'],
    ['yy', '85', '85'],
    ["QQQ Q 'at' k", 'Q4 4 at 9', 'Q4 4 at 10'],
    ['D', '364', '364'],
    ['S SSS SSSSSS', '0 000 000000', '0 000 000000'],
    ['X XX XXX', 'Z Z Z', '+01 +0100 +01:00'],
    ['yyy ZZZZ XXXX', '1985 GMT Z', '1985 GMT+01:00 +0100'],
    ['x xx xxx Z ZZZZZ', '+00 +0000 +00:00 +0000 Z', '+01 +0100 +01:00 +0100 +01:00'],
    ['yyyy-MM-dd||epoch_millis', '1985-12-30', '1985-12-30'],
    ['yyyy[-MM]', '1985-12', '1985-12'],
    ["yyyy''MM", "1985'12", "1985'12"],
    ['8yyyy', '1985', '1985'],
    ['strict_date_time_no_millis', '1985-12-30T09:45:00Z', '1985-12-30T10:45:00+01:00'],
    ['ordinal_date', '1985-364', '1985-364'],
    ['e E', '1 Mon', '1 Mon'],
  ]
  for (const [format, utc, berlin] of cases) {
    assert.equal(date(format, 504783900000), utc)
    assert.equal(date(format, 504783900000, 'Europe/Berlin'), berlin)
  }
})

test('seconds with their fraction', () => {
  assert.equal(date('epoch_second', 1583971200123), '1583971200.123')
  assert.equal(date('epoch_second', 1583971200500.9), '1583971200.5')
})

test('formats that are not understood are refused by name', () => {
  for (const format of ['foo', "'a", 'yyyy{', 'V', 'ddd', 'pppH', '', 'y'.repeat(101), 'constructor']) {
    assert.throws(() => date(format, 0), /^ChainsieveError: aggs\.h\.format: invalid date format/)
  }
})

/** As Elasticsearch 7.17.29 writes them. */
test('numbers by patterns of Java', () => {
  const cases: [pattern: string, value: number, text: string][] = [
    ['#,##0.00', 1234567.891, '1,234,567.89'],
    ['#,##0.00', -0.4, '-0.40'],
    ['#,##0.00', 0.125, '0.12'],
    ['#,##0.00', 0.375, '0.38'],
    ['0', 0.5, '0'],
    ['0', 1.5, '2'],
    ['0', 2.5, '2'],
    ['0.0##', 1e-7, '0.0'],
    ['#.##', 0.1, '0.1'],
    ['.##', 1000, '1000.0'],
    ['.00', 0.5, '.50'],
    ['0%', 0.375, '38%'],
    ['0.00', 444211285017651.4, '444211285017651.40'],
    ['0.00', 1.005, '1.00'],
    ['0.00', 0.005, '0.01'],
    ['$0.00', -2.5, '-$2.50'],
    ["'a#'0", 1, 'a#1'],
    ['00000', 1000, '01000'],
    ['', 10000000001.051, '10,000,000,001.051'],
    ['', 0.75, '.75'],
    ['', -3, '-3'],
    ['', 0, '0'],
    ['', 1e-7, '.0000001'],
    ['#,##,###', 1234567.891, '1,234,568'],
    ['#,####.0', 1234567.891, '123,4567.9'],
    ['0', 123456789012345680000, '123456789012345680000'],
    ['#,##0', 1e22, '10,000,000,000,000,000,000,000'],
    ['0.0', Number.NEGATIVE_INFINITY, '-∞'],
    ['0.0', Number.NaN, 'NaN'],
  ]
  for (const [pattern, value, text] of cases) assert.equal(numberWriterOf(place, pattern)(value), text, pattern)
})

test('patterns of numbers that are not understood are refused by name', () => {
  for (const pattern of ['abc', '0.00E0', '0;(0)', '#0#', '0.#0', '0.0,0', '0,', "'0", '#'.repeat(101)]) {
    assert.throws(() => numberWriterOf(place, pattern), /^ChainsieveError: aggs\.h\.format: invalid number format/)
  }
})

test('dates further away than dates of JavaScript reach, as sums of dates are', () => {
  for (const instant of [1e17, -1e17, 9.2e18, 1e300, -1e300, Number.NaN]) {
    for (const format of ['yyyy-MM-dd HH:mm:ss XXX', 'epoch_second', 'epoch_millis', 'YYYY-ww e D QQQ']) {
      assert.match(date(format, instant, 'Europe/Berlin'), /^[-+ :.\dTZQ]+$/)
    }
  }
  assert.equal(date('epoch_millis', 1e17), '100000000000000000')
  assert.equal(date('epoch_second', 2.258890208803888e25), '9223372036854775.807')
  assert.equal(date('yyyy-MM-dd', 9e15), '+287168-08-24')
})
