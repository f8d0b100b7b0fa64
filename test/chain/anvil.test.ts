import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRpcSource, type RpcSourceOptions } from '../../src/chain/rpc-source.ts'
import type { ChainSource } from '../../src/chain/source.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { never, rangeOf } from '../support/chain-source.ts'

const skip = anvilPath === undefined

/**
 * Emits one log with the topic 0x…2a and the call's value as data for each call: its code is CALLVALUE MSTORE(0) LOG1(0, 32, 42);
 * its constructor returns that.
 */
const EMITTER = '0x600b600c600039600b6000f334600052602a60206000a100'
/** Reverts with no data. */
const REVERTER = '0x6005600c60003960056000f360006000fd'

const setUp = async (t: TestContext) => {
  const anvil = await startAnvil(t)
  const { contractAddress: emitter } = await anvil.send({ data: EMITTER })
  const emit = (value: number) => anvil.send({ to: emitter, value: `0x${value.toString(16)}`, gas: '0x186a0' })
  const source = (options: Partial<RpcSourceOptions> = {}) => {
    const made = createRpcSource({ urls: [anvil.url], ...options })
    t.after(() => made.close())
    return made
  }
  return { anvil, from: anvil.from, emitter, emit, source }
}

/** Follows into a list of blocks; `told` has what happened in short. */
const startFollowing = (t: TestContext, source: ChainSource) => {
  const controller = new AbortController()
  const held: RawBlock[] = []
  const told: string[] = []
  const refOf = (raw: RawBlock | undefined) => raw && { number: Number(raw.block.number), hash: raw.block.hash }
  const following = (async () => {
    const events = source.follow({
      from: 0,
      stored: number => refOf(held[number]),
      tip: undefined,
      finality: 64,
      signal: controller.signal,
    })
    for await (const event of events) {
      told.push(event.type === 'block' ? `${Number(event.block.block.number)}` : `back to ${event.to}`)
      if (event.type === 'block') held[Number(event.block.block.number)] = event.block
      else held.length = event.to + 1
    }
  })()
  following.catch(() => {})
  t.after(async () => {
    controller.abort()
    await assert.rejects(following, { name: 'AbortError' })
  })
  const until = async (isTrue: () => boolean) => {
    const end = Date.now() + 120_000
    while (!isTrue()) {
      assert.ok(Date.now() < end, `told ${told.join(' ')}; ${JSON.stringify(source.endpoints())}`)
      await Promise.race([pause(10), following])
    }
  }
  return { held, told, until }
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

test('back-fill from a real node: every block is consistent', { skip }, async t => {
  const { emit, emitter, ...rest } = await setUp(t)
  const source = rest.source()
  for (let i = 1; i <= 20; i++) await emit(i)
  const head = await source.head(never)
  assert.equal(head, 21)
  const blocks = await rangeOf(source, 0, head)
  assert.deepEqual(
    blocks.map(it => Number(it.block.number)),
    Array.from({ length: 22 }, (_, i) => i),
  )
  const logs = blocks.flatMap(it => it.receipts.flatMap(receipt => receipt.logs))
  assert.deepEqual(
    logs.map(it => [it.address.toLowerCase(), Number(it.topics[0]), Number(it.data)]),
    Array.from({ length: 20 }, (_, i) => [emitter.toLowerCase(), 42, i + 1]),
  )
  assert.equal(blocks[3]!.chainId, 31337)
  assert.equal(source.endpoints()[0]!.lastError, null)
})

test('calls: data, nothing at all, and reverts', { skip }, async t => {
  const { anvil, source } = await setUp(t)
  const { contractAddress: reverter } = await anvil.send({ data: REVERTER })
  const identity = '0x0000000000000000000000000000000000000004'
  const nobody = '0x00000000000000000000000000000000000000aa'
  const calls = [identity, reverter, nobody].map(to => ({ to, data: '0x313ce567' }))
  assert.deepEqual(await source().call!(calls, never), ['0x313ce567', null, '0x'])
})

for (const transport of ['newHeads', 'polling'] as const) {
  test(`following a real node through reorganisations, by ${transport}`, { skip }, async t => {
    const { anvil, from, emitter, emit, ...rest } = await setUp(t)
    const source = rest.source(transport === 'newHeads' ? { wsUrl: anvil.wsUrl, pollMs: 60_000 } : { pollMs: 20 })
    const { held, told, until } = startFollowing(t, source)
    const caughtUp = async () => {
      const head = await anvil.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
      await until(() => held.at(-1)?.block.hash === head.hash)
    }
    await caughtUp()
    for (let i = 0; i < 12; i++) await emit(i)
    await caughtUp()
    assert.equal(told.splice(0).join(' '), '0 1 2 3 4 5 6 7 8 9 10 11 12 13')

    await anvil.call('anvil_reorg', 1, [])
    await emit(100)
    await caughtUp()
    assert.equal(told.splice(0).join(' '), 'back to 12 13 14')

    await anvil.call('anvil_reorg', 7, [[{ from, to: emitter, value: '0x7b', gas: '0x186a0' }, 2]])
    await emit(101)
    await caughtUp()
    assert.equal(told.splice(0).join(' '), 'back to 7 8 9 10 11 12 13 14 15')
    assert.deepEqual(
      held.map(it => it.receipts.flatMap(receipt => receipt.logs.map(log => Number(log.data)))),
      [[], [], [0], [1], [2], [3], [4], [5], [], [], [123], [], [], [], [], [101]],
    )

    // What is held is what a fresh reading of the whole chain gives.
    assert.deepEqual(held, await rangeOf(source, 0, 15))
  })
}

test('a development node that goes back to a snapshot', { skip }, async t => {
  const { anvil, emit, source } = await setUp(t)
  await emit(1)
  const snapshot = await anvil.call('evm_snapshot')
  await emit(2)
  await emit(3)
  const { told, until } = startFollowing(t, source({ pollMs: 20, shrinks: true }))
  await until(() => told.at(-1) === '4')
  await anvil.call('evm_revert', snapshot)
  await until(() => told.at(-1) === 'back to 2')
  await emit(4)
  await until(() => told.at(-1) === '3')
  assert.deepEqual(told, ['0', '1', '2', '3', '4', 'back to 2', '3'])
})
