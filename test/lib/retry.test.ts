import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoff, parseRetryAfter, systemClock, withTimeout } from '../../src/lib/retry.ts'

test('backoff doubles up to its cap, with full jitter', () => {
  const at = (share: number) =>
    [1, 2, 3, 8, 100].map(it => backoff(it, { baseMs: 100, capMs: 5_000, random: () => share }))
  assert.deepEqual(at(1), [100, 200, 400, 5_000, 5_000])
  assert.deepEqual(at(0.5), [50, 100, 200, 2_500, 2_500])
  assert.deepEqual(at(0), [0, 0, 0, 0, 0])
})

test('Retry-After in seconds, as a date, and as nothing that can be read', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const cases: [string | string[] | undefined, number | undefined][] = [
    ['3', 3_000],
    [' 0.5 ', 500],
    [['7', '9'], 7_000],
    ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
    ['Wed, 31 Dec 2025 23:59:50 GMT', 0],
    ['99999999', 3_600_000],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ]
  for (const [header, ms] of cases) assert.equal(parseRetryAfter(header, now), ms, String(header))
})

test('sleeping ends with the time or with the reason of the signal', async () => {
  await systemClock.sleep(1)
  const controller = new AbortController()
  const sleeping = systemClock.sleep(60_000, controller.signal)
  const reason = new Error('enough')
  controller.abort(reason)
  await assert.rejects(sleeping, error => error === reason)
  await assert.rejects(systemClock.sleep(1, controller.signal), error => error === reason)
})

test('a timeout, an outer abort and an error of the work are told apart', async () => {
  const wait = (signal: AbortSignal) => systemClock.sleep(60_000, signal)
  const { signal } = new AbortController()
  const late = new Error('late')
  assert.equal(
    await withTimeout(
      1_000,
      signal,
      () => late,
      async () => 5,
    ),
    5,
  )
  await assert.rejects(
    withTimeout(1, signal, () => late, wait),
    error => error === late,
  )
  const controller = new AbortController()
  const outer = new Error('outer')
  const working = withTimeout(60_000, controller.signal, () => late, wait)
  controller.abort(outer)
  await assert.rejects(working, error => error === outer)
  await assert.rejects(
    withTimeout(
      1,
      controller.signal,
      () => late,
      async () => 5,
    ),
    error => error === outer,
  )
  await assert.rejects(
    withTimeout(
      1_000,
      signal,
      () => late,
      async () => {
        throw new RangeError('own')
      },
    ),
    RangeError,
  )
})
