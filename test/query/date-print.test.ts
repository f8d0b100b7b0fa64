import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBudget } from '../../src/query/budget.ts'
import { parserOf } from '../../src/query/date-format.ts'
import { printerOf } from '../../src/query/date-print.ts'
import { createDateReader } from '../../src/query/dates.ts'

const INSTANT = Date.UTC(2020, 2, 2, 13, 4, 5, 67)

// As Elasticsearch 7.17 writes them; test/clients/hits.test.ts asks it.
test('dates are written in the formats of Elasticsearch', () => {
  for (const [format, due] of [
    ['epoch_second', '1583154245.067'],
    ['epoch_millis', '1583154245067'],
    ['strict_date_optional_time', '2020-03-02T13:04:05.067Z'],
    ['strict_date_optional_time_nanos||epoch_millis', '2020-03-02T13:04:05.067Z'],
    ['date', '2020-03-02'],
    ['basic_date_time_no_millis', '20200302T130405Z'],
    ['date_time_no_millis', '2020-03-02T13:04:05Z'],
    ['yyyy-MM-dd HH:mm:ss.SSS', '2020-03-02 13:04:05.067'],
    ["d/M/yy 'o''clock' h a K k ''", "2/3/20 o'clock 1 PM 1 13 '"],
    ['EEE, dd MMM uuuu SSSSSS X xxx Z z', 'Mon, 02 Mar 2020 067000 Z +00:00 +0000 UTC'],
    ['DDD', '062'],
  ] as const)
    assert.equal(printerOf(format, 'fields')(INSTANT), due, format)
})

test('what is written is read as the same moment', () => {
  const budget = createBudget()
  const formats = [
    'epoch_second',
    'epoch_millis',
    'date_time',
    'yyyy-MM-dd HH:mm:ss.SSS X',
    'strict_date_optional_time',
    'uuuu.MM.dd HH:mm:ss,SSSxxx',
  ]
  fc.assert(
    fc.property(fc.constantFrom(...formats), fc.integer({ min: 0, max: Date.UTC(2100, 0) }), (format, instant) => {
      const place = { path: 'x', value: null }
      assert.notEqual(parserOf(place, format, budget.limits)(printerOf(format, 'x')(instant)), undefined)
      const reader = createDateReader({ now: 0, budget, format: { place, text: format } })
      assert.equal(reader.read(place, printerOf(format, 'x')(instant), false), instant)
    }),
  )
})

test('unknown formats are refused by their place', () => {
  for (const format of ['', 'QQQ', 'yyyyy', 'strict_date_tim', 'x'.repeat(200)])
    assert.throws(() => printerOf(format, 'fields[0]'), /fields\[0\]: invalid date format/)
})
