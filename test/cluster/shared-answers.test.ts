import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSharedAnswers } from '../../src/cluster/cluster-answer-cache.ts'
import type { StoreAnswer } from '../../src/search/store.ts'

const whole = (text = '{}'): StoreAnswer => ({ status: 200, body: new Uint8Array(Buffer.from(text)) })

/** Clients that ask one question; each answer is given by hand. */
const setUp = () => {
  const shared = createSharedAnswers()
  const asked: { resolve(answer: StoreAnswer): void; reject(error: Error): void; signal: AbortSignal }[] = []
  const ask = (key = 'a') => {
    const leaving = new AbortController()
    const found = shared(key, leaving.signal, signal => {
      const { promise, resolve, reject } = Promise.withResolvers<StoreAnswer>()
      signal.addEventListener('abort', () => reject(signal.reason))
      asked.push({ resolve, reject, signal })
      return promise
    })
    // It may end before anybody looks.
    found.catch(() => {})
    return { found, leave: () => leaving.abort(new Error('left')) }
  }
  return { ask, asked }
}

test('who asks the same at the same time gets the same answer', async () => {
  const { ask, asked } = setUp()
  const all = [ask(), ask(), ask('b'), ask()]
  assert.equal(asked.length, 2)
  const [a, b] = [whole('a'), whole('b')]
  asked[0]!.resolve(a)
  asked[1]!.resolve(b)
  assert.deepEqual(await Promise.all(all.map(({ found }) => found)), [a, a, b, a])
  const later = ask()
  assert.equal(asked.length, 3)
  asked[2]!.resolve(b)
  assert.equal(await later.found, b)
})

test('who leaves does not take the answer away from others, whoever began', async () => {
  const { ask, asked } = setUp()
  const [first, second, third] = [ask(), ask(), ask()]
  first.leave()
  third.leave()
  await assert.rejects(first.found, /left/)
  await assert.rejects(third.found, /left/)
  assert.equal(asked[0]!.signal.aborted, false)
  asked[0]!.resolve(whole())
  assert.deepEqual(await second.found, whole())
})

test('where all leave the cluster is no longer asked, and who comes then asks anew', async () => {
  const { ask, asked } = setUp()
  const all = [ask(), ask()]
  for (const { leave } of all) leave()
  for (const { found } of all) await assert.rejects(found, /left/)
  assert.equal(asked[0]!.signal.aborted, true)
  const next = ask()
  assert.equal(asked.length, 2)
  asked[1]!.resolve(whole())
  assert.deepEqual(await next.found, whole())
})

test('what fails for one may not fail for another', async () => {
  const { ask, asked } = setUp()
  const [first, second] = [ask(), ask()]
  asked[0]!.reject(new Error('too many streams'))
  await assert.rejects(first.found, /too many/)
  await nextTurn()
  asked[1]!.resolve(whole())
  assert.deepEqual(await second.found, whole())
})

test('an answer in parts, that of a cursor and one that is no answer are for who asked first', async () => {
  const others: StoreAnswer[] = [
    { status: 200, body: new ReadableStream() },
    { ...whole(), cursor: {} as StoreAnswer['cursor'] },
    { ...whole(), status: 404 },
  ]
  for (const other of others) {
    const { ask, asked } = setUp()
    const [first, second] = [ask(), ask()]
    asked[0]!.resolve(other)
    assert.equal(await first.found, other)
    await nextTurn()
    assert.equal(asked.length, 2)
    asked[1]!.resolve(whole())
    assert.deepEqual(await second.found, whole())
  }
})

test('parts that nobody waits for are given up', async () => {
  const { ask, asked } = setUp()
  const [first, second] = [ask(), ask()]
  let cancelled = 0
  first.leave()
  asked[0]!.resolve({
    status: 200,
    body: new ReadableStream(),
    pieces: { next: async () => undefined, cancel: () => cancelled++, signal: new AbortController().signal },
  })
  await nextTurn()
  assert.equal(cancelled, 1)
  asked[1]!.resolve(whole())
  assert.deepEqual(await second.found, whole())
})
