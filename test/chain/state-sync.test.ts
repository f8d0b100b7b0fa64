import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { stateSyncHash } from '../../src/chain/blocks/state-sync.ts'
import type { RawBlock, RpcReceipt, RpcTransaction } from '../../src/chain/wire.ts'
import { rangeOf, sourceOf } from '../support/chain-source.ts'
import { fastClock, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const NOBODY = `0x${'0'.repeat(40)}`
/** StateCommitted(uint256 indexed stateId, bool success) of the contract that takes them. */
const COMMITTED = '0x5a22725590b0a51c923940223f7458512164b1113359a735e86e7f27f44791ee'

/** A block of Polygon before Madhugiri with its state-sync transaction in both lists, made by the description of bor. */
const polygonBlock = (raw: RawBlock, logs: number): RawBlock => {
  const { number: blockNumber, hash: blockHash, transactions } = raw.block
  const hash = stateSyncHash(raw.block)
  const placed = { blockHash, blockNumber, transactionIndex: `0x${transactions.length.toString(16)}` }
  const before = raw.receipts.flatMap(receipt => receipt.logs).length
  const tx: RpcTransaction = {
    ...placed,
    hash,
    ...{ from: NOBODY, to: NOBODY, value: '0x0', input: '0x', nonce: '0x0', gas: '0x0', gasPrice: '0x0', type: '0x0' },
  }
  const receipt: RpcReceipt = {
    ...placed,
    transactionHash: hash,
    ...{ from: NOBODY, to: NOBODY, contractAddress: null, status: '0x1', type: '0x0' },
    ...{ gasUsed: '0x0', cumulativeGasUsed: '0x0', effectiveGasPrice: '0x0', logsBloom: `0x${'0'.repeat(512)}` },
    logs: Array.from({ length: logs }, (_, i) => ({
      ...placed,
      address: '0x0000000000000000000000000000000000001001',
      topics: [COMMITTED, `0x${(3_000_000 + i).toString(16).padStart(64, '0')}`],
      data: `0x${'1'.padStart(64, '0')}`,
      transactionHash: hash,
      logIndex: `0x${(before + i).toString(16)}`,
      removed: false,
    })),
  }
  const block = { ...raw.block, transactions: [...transactions, tx] }
  return { ...raw, block, receipts: [...raw.receipts, receipt] }
}

/** Blocks 30 to 34, of which block 32 has one. */
const chain = makeChain({ from: 30, blocks: 5, chainId: 137 }).map(raw =>
  Number(raw.block.number) === 32 ? polygonBlock(raw, 3) : raw,
)

const read = async (t: TestContext, node: { url: string }): Promise<RawBlock[]> => {
  const source = sourceOf(t, node, { clock: fastClock(50), bloom: false })
  return rangeOf(source, 30, 34, { run: 5, signal: AbortSignal.timeout(10_000) })
}

test('the hash is that of a real transaction of Polygon', () => {
  // The example of the tools with which bor's transactions are filled in.
  const block = {
    number: `0x${(74_667_488).toString(16)}`,
    hash: '0x38623e33fa0f94dd9276b7d44ea589608085b56c8fc87950612562b09e18b896',
  }
  assert.equal(stateSyncHash(block), '0xc048ab4888a7d0c044b85e3371b775efbeb7a7b9d93a1d229ee1b039150c3289')
})

type Lie = (call: { method: string; params: unknown[] }, result: unknown) => unknown

const withoutLast: Record<string, Lie> = {
  'in both lists': (_, result) => result,
  'without its receipt': ({ method, params }, result) =>
    method === 'eth_getBlockReceipts' && params[0] === '0x20' ? (result as RpcReceipt[]).slice(0, -1) : result,
  'without its transaction': ({ method, params }, result) =>
    method === 'eth_getBlockByNumber' && params[0] === '0x20'
      ? { ...(result as RawBlock['block']), transactions: (result as RawBlock['block']).transactions.slice(0, -1) }
      : result,
  'in neither list': (call, result) =>
    withoutLast['without its receipt']!(call, withoutLast['without its transaction']!(call, result)),
}

for (const [what, lie] of Object.entries(withoutLast))
  for (const counts of ['on', 'anew'] as const)
    test(`a state-sync transaction ${what} is stored whole, its logs being counted ${counts}`, async t => {
      const node = await startNode(t, chain)
      const anew = (receipt: RpcReceipt): RpcReceipt =>
        receipt.transactionHash === chain[2]!.receipts.at(-1)!.transactionHash && counts === 'anew'
          ? {
              ...receipt,
              logs: receipt.logs.map((log, i) => ({ ...log, transactionIndex: '0x0', logIndex: `0x${i}` })),
            }
          : receipt
      node.lie = (call, result) => {
        const told = lie(call, result)
        if (call.method === 'eth_getBlockReceipts') return (told as RpcReceipt[]).map(anew)
        return call.method === 'eth_getTransactionReceipt' && told !== null ? anew(told as RpcReceipt) : told
      }
      node.methods.set('eth_getTransactionByHash', ([hash]) => {
        const found = chain.flatMap(({ block }) => block.transactions).find(tx => tx.hash === hash)
        return found === undefined ? null : structuredClone(found)
      })
      assert.deepEqual(await read(t, node), chain)
    })

test('a node that does not know the transaction by its hash has it made from its receipt', async t => {
  const node = await startNode(t, chain)
  node.lie = withoutLast['without its transaction']!
  node.methods.set('eth_getTransactionByHash', () => null)
  assert.deepEqual(await read(t, node), chain)
})

test('a block without one is taken as it is, and asked for at most once in 16 blocks', async t => {
  const plain = makeChain({ from: 30, blocks: 5, chainId: 137 })
  const node = await startNode(t, plain)
  assert.deepEqual(await read(t, node), plain)
  assert.equal(node.calls.filter(({ method }) => method === 'eth_getTransactionReceipt').length, 1)
})

test('a receipt of another block is refused, as is a block that lacks another receipt', async t => {
  const node = await startNode(t, chain)
  let refused = 0
  node.lie = (call, result) => {
    const told = withoutLast['in neither list']!(call, result)
    if (call.method === 'eth_getTransactionReceipt' && refused++ < 2) return { ...chain[2]!.receipts[0]! }
    return told
  }
  assert.deepEqual(await read(t, node), chain)
  assert.ok(refused > 2)
  node.lie = ({ method, params }, result) =>
    method === 'eth_getBlockReceipts' && params[0] === '0x21' ? (result as RpcReceipt[]).slice(1) : result
  const source = sourceOf(t, node, { clock: fastClock(50), bloom: false })
  const signal = AbortSignal.timeout(300)
  const range = source.range({ from: 33, to: 33, order: 'oldest', run: 1, signal })
  await assert.rejects(async () => {
    for await (const _ of range);
  })
  assert.match(source.endpoints()[0]!.lastError!, /block 33/)
})
