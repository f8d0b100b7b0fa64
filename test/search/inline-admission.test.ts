import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createInlineAdmission, queryShape } from '../../src/search/inline-admission.ts'

const [A, B] = [1, 2]
const [cheap, dear] = [() => 'cheap', () => 'dear']

const setUp = () => {
  const clock = { now: 0 }
  const credit = createInlineAdmission(() => clock.now)
  /** What a turn of the event loop and a while later leave behind. */
  const pass = async (ms: number) => {
    await nextTurn()
    clock.now += ms
  }
  return { credit, pass }
}

test('a query that is handed over each time is hardly ever tried', async () => {
  const { credit, pass } = setUp()
  let tried = 0
  for (let i = 0; i < 1_000; i++) {
    await pass(100)
    if (!credit.mayTry(A, dear)) continue
    tried++
    credit.handedOver(A, dear, 2)
  }
  assert.equal(tried, 6 + Math.floor((1_000 - (1 + 2 + 4 + 8 + 16 + 32)) / 64))
  assert.ok(credit.mayTry(A, cheap))
})

test('a query that turns out to be cheap is tried each time again', async () => {
  const { credit, pass } = setUp()
  for (let i = 0; i < 1_000; i++) {
    await pass(100)
    if (credit.mayTry(A, dear)) credit.handedOver(A, dear, 2)
  }
  const tries: number[] = []
  for (let i = 0; i < 200; i++) {
    await pass(100)
    if (!credit.mayTry(A, dear)) continue
    credit.answered(dear, 0.1)
    tries.push(i)
  }
  const [first = 0] = tries
  assert.ok(first < 64)
  assert.equal(tries.length, 200 - first)
})

test('an account that has each of its queries handed over loses the main thread little time, and others none', async () => {
  const { credit, pass } = setUp()
  let lost = 0
  for (let i = 0; i < 10_000; i++) {
    await pass(1)
    const shape = () => `dear ${i}`
    if (!credit.mayTry(A, shape)) continue
    lost += 2
    credit.handedOver(A, shape, 2)
    assert.ok(credit.mayTry(B, cheap))
  }
  assert.ok(lost > 950 && lost < 1_100, `lost ${lost} of 10000 ms`)
})

test('many accounts together do not take much more', async () => {
  const { credit, pass } = setUp()
  let lost = 0
  for (let i = 0; i < 10_000; i++) {
    await pass(1)
    const shape = () => `dear ${i}`
    if (!credit.mayTry(i % 100, shape)) continue
    lost += 2
    credit.handedOver(i % 100, shape, 2)
  }
  assert.ok(lost > 2_400 && lost < 2_650, `lost ${lost} of 10000 ms`)
})

test('what was answered again and again is tried also for an account that has lost its share', async () => {
  const { credit, pass } = setUp()
  credit.handedOver(A, dear, 2)
  await pass(1_000)
  const often = () => 'often'
  for (let i = 0; i < 8; i++) credit.answered(often, 0.1)
  credit.answered(cheap, 0.1)
  for (let i = 0; i < 20; i++) credit.handedOver(A, () => `dear ${i}`, 2)
  assert.ok(credit.mayTry(A, often))
  assert.ok(!credit.mayTry(A, cheap))
  assert.ok(!credit.mayTry(A, () => 'never seen'))
  assert.ok(credit.mayTry(B, cheap))
  credit.handedOver(A, often, 2)
  assert.ok(!credit.mayTry(A, often))
})

test('a shape whose queries take long again and again is long, and no more once they are short', () => {
  const { credit } = setUp()
  const long = () => 'long'
  const short = () => 'short'
  const times = (count: number, shape: () => string, ms: number) => {
    for (let i = 0; i < count; i++) credit.answered(shape, ms)
  }
  times(1, long, 50)
  times(1, short, 0.2)
  assert.deepEqual([credit.isLong(long), credit.isLong(short)], [false, false])
  times(5, long, 1.6)
  times(5, short, 0.2)
  assert.deepEqual([credit.isLong(long), credit.isLong(short)], [true, false])
  // Now and then one of them is answered all the same.
  const passed = Array.from({ length: 160 }, () => credit.isLong(long)).filter(Boolean).length
  assert.equal(passed, 150)
  times(5, long, 0.2)
  assert.equal(credit.isLong(long), false)
})

test('queries that differ in numbers, hashes and white space alone have one shape', () => {
  const shape = (body: string, target = 'store tx') => queryShape(target, body)
  const one = shape('{"query":{"term":{"hash":"0xab12"}},"size":3}')
  assert.equal(shape('{"query":{"term":{"hash":"0xFF"}},"size":10}'), one)
  assert.equal(shape('{"query": {"term":\n\t{"hash": "0xFF"}}, "size": 10} \r'), one)
  assert.notEqual(shape('{"query":{"term":{"from":"0xab12"}},"size":3}'), one)
  assert.notEqual(shape('{"query":{"term":{"hash":"0xab12"}},"size":3}', 'store log'), one)
  assert.notEqual(shape('{"query":{"term":{"hash":"0xab12"}},"from":3}'), one)
})
