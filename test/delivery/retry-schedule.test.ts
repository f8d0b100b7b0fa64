import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { nextTry, SCHEDULE_MS, scheduleSpan } from '../../src/delivery/retry-schedule.ts'
import {
  allowed,
  createBreakers,
  failed,
  failingSince,
  MAX_FIRST_FAILURES,
  succeeded,
  type Turn,
} from '../../src/lib/scheduling/circuit-breaker.ts'

const HOUR = 3_600_000

describe('the schedule of tries', () => {
  it('is that of Standard Webhooks: ten tries over about three days', () => {
    const waits = SCHEDULE_MS.map((_, tries) => nextTry(tries, 0, { random: () => 0.5 }))
    assert.deepEqual(waits, [0, 5_000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map(it => it * HOUR)])
    assert.equal(nextTry(10, 0), undefined)
    assert.equal(scheduleSpan(SCHEDULE_MS) / HOUR, 75.58472222222223)
  })

  it('moves each wait by a tenth at most, and never before the time that the receiver asked for', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 2 ** 41 }),
        fc.option(fc.integer({ min: 0, max: HOUR }), { nil: undefined }),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (tries, now, retryAfterMs, luck) => {
          const at = nextTry(tries, now, { retryAfterMs, random: () => luck })! - now
          const wait = SCHEDULE_MS[tries]!
          assert.ok(at >= Math.floor(wait * 0.9) && at >= (retryAfterMs ?? 0))
          assert.ok(at <= Math.ceil(Math.max(wait, retryAfterMs ?? 0) * 1.1) + 1)
        },
      ),
    ))

  it('may be another one', () => {
    assert.equal(nextTry(1, 100, { schedule: [0, 40], random: () => 0.5 }), 140)
    assert.equal(nextTry(2, 100, { schedule: [0, 40] }), undefined)
    assert.equal(nextTry(0, 100, { schedule: [] }), undefined)
  })
})

describe('the breakers of a destination', () => {
  const failing = (times: number, turn: Turn = 'first') => {
    const breakers = createBreakers()
    for (let i = 0; i < times; i++) failed(breakers, turn, 1_000)
    return breakers
  }

  it('open with the fifth message in a row that fails on its first try', () => {
    assert.equal(allowed(failing(MAX_FIRST_FAILURES - 1).first, 1_000, 10), 10)
    const open = failing(MAX_FIRST_FAILURES).first
    assert.deepEqual(open, { most: 5, failures: 5, opened: 1, openUntil: 6_000, failingSince: 1_000 })
    assert.deepEqual(
      [5_999, 6_000].map(now => allowed(open, now, 10)),
      [0, 1],
    )
  })

  it('say nothing of the destination where messages fail again, other than very many in a row, which then rest alone', () => {
    const few = failing(19, 'again')
    assert.deepEqual([few.first.opened, few.again.opened], [0, 0])
    const many = failing(20, 'again')
    assert.deepEqual([many.first.opened, many.again.opened], [0, 1])
    assert.equal(failingSince(many), 1_000)
  })

  it('are not opened further by what was under way, only by probes, up to five minutes', () => {
    assert.equal(failing(MAX_FIRST_FAILURES + 9).first.openUntil, 6_000)
    const breakers = failing(MAX_FIRST_FAILURES)
    const { first } = breakers
    const rests = Array.from({ length: 8 }, (_, i) => {
      const now = first.openUntil
      // Where nothing is left that was never tried, what failed before is the probe.
      failed(breakers, i % 2 === 0 ? 'first' : 'again', now, first)
      return (first.openUntil - now) / 1000
    })
    assert.deepEqual(rests, [10, 20, 40, 80, 160, 300, 300, 300])
    assert.equal(failingSince(breakers), 1_000)
  })

  it('close with one success', () => {
    const breakers = failing(MAX_FIRST_FAILURES + 2)
    succeeded(breakers)
    assert.deepEqual(breakers, createBreakers())
  })
})
