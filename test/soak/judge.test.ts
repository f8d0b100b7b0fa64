import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, type Sample } from '../../scripts/soak/judge.ts'

const SECOND = 1_000
const MINUTE = 60_000

/** Half an hour of samples, with a kill every ten minutes; what grows takes the seconds of the process or of the soak. */
const samplesOf = (change: (at: number, age: number) => Partial<Sample> = () => ({})): Sample[] =>
  Array.from({ length: 360 }, (_, i) => {
    const at = i * 5 * SECOND
    const age = at % (10 * MINUTE)
    const noise = ((i * 7919) % 13) - 6
    return {
      ...{ at, age, life: 1 + Math.floor(at / (10 * MINUTE)) },
      ...{ memory: 300e6 + noise * 5e6, files: 80 + noise, threads: 14 },
      ...{ store: 60e6, ledger: 3e6, log: 10e6 + noise * 1e6, lag: 0, delivered: i, answered: i },
      ...change(at / SECOND, age / SECOND),
    }
  })

const notFlat = (change?: Parameters<typeof samplesOf>[0]) =>
  judge(samplesOf(change), { warmMs: { life: 2 * MINUTE, soak: 10 * MINUTE } })
    .filter(({ flat }) => !flat)
    .map(({ curve }) => curve)

test('noise, and what a start takes, are flat', () => {
  assert.deepEqual(notFlat(), [])
  assert.deepEqual(
    notFlat((_, age) => ({ memory: 300e6 + 400e6 * Math.exp(-age / 20) })),
    [],
  )
})

test('what grows within a process is not flat, nor what grows from one to the next', () => {
  assert.deepEqual(
    notFlat((_, age) => ({ memory: 300e6 + age * 100e3 })),
    ['memory'],
  )
  assert.deepEqual(
    notFlat((_, age) => ({ files: 80 + Math.floor(age / 30) })),
    ['files'],
  )
  assert.deepEqual(
    notFlat((_, age) => ({ threads: 14 + Math.floor(age / 100) })),
    ['threads'],
  )
  assert.deepEqual(
    notFlat((_, age) => ({ log: age * 1e6 })),
    ['log'],
  )
  assert.deepEqual(
    notFlat(at => ({ memory: 300e6 + Math.floor(at / 600) * 80e6 })),
    ['memory'],
  )
})

test('files on disk are judged over all processes', () => {
  assert.deepEqual(
    notFlat(at => ({ store: 60e6 + at * 10e3, ledger: 3e6 + at * 5e3 })),
    ['store', 'ledger'],
  )
})

test('a few samples are not judged', () => {
  assert.deepEqual(judge(samplesOf().slice(0, 10), { warmMs: { life: 0, soak: 0 } }), [])
})
