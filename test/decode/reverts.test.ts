import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeErrorResult, parseAbi } from 'viem'
import { createErrors, createRevertDecoder } from '../../src/decode/reverts.ts'

const A = `0x${'a'.repeat(40)}`
const registry = createErrors('# errors\n0x118cdaa7 OwnableUnauthorizedAccount(address account)\n')
const abi = parseAbi(['error Error(string message)', 'error Panic(uint256 code)', 'error TooPoor(uint256 have)'])
const tooPoor = { name: 'TooPoor', inputs: [{ name: 'have', type: 'uint256' }] }
const own = { address: null, probability: 1, events: [], functions: [], errors: [tooPoor] }

test('what contracts revert with is decoded by ABIs, by the registry and by what Solidity itself has', () => {
  const decode = createRevertDecoder(registry, [own])
  const poor = encodeErrorResult({ abi, errorName: 'TooPoor', args: [7n] })
  const cases: [data: string, expected: ReturnType<typeof decode>][] = [
    ['0x', null],
    [poor, { name: 'TooPoor', reason: 'TooPoor(have=7)' }],
    [poor.slice(0, -2), { name: null, reason: null }],
    ['0x12345678', { name: null, reason: null }],
    ['0x12', { name: null, reason: null }],
    [
      `0x118cdaa7${'0'.repeat(24)}${'a'.repeat(40)}`,
      {
        name: 'OwnableUnauthorizedAccount',
        reason: 'OwnableUnauthorizedAccount(account=0xaAaAaAaaAaAaAaaAaAAAAAAAAaaaAaAaAaaAaaAa)',
      },
    ],
    [
      encodeErrorResult({ abi, errorName: 'Error', args: ['no\u202e "way"'] }),
      { name: 'Error', reason: 'no\\u202e "way"' },
    ],
    [
      encodeErrorResult({ abi, errorName: 'Panic', args: [0x12n] }),
      { name: 'Panic', reason: 'Panic(0x12): division or modulo by zero' },
    ],
    [
      encodeErrorResult({ abi, errorName: 'Panic', args: [0x99n] }),
      { name: 'Panic', reason: 'Panic(0x99): unknown code' },
    ],
  ]
  for (const [data, expected] of cases) assert.deepEqual(decode(A, data), expected, data)
})

test('errors of an ABI for one contract are not those of others', () => {
  const decode = createRevertDecoder(registry, [{ ...own, address: A }])
  const data = encodeErrorResult({ abi, errorName: 'TooPoor', args: [7n] })
  assert.deepEqual(decode(A, data), { name: 'TooPoor', reason: 'TooPoor(have=7)' })
  assert.deepEqual(decode(`0x${'b'.repeat(40)}`, data), { name: null, reason: null })
})

test('a broken line is told with its number', () => {
  assert.throws(() => createErrors('# x\nnonsense'), /data\/errors\.txt, line 2/)
})
