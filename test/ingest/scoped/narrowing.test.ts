import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RawBlock, RpcLog } from '../../../src/chain/wire.ts'
import type { Scoping, WantedScope } from '../../../src/config/scopes.ts'
import { createStoreLookups } from '../../../src/engine/dictionary-reader.ts'
import { openForReading } from '../../../src/engine/open.ts'
import { verifyContents } from '../../../src/engine/verify.ts'
import { countOutside } from '../../../src/ingest/jobs/narrow.ts'
import { scopesAt } from '../../../src/ingest/jobs/scopes.ts'
import type { IndexJob } from '../../../src/ingest/messages.ts'
import { askToNarrow, isPruneAsked } from '../../../src/ingest/requests.ts'
import { openStoredBlocks } from '../../../src/ingest/scoped/partial-blocks.ts'
import { mergeRanges, type Range } from '../../../src/lib/ranges.ts'
import { filterOf } from '../../../src/scopes/filter.ts'
import { using } from '../../support/contents.ts'
import { folderToIndex, indexIn, indexJob, readStore, serveContracts } from '../../support/indexing.ts'
import { startNode } from '../../support/node.ts'
import { makeChain } from '../../support/pack.ts'
import {
  assertAskedOnce,
  blockOf,
  fits,
  holdingsIn,
  random,
  scoping,
  serveLogs,
  unevenChain,
} from '../../support/scoped.ts'
import { createTestStore } from '../../support/store.ts'
import { partiesIn, serveTraceFilter } from '../../support/transactions.ts'

