import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Hex, RawBlock } from '../../src/chain/wire.ts'
import { creationsIn } from '../../src/documents/contracts.ts'
import { makeChain } from '../support/pack.ts'
import { type Act, traceBlock } from '../support/traces.ts'

const at = (id: number): Hex => `0x${(0xabc000 + id).toString(16).padStart(40, '0')}`

const acts = fc.letrec<{ act: Act }>(tie => ({
  act: fc.record({
    kind: fc.constantFrom('call', 'delegatecall', 'staticcall', 'create', 'create2'),
    to: fc.nat(9).map(at),
    output: fc.constantFrom('0x', '0x6001'),
    error: fc.constantFrom(undefined, undefined, undefined, 'Reverted', 'Out of gas'),
    acts: fc.oneof({ depthSize: 'medium' }, fc.constant([]), fc.array(tie('act'), { maxLength: 4 })),
  }) as fc.Arbitrary<Act>,
})).act

/** Step by step, as it is executed: what fails takes all inside of it along. */
const created = (act: Act, place: { tx: number; from: string }): { address: string; creator: string; tx: number }[] => {
  const { kind, to, error, acts = [] } = act
  if (error !== undefined) return []
  const isCreate = kind.startsWith('create')
  const self = kind === 'delegatecall' ? place.from : to
  const inside = acts.flatMap(inner => created(inner, { ...place, from: self }))
  return isCreate ? [{ address: to, creator: place.from, tx: place.tx }, ...inside] : inside
}

test('what a block creates is what its steps create, but for those that fail or are inside of one that does', () => {
  let most = 0
  fc.assert(
    fc.property(fc.array(acts, { minLength: 3, maxLength: 3 }), tops => {
      const [raw] = makeChain({ blocks: 1, txs: 3 }) as [RawBlock]
      raw.traces = traceBlock(raw, tops)
      const found = creationsIn(raw)
      const due = tops.flatMap((top, tx) => created(top, { tx, from: raw.block.transactions[tx]!.from }))
      most = Math.max(most, due.length)
      assert.deepEqual(
        found.map(({ address, creator, tx }) => ({ address, creator, tx })),
        due,
      )
    }),
    { numRuns: 300, seed: 1 },
  )
  assert.ok(most > 3)
})

test('without traces, what transactions create that did not fail', () => {
  const [raw] = makeChain({ blocks: 1, txs: 5 }) as [RawBlock]
  const status = ['0x1', '0x0', true, false, undefined]
  for (const [i, receipt] of raw.receipts.entries())
    Object.assign(receipt, { contractAddress: at(i), status: status[i] })
  assert.deepEqual(
    creationsIn(raw).map(({ address, tx, code }) => [address, tx, code]),
    [0, 2, 4].map(i => [at(i), i, undefined]),
  )
})

test('what a contract passed its calls on to while it was created is known in whatever letter case nodes write', () => {
  const [raw] = makeChain({ blocks: 1, txs: 1 }) as [RawBlock]
  const proxy: Act = { kind: 'create', to: at(1), acts: [{ kind: 'delegatecall', to: at(2) }] }
  raw.traces = traceBlock(raw, [proxy])
  for (const { result } of raw.traces)
    if (result && 'address' in result) result.address = `0x${result.address!.slice(2).toUpperCase()}`
  assert.equal(creationsIn(raw)[0]!.delegate, at(2))
})
