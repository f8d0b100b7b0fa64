import { test } from 'node:test'
import { type Extent, runSeed } from '../support/alert-matrix.ts'

/** More are run by `SEEDS=200 npm test -- alert-matrix`, one again by `SEEDS=17-17`: of each extent, or of `EXTENT=factory`. */
const DEFAULT: Record<Extent, string> = { whole: '1-20', contract: '1-2', factory: '1-2' }
const extents = (process.env.EXTENT ? [process.env.EXTENT] : Object.keys(DEFAULT)) as Extent[]
const seedsOf = (extent: Extent): number[] => {
  const [first = 1, last] = (process.env.SEEDS ?? DEFAULT[extent]).split('-').map(Number)
  return last === undefined ? range(1, first) : range(first, last)
}
const runs = extents.flatMap(extent => seedsOf(extent).map(seed => ({ extent, seed })))
/** Programs that run side by side. */
const LANES = 2

test('killed, reorganised, with failing receivers: nothing is lost, nothing is doubled', {
  concurrency: LANES,
  timeout: 60_000 + runs.length * 40_000,
}, async t => {
  await Promise.all(runs.map(({ extent, seed }) => t.test(`${extent}, seed ${seed}`, t => runSeed(t, seed, extent))))
})

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}
