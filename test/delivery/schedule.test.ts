import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { allowed, createBreaker, FAILURES, failed, succeeded } from '../../src/delivery/breaker.ts'
import { nextTry, SCHEDULE_MS, spanOf } from '../../src/delivery/schedule.ts'

const HOUR = 3_600_000

describe('the schedule of tries', () => {
  it('is that of Standard Webhooks: ten tries over about three days', () => {
    const waits = SCHEDULE_MS.map((_, tries) => nextTry(tries, 0, { random: () => 0.5 }))
    assert.deepEqual(waits, [0, 5_000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map(it => it * HOUR)])
    assert.equal(nextTry(10, 0), undefined)
    assert.equal(spanOf(SCHEDULE_MS) / HOUR, 75.58472222222223)
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

describe('the breaker of a destination', () => {
  const failing = (times: number) => {
    const breaker = createBreaker()
    for (let i = 0; i < times; i++) failed(breaker, 1_000, false)
    return breaker
  }

  it('opens with the fifth failure in a row', () => {
    assert.equal(allowed(failing(FAILURES - 1), 1_000, 10), 10)
    const open = failing(FAILURES)
    assert.deepEqual(open, { failures: 5, opened: 1, restUntil: 6_000, failingSince: 1_000 })
    assert.deepEqual(
      [5_999, 6_000].map(now => allowed(open, now, 10)),
      [0, 1],
    )
  })

  it('is not opened further by what was under way, only by probes, up to five minutes', () => {
    assert.equal(failing(FAILURES + 9).restUntil, 6_000)
    const breaker = failing(FAILURES)
    const rests = Array.from({ length: 8 }, () => {
      const now = breaker.restUntil
      failed(breaker, now, true)
      return (breaker.restUntil - now) / 1000
    })
    assert.deepEqual(rests, [10, 20, 40, 80, 160, 300, 300, 300])
    assert.equal(breaker.failingSince, 1_000)
  })

  it('closes with one success', () => {
    const breaker = failing(FAILURES + 2)
    succeeded(breaker)
    assert.deepEqual(breaker, createBreaker())
  })
})