const word = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}` as const
const CREATED = `0x${'c'.repeat(64)}` as const
const SWAP = `0x${'5'.repeat(64)}` as const
const FACTORY = '0x00000000000000000000000000000000000000fa'
const pair = (n: number) => `0x${n.toString(16).padStart(40, '7')}` as const
const names = (n: number) => ({ address: FACTORY, topics: [CREATED], data: word(pair(n)) })
const swap = (n: number) => ({ address: pair(n), topics: [SWAP], data: '0x' as const })

const setUp = async (t: TestContext, chain: readonly RawBlock[]) => {
  const node = await startNode(t, chain)
  serveContracts(node)
  const asked = serveLogs(node)
  const head = Number(chain.at(-1)!.block.number)
  const makeStore = async () => {
    const { data, store } = await folderToIndex(t)
    const start = (job: IndexJob) => indexIn(t, data, job, { storeBatch: 7 })
    return {
      ...{ store, start },
      index: (wanted: Scoping) => start(indexJob(node, { order: 'oldest', finality: 1, scoping: wanted })).ended,
      narrow({ scopes }: Scoping) {
        askToNarrow(store, { scopes: scopesAt(scopes, head) })
        return start({ type: 'narrow' })
      },
    }
  }
  return { node, asked, makeStore, head }
}

const coverageIn = (store: string) =>
  readStore(store, db => {
    const { coverage } = createStoreLookups(db)
    return { covered: coverage.covered(), children: coverage.children() }
  })

/** Blocks that were looked at for an address and a topic: the same may be covered by one filter or by several. */
const lookedIn = (store: string, address: string, topic: string): Range[] =>
  mergeRanges(
    [...coverageIn(store).covered].flatMap(([text, ranges]) =>
      fits({ address, topics: [topic] } as RpcLog, filterOf(text)) ? [...ranges] : [],
    ),
  )

const verify = (store: string) => {
  const verifying = verifyContents(store, true)
  let next = verifying.next()
  while (!next.done) next = verifying.next()
  assert.deepEqual(next.value, [])
}

const countIn = (store: string, { scopes }: Scoping, head: number) => {
  const db = openForReading(store)
  const stored = openStoredBlocks(store, undefined)
  try {
    return countOutside(createStoreLookups(db), stored, scopesAt(scopes, head))
  } finally {
    stored.close()
    db.close()
  }
}

/** From a later block on. */
const later = (scope: WantedScope, block: number): WantedScope => {
  const at = (point: WantedScope['from'], otherwise: number) => (point && 'block' in point ? point.block : otherwise)
  return { ...scope, from: { block: Math.min(Math.max(at(scope.from, 0), block), at(scope.to, block)) } }
}

test('a narrowed store is as if its scopes had been narrow from the start, and is widened again', async t => {
  const below = random(11)
  const chain = unevenChain(70, below)
  const { asked, makeStore, head } = await setUp(t, chain)
  const first = Number(chain[0]!.block.number)
  const logs = chain.flatMap(({ receipts }) => receipts.flatMap(it => it.logs))
  const addresses = [...new Set(logs.map(({ address }) => address))].sort()
  const topics = [...new Set(logs.flatMap(it => it.topics.slice(0, 1)))].sort()
  const aScope = (): Partial<WantedScope> => {
    const from = first + below(40)
    return {
      addresses: below(4) === 0 ? [] : [...new Set([addresses[0]!, ...addresses.filter(() => below(2) === 0)])],
      topics: below(2) === 0 ? topics.filter(() => below(2) === 0) : topics,
      ...(below(2) === 0 && { from: { block: from } }),
      ...(below(2) === 0 && { to: { block: from + below(30) } }),
    }
  }
  for (let round = 0; round < 2; round++) {
    const wide = scoping([aScope(), aScope(), { addresses: addresses.slice(0, 2) }])
    const narrow = scoping([
      {
        addresses: addresses.slice(1, 2),
        topics: below(2) === 0 ? topics.slice(0, 1) : [],
        from: { block: first + below(20) },
      },
      later(wide.scopes[0]!, first + 35),
    ])
    const [one, other] = [await makeStore(), await makeStore()]
    await Promise.all([one.index(wide), other.index(narrow)])
    const before = holdingsIn(one.store)
    const outside = countIn(one.store, narrow, head)
    // Killed where it may be killed, between two transactions; gone on with by a server.
    const job = one.narrow(narrow)
    if (round === 0) {
      await job.stop()
      const server = one.start({ type: 'watch' })
      while (isPruneAsked(one.store)) await sleep(10)
      await server.stop()
    } else await job.ended
    assert.equal(isPruneAsked(one.store), false)
    const after = holdingsIn(one.store)
    assert.deepEqual(after, holdingsIn(other.store))
    assert.deepEqual(
      [outside.blocks, outside.transactions, outside.logs],
      (['block', 'tx', 'log'] as const).map(kind => before[kind].length - after[kind].length),
    )
    for (const address of [...addresses, FACTORY])
      for (const topic of [...topics, CREATED])
        assert.deepEqual(lookedIn(one.store, address, topic), lookedIn(other.store, address, topic))
    verify(one.store)
    asked.length = 0
    await one.index(narrow)
    assert.deepEqual(asked, [])
    await one.index(wide)
    assert.deepEqual(holdingsIn(one.store), before)
    assertAskedOnce(asked)
  }
})

test('children of a factory that no scope has any more go with it, but for those that are wanted otherwise', async t => {
  const chain: RawBlock[] = makeChain({ blocks: 1, from: 0, txs: 0 })
  for (const logs of [
    [swap(1), names(1)],
    [swap(1), swap(2)],
    [names(2), swap(2), swap(3)],
    [swap(1), swap(2)],
    [names(3), swap(3)],
    [swap(1), swap(2), swap(3)],
    [],
  ])
    chain.push(blockOf(chain.at(-1)!, logs))
  const { asked, makeStore } = await setUp(t, chain)
  const factory = { addresses: [FACTORY], topic: CREATED, place: { word: 0 } }
  const wide = scoping([{ factory }])
  for (const narrow of [
    scoping([{ factory, to: { block: 4 } }]),
    scoping([{ addresses: [pair(2)], from: { block: 4 } }]),
  ]) {
    const [one, other] = [await makeStore(), await makeStore()]
    await Promise.all([one.index(wide), other.index(narrow)])
    await one.narrow(narrow).ended
    assert.deepEqual(holdingsIn(one.store), holdingsIn(other.store))
    assert.deepEqual(coverageIn(one.store).children, coverageIn(other.store).children)
    asked.length = 0
    await one.index(narrow)
    assert.deepEqual(asked, [])
  }
})

test('transactions that no scope wants any more go, and are looked for again', async t => {
  const below = random(17)
  const chain = unevenChain(25, below, 0)
  const { node, asked, makeStore } = await setUp(t, chain)
  const traced = serveTraceFilter(node)
  const emitters = chain.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs.map(({ address }) => address)))
  const addresses = [...new Set(emitters), ...partiesIn(chain)].sort()
  const wide = scoping([{ addresses, transactions: 'search' }])
  const some = addresses.filter(() => below(2) === 0)
  for (const narrow of [
    scoping([{ addresses }]),
    scoping([
      { addresses },
      { addresses: some, topics: [SWAP], transactions: 'search', from: { block: 4 }, to: { block: 18 } },
    ]),
  ]) {
    const [one, other] = [await makeStore(), await makeStore()]
    await Promise.all([one.index(wide), other.index(narrow)])
    const before = holdingsIn(one.store)
    await one.narrow(narrow).ended
    assert.deepEqual(holdingsIn(one.store), holdingsIn(other.store))
    for (const list of [asked, traced]) list.length = 0
    await one.index(narrow)
    assert.deepEqual([...asked, ...traced], [])
    await one.index(wide)
    assert.deepEqual(holdingsIn(one.store), before)
    for (const side of ['from', 'to'])
      assertAskedOnce(traced.filter(it => it.side === side && it.after === 0).map(it => ({ ...it, topics: [] })))
  }
})

test('a contract keeps its code when its block is written again, and goes with its transaction', async t => {
  const chain: RawBlock[] = makeChain({ blocks: 1, from: 0, txs: 0 })
  chain.push(blockOf(chain[0]!, [swap(1), swap(2)]))
  const [receipt] = chain[1]!.receipts
  receipt!.contractAddress = pair(9)
  receipt!.to = null
  chain[1]!.block.transactions[0]!.to = null
  chain.push(blockOf(chain[1]!, []))
  const { makeStore } = await setUp(t, chain)
  const [one, other] = [await makeStore(), await makeStore()]
  const both = scoping([{ addresses: [pair(1), pair(2)] }])
  await Promise.all([one.index(scoping([{ addresses: [pair(1)] }])), other.index(both)])
  await one.index(both)
  const created = contractsIn(one.store)
  assert.deepEqual(created, contractsIn(other.store))
  assert.equal(created[0]!._source.codeSize, 5)
  await one.narrow(scoping([{ addresses: [pair(1)] }])).ended
  assert.deepEqual(contractsIn(one.store), created)
  await one.narrow(scoping([{ addresses: [pair(3)] }])).ended
  assert.deepEqual(contractsIn(one.store), [])
})

const contractsIn = (path: string) => {
  const store = createTestStore([], { path })
  let found: ReturnType<typeof store.all> = []
  using([store], () => {
    found = store.all('contract')
  })
  return found
}
