import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTime } from '../../src/lib/time.ts'

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
