import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeAbiParameters } from 'viem'
import type { JsonObject } from '../../src/console/api/json.ts'
import type { Hit } from '../../src/console/api/wire.ts'
import { elementsOf, integerOf, moves, stepsOf, utf8Of, wordsOf } from '../../src/console/pages/things/read.ts'

const hit = (_type: string, _source: JsonObject): Hit => ({
  _index: '',
  _type,
  _id: String(_source.traceAddress),
  _source,
})

test('plain lists of arguments are read as they were encoded; nothing else is taken for one', () => {
  const values = [1n, 2n ** 256n - 1n, 0n]
  const encoded = encodeAbiParameters([{ type: 'uint256[]' }], [values])
  assert.deepEqual(elementsOf('uint256[]', encoded), values.map(String))
  assert.deepEqual(elementsOf('int256[]', encoded), ['1', '-1', '0'])
  assert.deepEqual(elementsOf('address[]', encodeAbiParameters([{ type: 'address[]' }], [[`0x${'ab'.repeat(20)}`]])), [
    `0x${'ab'.repeat(20)}`,
  ])
  assert.deepEqual(elementsOf('bool[2]', encodeAbiParameters([{ type: 'bool[2]' }], [[true, false]])), [
    'true',
    'false',
  ])
  for (const [type, hex] of [
    ['uint256[]', encoded.slice(0, -2)],
    ['uint256[]', encoded.slice(0, -64)],
    ['uint256[]', '0x'],
    ['(address,uint256)[]', encoded],
    ['uint256[][]', encoded],
    ['string', '0x41'],
  ] as const)
    assert.equal(elementsOf(type, hex), undefined, type)
})

test('integers keep their sign and digits, words their order, and text what is not UTF-8', () => {
  assert.equal(integerOf('uint256', `0x${'f'.repeat(64)}`), 2n ** 256n - 1n)
  assert.equal(integerOf('int8', '0xff'), -1n)
  assert.equal(integerOf('int256', `0x${'f'.repeat(64)}`), -1n)
  assert.equal(integerOf('address', '0x01'), undefined)
  assert.deepEqual(wordsOf(`0xaabbccdd${'1'.repeat(64)}22`, 4), ['1'.repeat(64), '22'])
  assert.equal(utf8Of('0x4142ff'), 'AB\ufffd')
})

test('steps come in the order of execution, with what failed and what was undone', () => {
  const amount = (raw: string) => ({ raw })
  const trace = (traceAddress: number[], more: JsonObject = {}) =>
    hit('trace', { traceAddress, callType: 'call', action: { value: amount('0x1') }, ...more })
  const call = (traceAddress: number[], more: JsonObject = {}) =>
    hit('call', { traceAddress, callType: 'call', method: 'f', args: [], value: amount('0x1'), ...more })
  const tx = { from: '0x1', to: '0x2', value: amount('0x1'), status: true }
  const shown = (steps: ReturnType<typeof stepsOf>) =>
    steps.map(step => [step.path.join('.'), step.method ?? null, step.error ?? null, step.isUndone, moves(step)])
  assert.deepEqual(
    shown(
      stepsOf(
        tx,
        [trace([10]), trace([2, 0]), trace([2], { error: 'Reverted', revertReason: 'no' }), trace([]), trace([0])],
        [call([2, 0]), call([])],
      ),
    ),
    [
      ['', 'f', null, false, true],
      ['0', null, null, false, true],
      ['2', null, 'Reverted: no', false, false],
      ['2.0', 'f', null, true, false],
      ['10', null, null, false, true],
    ],
  )
  // Without traces there are the transaction and its call.
  assert.deepEqual(shown(stepsOf(tx, [], [])), [['', null, null, false, true]])
  assert.deepEqual(shown(stepsOf({ ...tx, status: false, error: 'no' }, [], [call([], { reverted: true })])), [
    ['', 'f', 'no', false, false],
  ])
})
