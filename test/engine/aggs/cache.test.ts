import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnswers, createStateCache } from '../../../src/engine/aggs/aggregation-cache.ts'
import type { AggregationState } from '../../../src/engine/aggs/aggregator.ts'
import type { Segment, StoreReader } from '../../../src/engine/reader.ts'

/** Asks ten segments for states of 1000 bytes, which shrink to 100; tells how often that was done. */
const createAsking = (capacity: number) => {
  const segments = Array.from({ length: 10 }, (_, id) => ({ id, revised: 0 }) as Segment)
  const cache = createStateCache({
    segments: () => segments,
    version: () => 1,
    kept: { states: () => capacity, columns: () => 0, points: () => 0 },
  } as Pick<StoreReader, 'segments' | 'version' | 'kept'>)
  return () => {
    const done = { collected: 0, shrunk: 0, bytes: 0 }
    const kept = cache.of('asked')
    for (const segment of segments) {
      const [state] = kept.states(
        { segment, kind: 'tx', query: () => 'all' },
        () => {
          done.collected++
          return [{ bytes: 1000 }]
        },
        (states: AggregationState[]) => {
          done.shrunk++
          return states.map(() => ({ bytes: 100 }))
        },
      )
      done.bytes += state!.bytes
    }
    return done
  }
}

test('what is asked for again is kept, smaller', () => {
  const ask = createAsking(100_000)
  assert.deepEqual(ask(), { collected: 10, shrunk: 0, bytes: 10_000 })
  assert.deepEqual(ask(), { collected: 10, shrunk: 10, bytes: 1000 })
  assert.deepEqual(ask(), { collected: 0, shrunk: 0, bytes: 1000 })
})

test('what cannot be kept is not shrunk', () => {
  // Room for three of them.
  const ask = createAsking(1400)
  assert.deepEqual(ask(), { collected: 10, shrunk: 0, bytes: 10_000 })
  assert.deepEqual(ask(), { collected: 10, shrunk: 4, bytes: 6400 })
  assert.deepEqual(ask(), { collected: 7, shrunk: 1, bytes: 6400 })
})

test('an answer is kept until the store changes, if it is not too long and its question lasts', () => {
  let version = 1
  let made = 0
  const answers = createAnswers({ version: () => version })
  const ask = (question: string | undefined, length = 1) =>
    answers.of(question, () => {
      made++
      return String(made).padEnd(length)
    })
  assert.deepEqual([ask('a'), ask('a'), ask('b'), ask('a')], ['1', '1', '2', '1'])
  version = 2
  assert.deepEqual([ask('a'), ask('a')], ['3', '3'])
  assert.notEqual(ask(undefined), ask(undefined))
  assert.notEqual(ask('long', 2 ** 20), ask('long', 2 ** 20))
  // More than there is room for: it begins anew.
  for (let i = 0; i < 40; i++) ask(`${i}`, 200_000)
  assert.notEqual(ask('a'), '3')
})
