import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTime, partsBetween } from '../../src/lib/time.ts'

test('times in ISO 8601, in UTC where they name no zone', () => {
  const good: [string, string][] = [
    ['2024-05-17', '2024-05-17T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-05-17T12:30', '2024-05-17T12:30:00.000Z'],
    ['2024-05-17T12:30:15', '2024-05-17T12:30:15.000Z'],
    ['2024-05-17T12:30:15.25Z', '2024-05-17T12:30:15.250Z'],
    ['2024-05-17T00:30:15+02:00', '2024-05-16T22:30:15.000Z'],
    ['2024-05-17T23:30-01:30', '2024-05-18T01:00:00.000Z'],
  ]
  for (const [text, time] of good) assert.equal(new Date(parseTime(text)!).toISOString(), time, text)
})

test('what is no such time, or on no day that there is', () => {
  const bad = ['', 'now', '2024', '2024-05', '2024-5-7', '2024-02-30', '2023-02-29', '2024-13-01', '2024-05-17T24:30']
  const worse = [
    '2024-05-17T12',
    '2024-05-17 12:30',
    '2024-05-17Z',
    ' 2024-05-17',
    '2024-05-17T12:30:15+2',
    '1715949015000',
  ]
  for (const text of [...bad, ...worse]) assert.equal(parseTime(text), undefined, text)
})

test('what a date writes of itself is read back', () => {
  const noInvalidDate = {
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  }
  fc.assert(
    fc.property(fc.date(noInvalidDate), date => {
      assert.equal(parseTime(date.toISOString()), date.getTime())
    }),
    { seed: 1 },
  )
})

const HOUR = 3_600_000
test('parts are as long as people read easily', () => {
  const day = Date.parse('2024-05-17T00:00:00Z')
  assert.deepEqual(partsBetween(day, day + 3 * HOUR - 1, 3), {
    intervalMs: HOUR,
    starts: [day, day + HOUR, day + 2 * HOUR],
  })
  assert.deepEqual(partsBetween(day + 1, day + 3 * HOUR, 3), {
    intervalMs: 3 * HOUR,
    starts: [day, day + 3 * HOUR],
  })
  assert.deepEqual(partsBetween(day, day, 1), { intervalMs: 1_000, starts: [day] })
})
test('parts hold every moment of the time, are no more than asked for, and begin at multiples of their length', () => {
  const moment = fc.integer({ min: 0, max: 4e12 })
  fc.assert(
    fc.property(moment, moment, fc.integer({ min: 2, max: 500 }), (a, b, most) => {
      const [first, last] = a < b ? [a, b] : [b, a]
      const { intervalMs, starts } = partsBetween(first, last, most)
      assert.ok(starts.length <= most && starts.length > 0)
      assert.ok(starts[0]! <= first && last < starts.at(-1)! + intervalMs)
      for (const [n, start] of starts.entries()) {
        assert.equal(start % intervalMs, 0)
        assert.equal(start, starts[0]! + n * intervalMs)
      }
    }),
  )
})
