import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { encodeErrorResult, parseAbi } from 'viem'
import type { RawBlock, RpcTrace } from '../../src/chain/wire.ts'
import type { PatchLine } from '../../src/cluster/ship/sending.ts'
import type { Revision } from '../../src/engine/index/revision.ts'
import type { StoredAbi } from '../../src/ingest/decoding/abis.ts'
import { assertSame, queriesOn } from '../support/contents.ts'
import { memoryCluster } from '../support/memory-cluster.ts'
import { abiOf, NETWORK, setUp } from '../support/redecoding.ts'
import { emptyUpTo, inCluster, same } from '../support/redecoding-cluster.ts'
import { closing, startShipper } from '../support/ship.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

const ADRIFT = parseAbi(['error Adrift(address ship, uint256 fathoms)'])
const SHIP = '0x000000000000000000000000000000abcdef1234'
type Failed = Exclude<RpcTrace, { type: 'reward' }>

/** Blocks of the demo chain in which something failed; whatever reverted there did so with an error that nobody knows. */
const adrift = demoBlocks()
  .filter(({ traces }) => traces?.some(trace => 'error' in trace && trace.error === 'Reverted'))
  .slice(0, 30)
  .map((raw, n): RawBlock => {
    const copy = structuredClone(raw)
    copy.block.number = `0x${(100 + n).toString(16)}`
    for (const [i, trace] of ((copy.traces ?? []) as Failed[]).entries()) {
      if (trace.error !== 'Reverted' || (n + i) % 5 === 0) continue
      const said = encodeErrorResult({ abi: ADRIFT, args: [SHIP, BigInt(n)] })
      const data = n % 7 === 3 ? (said.slice(0, 40) as `0x${string}`) : said
      if (trace.type === 'call') trace.result = { gasUsed: '0x1', output: data }
      else if (trace.type === 'create') trace.result = { gasUsed: '0x1', code: data } as never
    }
    return copy
  })
const failed = adrift.flatMap(({ traces }) => ((traces ?? []) as Failed[]).filter(({ error }) => error === 'Reverted'))
const called = failed.find(({ type, traceAddress }) => type === 'call' && traceAddress.length === 0)!
const contract = (called.action as { to: string }).to.toLowerCase()

const FOR_ALL = abiOf('harbour', 'error Adrift(address ship, uint256 fathoms)\nerror Aground()')
const OF_ONE = abiOf('its', 'error Adrift(address vessel, uint256 depth)', { address: contract, network: NETWORK })
const LIST = abiOf('list', 'function Adrift(address a, uint256 b)', { probability: 0.6 })

/** Stores the blocks, adds the ABIs, decodes again, and holds it against a store that had them from the start. */
const check = async (t: TestContext, first: StoredAbi[], later: StoredAbi[], traces: 'calls' | 'all', took = 0) => {
  const { own, keep, ask, run } = setUp(t)
  for (const abi of first) keep(abi)
  const store = createTestStore(adrift, { own: own(), run: 9, traces })
  // The same in a cluster.
  const shelved = createTestStore(adrift, { own: own(), run: 9, traces })
  const memory = memoryCluster()
  const shipper = startShipper(shelved, memory)
  closing(t, () => shipper, shelved)
  await shipper.rested()
  emptyUpTo(shelved, 115)
  for (const abi of later) {
    keep(abi)
    ask(abi)
  }
  const oracle = createTestStore(adrift, { own: own(), run: 9, traces })
  t.after(() => {
    store.close()
    oracle.close()
  })
  let changes = 0
  const revise = (revision: Revision, write: () => boolean) => {
    changes += revision.txs.length + revision.traces.length
    return write()
  }
  await run(store, { revise, took: () => took })
  assertSame(store, oracle, queriesOn(oracle, 4))
  for (const abi of later) ask(abi)
  const patch = async (lines: readonly PatchLine[]) => ({ done: await shipper.patch(lines) })
  await run(shelved, { revise, took: () => took, ...inCluster(shelved, memory, patch) })
  same(shelved, memory, oracle)
  return { store, changes }
}

describe('failures that are decoded anew', () => {
  it('are as if the ABI had been there from the start, in transactions, steps and calls', async t => {
    const { store, changes } = await check(t, [], [FOR_ALL], 'all')
    assert.ok(changes > 40, `${changes}`)
    const find = (kind: 'tx' | 'trace' | 'call') =>
      store.all(kind).filter(({ _source }) => _source.revertName === 'Adrift')
    const reason = /^Adrift\(ship=0x0+abcdef1234, fathoms=\d+\)$/i
    for (const kind of ['tx', 'trace', 'call'] as const) {
      const found = find(kind)
      assert.ok(found.length > 10, `${kind}: ${found.length}`)
      for (const { _source } of found) assert.match(String(_source.revertReason), reason)
    }
    for (const { _source } of find('tx')) assert.equal(_source.error, _source.revertReason)
  })

  it('by the ABI of one contract, which goes before those for all; one document at a time', async t => {
    const { store } = await check(t, [FOR_ALL], [OF_ONE], 'all', 10_000)
    const reasons = store.all('tx').map(({ _source }) => String(_source.revertReason))
    assert.ok(reasons.some(reason => reason.includes('vessel=')) && reasons.some(reason => reason.includes('ship=')))
  })

  it('by a list of signatures, where nothing surer is known', async t => {
    const { changes } = await check(t, [], [LIST], 'all')
    assert.ok(changes > 40)
    assert.equal((await check(t, [FOR_ALL], [LIST], 'all')).changes, 0)
  })

  it('where only steps that call functions are kept', async t => {
    const { changes } = await check(t, [], [FOR_ALL], 'calls')
    assert.ok(changes > 40)
  })
})
