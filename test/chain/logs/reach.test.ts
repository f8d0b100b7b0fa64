import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogLimit } from '../../../src/chain/logs/log-limit.ts'
import { createReach, newDensity } from '../../../src/chain/logs/range-size.ts'
import { fewestCalls, type Provider } from '../../support/log-providers.ts'
import { seeded } from '../../support/logs.ts'

const RANGE = { from: 0, to: 4_999_999 }

/** Blocks of events, ascending: `at` maps a number from 0 to 1 onto one. */
const spread = (count: number, at: (x: number) => number): number[] => {
  const random = seeded(3)
  return Array.from({ length: count }, () => Math.floor(at(random()) * RANGE.to)).sort((a, b) => a - b)
}

const below = (sorted: readonly number[], block: number): number => {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < block) low = middle + 1
    else high = middle
  }
  return low
}

/** Calls that it takes, one after the other. */
const callsFor = (events: readonly number[], { blocks = Infinity, results = Infinity }: Provider, tells: boolean) => {
  const reach = createReach()
  const density = newDensity()
  let calls = 0
  let hint: number | undefined
  for (let at = RANGE.from; at <= RANGE.to; calls++) {
    const asked = { from: at, to: Math.min(RANGE.to, at + (hint ?? reach.span(density)) - 1) }
    const count = below(events, asked.to + 1) - below(events, at)
    const limit: LogLimit | undefined =
      asked.to - at + 1 > blocks
        ? { of: 'blocks', most: tells ? blocks : undefined }
        : count > results
          ? tells
            ? { of: 'results', most: results, fits: events[below(events, at) + results]! - at }
            : { of: 'results', most: undefined, fits: undefined }
          : undefined
    hint = limit && reach.learn(limit, asked, density)
    if (limit !== undefined) continue
    reach.passed(asked, count, density)
    at = asked.to + 1
  }
  return calls
}

const even = spread(100_000, x => x)
const many = spread(1_000_000, x => x)
const ramp = spread(1_000_000, x => Math.sqrt(x))
const burst = spread(1_000_000, x => (x < 0.5 ? x * 2 : 0.3 + (x - 0.5) * 0.02))

const cases: [name: string, events: number[], provider: Provider, most: number, untold?: number][] = [
  ['even events, blocks and results bounded', even, { blocks: 10_000, results: 10_000 }, 1.15],
  ['many events, blocks and results bounded', many, { blocks: 10_000, results: 10_000 }, 1.15],
  ['ever more events, blocks and results bounded', ramp, { blocks: 10_000, results: 10_000 }, 1.15],
  ['a burst of events, blocks and results bounded', burst, { blocks: 10_000, results: 10_000 }, 1.15],
  ['many events, few results', many, { blocks: 10_000, results: 1_000 }, 1.15, 1.25],
  ['many events, results bounded', many, { results: 10_000 }, 1.15],
  ['ever more events, results bounded', ramp, { results: 10_000 }, 1.15],
  ['a burst of events, results bounded', burst, { results: 10_000 }, 1.2, 1.4],
  ['even events, few blocks', even, { blocks: 100 }, 1.01],
]

for (const [name, events, provider, most, untold = most] of cases) {
  for (const tells of [true, false]) {
    test(`${name}${tells ? '' : ', untold'}`, t => {
      const [calls, fewest] = [callsFor(events, provider, tells), fewestCalls(events, RANGE, provider)]
      t.diagnostic(`${calls} of ${fewest}: ${(calls / fewest).toFixed(3)}`)
      assert.ok(calls <= fewest * (tells ? most : untold))
    })
  }
}
