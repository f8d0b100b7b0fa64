import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mutations, randomMutations } from '../../scripts/attack/mutate-block.ts'
import { generateBlocks } from '../../scripts/bench/generate.ts'
import { createRandom } from '../../scripts/lib/random.ts'
import { createShapeReader } from '../../src/chain/check/read-shape.ts'
import { PACKED } from '../../src/chain/check/schema.ts'
import * as is from '../../src/chain/check/shape.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { hasMainnet, makeChain } from '../support/pack.ts'
import { fullBlock } from '../support/rich.ts'
import { mainnetBlocks } from '../support/store.ts'

// The oracle is JSON.parse with the shape: what is read is the same, and what the shape refuses is not read.

const randomOf = (seed: number) => {
  const random = createRandom()
  random.seek(seed, 0, 0, 0)
  return () => random.unit()
}

const parsed = (shape: is.Shape, text: string, limits = DEFAULT_LIMITS): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return shape(value, limits) === undefined ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether it was read, by a new reader or by one that knows the usual order of members. */
const agrees = (text: string, read = createShapeReader(PACKED, DEFAULT_LIMITS), shape = PACKED): boolean => {
  const value = read(Buffer.from(text))
  if (value !== undefined) {
    assert.deepEqual(value, parsed(shape, text), text.slice(0, 200))
    assert.equal(JSON.stringify(value), JSON.stringify(JSON.parse(text)))
  }
  return value !== undefined
}

test('blocks are read as JSON.parse reads them, whatever their order of members', { timeout: 60_000 }, () => {
  const reader = createShapeReader(PACKED, DEFAULT_LIMITS)
  const all = [
    ...makeChain({ blocks: 3, txs: 4, logs: 3 }),
    ...generateBlocks({ seed: 3, count: 4 }),
    ...generateBlocks({ seed: 4, count: 2, traces: true }),
    ...(hasMainnet ? mainnetBlocks() : []),
  ]
  for (const raw of all) {
    const { traces, ...others } = raw
    assert.ok(agrees(JSON.stringify({ ...others, ...(traces && { traces }) }), reader))
    const turned = { receipts: raw.receipts.map(reversed), chainId: 1, block: reversed(raw.block) }
    assert.ok(agrees(JSON.stringify(turned), reader))
  }
})

const reversed = (value: object): object => Object.fromEntries(Object.entries(value).reverse())

test('what the shape refuses is not read, and what it takes is the same', () => {
  const full = { ...fullBlock(), traces: undefined }
  const plain = makeChain({ blocks: 1, txs: 3, logs: 2 })[0]!
  let taken = 0
  let all = 0
  let reader = createShapeReader(PACKED, DEFAULT_LIMITS)
  for (const { raw } of [...mutations(full, randomOf(1)), ...randomMutations(plain, randomOf(2), 1000, 0.3)]) {
    if (all++ % 50 === 0) reader = createShapeReader(PACKED, DEFAULT_LIMITS)
    assert.ok(agrees(JSON.stringify(plain), reader))
    if (agrees(JSON.stringify(raw), reader)) taken++
  }
  assert.ok(taken > all / 10 && taken < all, `${taken} of ${all}`)
})

test('text that is not quite JSON is not read', () => {
  const text = JSON.stringify(makeChain({ blocks: 1, txs: 2, logs: 2 })[0])
  const random = randomOf(5)
  const reader = createShapeReader(PACKED, DEFAULT_LIMITS)
  for (let i = 0; i < 4000; i++) {
    const at = Math.floor(random() * text.length)
    const broken = [
      text.slice(0, at),
      text.slice(0, at) + text.slice(at + 1),
      text.slice(0, at) + '"{}[],:\\0x \n-.etnf\u0001\u007f'[Math.floor(random() * 22)] + text.slice(at + 1),
    ][i % 3]!
    agrees(broken, reader)
    assert.ok(agrees(text, reader))
  }
})

test('members that are not known, numbers and names', () => {
  const shape = is.open({
    a: is.optional(is.quantity),
    b: is.optional(is.list(is.address, 2)),
    c: is.optional(is.outcome),
  })
  const limits = { ...DEFAULT_LIMITS, extraMembers: 40 }
  const cases: [text: string, isRead: boolean][] = [
    ['{"x":1}', true],
    ['{"x":[],"y":["z",true,false,null,-7]}', true],
    ['{"x":900719925474099}', true],
    ['{"x":9007199254740993}', false],
    ['{"x":-0}', false],
    ['{"x":01}', false],
    ['{"x":1.5}', false],
    ['{"x":{"y":1}}', false],
    ['{"x":"é"}', false],
    ['{"x":"\\u0041"}', false],
    ['{"__proto__":null}', false],
    ['{"2":1,"1":2}', false],
    ['{"a":"0x1","a":"0x2"}', false],
    ['{"a":"0x"}', true],
    ['{"a":"0x0g"}', false],
    ['{"a":1}', false],
    ['{"a":null,"c":"0x1"}', true],
    ['{"c":"0x2"}', false],
    [`{"b":["0x${'aB'.repeat(20)}","0x${'aB'.repeat(20)}"]}`, true],
    [`{"b":["0x${'aB'.repeat(20)}","0x${'aB'.repeat(19)}aG"]}`, false],
    [`{"b":["0x${'ab'.repeat(20)}","0x${'ab'.repeat(20)}","0x${'ab'.repeat(20)}"]}`, false],
    [`{"x":"${'y'.repeat(60)}"}`, false],
    ['{"a": "0x1"}', false],
    ['{"a":"0x1"} ', false],
    ['{"a":"0x1"}}', false],
    ['{}', false],
    ['', false],
  ]
  for (const [text, isRead] of cases) {
    const reader = createShapeReader(shape, limits)
    reader(Buffer.from('{"a":"0x3"}'))
    assert.equal(agrees(text, reader, shape), isRead, text)
  }
})

test('a reader gives up where nothing is as it expects', () => {
  const reader = createShapeReader(is.open({ a: is.quantity }), DEFAULT_LIMITS)
  const read = (text: string) => reader(Buffer.from(text))
  for (let i = 0; i < 10; i++) assert.equal(read('{ "a": "0x1" }'), undefined)
  assert.deepEqual(read('{"a":"0x1"}'), { a: '0x1' })
  for (let i = 0; i < 20; i++) assert.equal(read('{ "a": "0x1" }'), undefined)
  assert.equal(read('{"a":"0x1"}'), undefined)
})
