import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAbiFinder, readCode } from '../../src/decode/abi-finder.ts'
import type { LinksOf, OwnAbi } from '../../src/decode/declarations.ts'
import { codeOf } from '../support/deploy.ts'

const [A, B, C] = ['aa', 'bb', 'cc'].map(byte => `0x${byte.repeat(20)}`) as [string, string, string]
const CODE_C = `0x${'3'.repeat(64)}`

test("a contract's ABI is the nearest one that was given, and else what its selectors tell", () => {
  const code = readCode(codeOf('Plain'))
  const abi = (name: string, holder: { address?: string; codeHash?: string }): OwnAbi & { name: string } => ({
    ...{ name, address: null, probability: 1, events: [], functions: [] },
    ...holder,
  })
  /** B runs the code of C from position 5 on. */
  const linksOf: LinksOf = (address, at) =>
    [{ address, codeHash: null }, ...(at >= 5 ? [{ address: C, codeHash: CODE_C }] : [])].slice(0, 2)
  const nearest = [
    { ...abi('its', { address: A }), source: 'address' },
    { ...abi('code', { codeHash: code.hash }), source: 'codeHash' },
    { ...abi('next', { address: B }), source: 'implementation' },
    { ...abi('last', { address: C }), source: 'implementation' },
    { ...abi('lastCode', { codeHash: CODE_C }), source: 'implementation' },
  ]
  const contract = { address: A.toUpperCase().replace('0X', '0x'), code, implementation: B }
  const signatures = { name: null, source: 'signatures', probability: 0.9 }
  for (const [i, { name, source }] of nearest.entries()) {
    const find = createAbiFinder([abi('others', {}), ...nearest.slice(i).reverse()], () => true, linksOf)
    assert.deepEqual(find(contract), { name, source, probability: 1 })
  }
  const far = createAbiFinder(nearest.slice(3), () => true, linksOf)
  assert.deepEqual(far(contract, 4), signatures)
  assert.deepEqual(far({ ...contract, implementation: null }), signatures)
  const none = createAbiFinder([], () => false, linksOf)
  assert.deepEqual(none({ ...contract, code: null }), { name: null, source: null, probability: null })
})
