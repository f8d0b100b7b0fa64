import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RawBlock, RpcLog } from '../../../src/chain/wire.ts'
import { filterText } from '../../../src/scopes/filter.ts'
import { numberOf } from '../../support/contents.ts'
import { makeChain } from '../../support/pack.ts'
import { setUpScopes } from '../../support/scope-following.ts'
import { blockOf, expectedOf, fits, holdingsIn, scoping } from '../../support/scoped.ts'

test('the head is followed with a scope through a reorganisation and a restart', async t => {
  const first = makeChain({ blocks: 1, from: 50, txs: 0 })
  const other = '0x00000000000000000000000000000000000000aa'
  const wantedLog = { address: '0x00000000000000000000000000000000000000bb', topics: [], data: '0x' as const }
  const otherLog = { ...wantedLog, address: other }
  const chain: RawBlock[] = [...first]
  const grow = (logs: readonly (typeof wantedLog)[]) => void chain.push(blockOf(chain.at(-1)!, logs))
  for (let i = 0; i < 20; i++) grow(i % 3 === 0 ? [otherLog, wantedLog] : [otherLog])
  const { node, store, follow, covered } = await setUpScopes(t, chain)
  const filter = { addresses: [wantedLog.address], topics: [] }
  const wanted = scoping([filter])
  const expected = () => expectedOf(chain, (log: RpcLog) => fits(log, filter))
  await follow(wanted, async reaches => {
    await reaches(numberOf(chain.at(-1)!))
    grow([otherLog, wantedLog])
    grow([otherLog])
    node.extend(chain.slice(-2))
    await reaches(numberOf(chain.at(-1)!))
    assert.deepEqual(holdingsIn(store), expected())
    // The block with what is wanted is left again, and another one holds it.
    chain.splice(-2)
    chain.push(...makeChain({ blocks: 1, txs: 0, parent: chain.at(-1)!, salt: 'fork' }))
    grow([wantedLog, wantedLog])
    grow([otherLog])
    node.extend(chain.slice(-3))
    await reaches(numberOf(chain.at(-1)!))
    assert.deepEqual(holdingsIn(store), expected())
  })
  // The chain leaves what was looked at while nobody follows it.
  chain.splice(-1)
  chain.push(...makeChain({ blocks: 2, txs: 0, parent: chain.at(-1)!, salt: 'later' }))
  grow([wantedLog])
  node.extend(chain.slice(-3))
  await follow(wanted, async reaches => {
    await reaches(numberOf(chain.at(-1)!))
    assert.deepEqual(holdingsIn(store), expected())
  })
  assert.deepEqual(covered().get(filterText(filter)), [{ from: 0, to: numberOf(chain.at(-1)!) }])
})

const word = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}` as const
const CREATED = `0x${'c'.repeat(64)}` as const
const SWAP = `0x${'5'.repeat(64)}` as const
const FACTORY = '0x00000000000000000000000000000000000000fa'
const pair = (n: number) => `0x${n.toString(16).padStart(40, '7')}` as const
const names = (n: number) => ({ address: FACTORY, topics: [CREATED], data: word(pair(n)) })
const swap = (n: number) => ({ address: pair(n), topics: [SWAP], data: '0x' as const })

test('children of a factory count from their event on, in the past and at the head', async t => {
  const chain: RawBlock[] = makeChain({ blocks: 1, from: 0, txs: 0 })
  const grow = (logs: Parameters<typeof blockOf>[1]) => void chain.push(blockOf(chain.at(-1)!, logs))
  grow([swap(1)])
  grow([swap(1), names(1), swap(1), swap(2)])
  grow([swap(1), swap(2)])
  grow([names(2), swap(2), swap(3)])
  for (let i = 0; i < 8; i++) grow([swap(1), swap(3)])
  const { node, store, asked, follow } = await setUpScopes(t, chain)
  const factory = { addresses: [FACTORY], topic: CREATED, place: { word: 0 } }
  const expected = () => {
    const born = new Map<string, number>()
    for (const raw of chain)
      for (const { logs } of raw.receipts)
        for (const { address, data } of logs) if (address === FACTORY) born.set(`0x${data.slice(26)}`, numberOf(raw))
    return expectedOf(
      chain,
      ({ address, blockNumber }) =>
        address === FACTORY || (born.get(address) ?? Number.POSITIVE_INFINITY) <= Number(blockNumber),
    )
  }
  const wanted = scoping([{ factory }])
  const grown = async (logs: Parameters<typeof blockOf>[1], reaches: (number: number) => Promise<void>) => {
    grow(logs)
    node.extend(chain.slice(-1))
    await reaches(numberOf(chain.at(-1)!))
  }
  await follow(wanted, async reaches => {
    await reaches(numberOf(chain.at(-1)!))
    assert.deepEqual(holdingsIn(store), expected())
    await grown([swap(1), swap(4)], reaches)
    await grown([names(4), swap(4), swap(5)], reaches)
    await grown([swap(4), swap(5)], reaches)
    assert.deepEqual(holdingsIn(store), expected())
  })
  grow([swap(4), names(5)])
  for (let i = 0; i < 6; i++) grow([swap(4), swap(5)])
  node.extend(chain.slice(-7))
  await follow(wanted, async reaches => {
    await reaches(numberOf(chain.at(-1)!))
    assert.deepEqual(holdingsIn(store), expected())
  })
  for (const { addresses, from } of asked)
    if (addresses.includes(pair(1))) assert.ok(from >= 2, 'a child was asked for before its event')
})
