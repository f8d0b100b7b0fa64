import { test } from 'node:test'
import { runSeed } from '../support/alert-matrix.ts'

/** More are run by `SEEDS=200 npm test -- alert-matrix`, one again by `SEEDS=17-17`. */
const [first = 1, last = first] = (process.env.SEEDS ?? '1-20').split('-').map(Number)
const seeds = process.env.SEEDS && !process.env.SEEDS.includes('-') ? range(1, first) : range(first, last)
/** Programs that run side by side. */
const LANES = 2

test('killed, reorganised, with failing receivers: nothing is lost, nothing is doubled', {
  concurrency: LANES,
  timeout: 60_000 + seeds.length * 40_000,
}, async t => {
  await Promise.all(seeds.map(seed => t.test(`seed ${seed}`, t => runSeed(t, seed))))
})

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}
