import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RawBlock, RpcLog, RpcTransaction } from '../../../src/chain/wire.ts'
import { filterText } from '../../../src/scopes/filter.ts'
import { transactionFilter } from '../../../src/scopes/questions.ts'
import { numberOf } from '../../support/contents.ts'
import { makeChain } from '../../support/pack.ts'
import { setUpScopes } from '../../support/scope-following.ts'
import {
  assertAskedOnce,
  blockOf,
  expectedOf,
  fits,
  holdingsIn,
  random,
  scoping,
  unevenChain,
} from '../../support/scoped.ts'
import { createTestStore } from '../../support/store.ts'
import { traceBlock } from '../../support/traces.ts'
import { isFromOrTo, partiesIn, serveTraceFilter } from '../../support/transactions.ts'

const TO = ['2', '3', '4'].map(digit => `0x${digit.repeat(40)}`)

test('scopes that gain transactions in any order ask for what they lack alone', async t => {
  const below = random(11)
  const chain = unevenChain(50, below, 0)
  const { node, store, asked: logs, index } = await setUpScopes(t, chain)
  const traced = serveTraceFilter(node, { blocks: 9 })
  const first = numberOf(chain[0]!)
  const settled = chain.slice(0, -1)
  const last = numberOf(settled.at(-1)!)
  const emitters = [...new Set(chain.flatMap(it => it.receipts.flatMap(of => of.logs.map(log => log.address))))].sort()
  // Some are named by both, as contracts are.
  const parties = partiesIn(chain)
  const wanted: { log(it: RpcLog): boolean; tx(it: RpcTransaction): boolean }[] = []
  const whole = new Set<number>()
  for (let step = 0; step < 6; step++) {
    if (step === 3) {
      const from = first + 15
      for (let number = from; number <= from + 12; number++) whole.add(number)
      await index(undefined, { from, to: from + 12 })
    } else {
      const addresses = [...emitters, ...parties].filter(() => below(3) === 0).sort()
      const from = below(2) === 0 ? 0 : first + below(25)
      const to = below(2) === 0 ? last : Math.max(from, first) + below(35)
      const isIn = (number: string) => Number(number) >= from && Number(number) <= to
      const withTransactions = step % 2 === 1 || below(2) === 0
      wanted.push({
        log: log => fits(log, { addresses, topics: [] }) && isIn(log.blockNumber),
        tx: tx => withTransactions && isFromOrTo(addresses)(tx) && isIn(tx.blockNumber),
      })
      const scope = { addresses, from: { block: from }, to: { block: to } }
      await index(scoping([{ ...scope, ...(withTransactions && { transactions: 'search' }) }]))
    }
    const due = expectedOf(
      settled,
      log => wanted.some(it => it.log(log)),
      number => whole.has(number),
      tx => wanted.some(it => it.tx(tx)),
    )
    assert.deepEqual(holdingsIn(store), due, `step ${step}`)
  }
  assertAskedOnce(logs)
  for (const side of ['from', 'to'])
    assertAskedOnce(traced.filter(it => it.side === side && it.after === 0).map(it => ({ ...it, topics: [] })))
})

test('a scope whose transactions no node finds is refused, or has each block read', async t => {
  const chain = unevenChain(40, random(12))
  const { node, store, index } = await setUpScopes(t, chain)
  const addresses = partiesIn(chain).slice(0, 2)
  await assert.rejects(index(scoping([{ addresses, transactions: 'search' }])), {
    next: 'refuse',
    code: 'no_transaction_search',
    message: /^ethereum\/test\/net: .*127\.0\.0\.1.*trace_filter.*read-blocks.*from 0 to 138 one by one/,
  })
  assert.deepEqual(holdingsIn(store).tx, [])
  await index(scoping([{ addresses, transactions: 'read-blocks', from: { block: 100 } }]))
  const due = () =>
    expectedOf(
      chain.slice(0, -1),
      () => false,
      () => false,
      isFromOrTo(addresses),
    )
  assert.deepEqual(holdingsIn(store), due())
  // All that it wants is there: nobody needs to find anything.
  node.calls.length = 0
  await index(scoping([{ addresses, transactions: 'search', from: { block: 100 } }]))
  assert.ok(!node.calls.some(({ params }) => params[1] === true))
})

test('traces of transactions outlive that their blocks gain others', async t => {
  const chain = makeChain({ blocks: 8, txs: 3, logs: 0 })
  const traces = chain.map(raw =>
    traceBlock(
      raw,
      TO.map(to => ({ kind: 'call', to, acts: [{ kind: 'call', to: TO[0]! }] })),
    ),
  )
  const stored = async (...steps: number[][]) => {
    const { node, store, index } = await setUpScopes(t, chain)
    serveTraceFilter(node)
    node.methods.set('trace_block', ([number]) => structuredClone(traces[Number(number)]))
    for (const step of steps)
      await index(scoping([{ addresses: step.map(i => TO[i]!).sort(), transactions: 'search' }]), { traces: 'all' })
    const opened = createTestStore([], { path: store })
    try {
      return [...opened.all('tx'), ...opened.all('trace')]
    } finally {
      opened.close()
    }
  }
  const atOnce = await stored([0, 1, 2])
  // The first block has no traces.
  assert.equal(atOnce.length, 7 * 3 + 6 * 3 * 2)
  assert.deepEqual(await stored([1], [0, 1], [0, 1, 2]), atOnce)
})

const ours = '0x00000000000000000000000000000000000000aa'
const other = '0x00000000000000000000000000000000000000bb'

/** A block of one transaction without logs from or to somebody, or with a log of our own. */
const sending = (parent: RawBlock, from: string, to: string, isLogged = false): RawBlock => {
  const raw = isLogged ? blockOf(parent, [{ address: ours, topics: [], data: '0x' }]) : blockOf(parent, [])
  Object.assign(raw.block.transactions[0]!, { from, to })
  return raw
}

test('transactions are followed through a reorganisation and a restart', async t => {
  const chain: RawBlock[] = makeChain({ blocks: 1, from: 50, txs: 0 })
  const grow = (...args: [from: string, to: string, isLogged?: boolean]) =>
    void chain.push(sending(chain.at(-1)!, ...args))
  for (let i = 0; i < 12; i++) grow(i % 3 === 0 ? ours : other, i % 4 === 0 ? ours : other, i % 5 === 0)
  const { node, store, follow, covered } = await setUpScopes(t, chain)
  serveTraceFilter(node)
  const wanted = scoping([{ addresses: [ours], transactions: 'search' }])
  const due = () =>
    expectedOf(
      chain,
      log => log.address === ours,
      () => false,
      isFromOrTo([ours]),
    )
  const top = () => numberOf(chain.at(-1)!)
  await follow(wanted, async reaches => {
    await reaches(top())
    grow(other, ours)
    grow(other, other)
    grow(ours, other, true)
    node.extend(chain.slice(-3))
    node.calls.length = 0
    await reaches(top())
    assert.deepEqual(holdingsIn(store), due())
    assert.ok(!node.calls.some(({ method }) => method === 'trace_filter'))
    chain.splice(-3)
    chain.push(...makeChain({ blocks: 1, txs: 0, parent: chain.at(-1)!, salt: 'fork' }))
    grow(other, other)
    grow(ours, ours)
    grow(other, ours, true)
    node.extend(chain.slice(-4))
    await reaches(top())
    assert.deepEqual(holdingsIn(store), due())
  })
  chain.splice(-1)
  chain.push(...makeChain({ blocks: 2, txs: 0, parent: chain.at(-1)!, salt: 'later' }))
  grow(ours, other)
  node.extend(chain.slice(-3))
  await follow(wanted, async reaches => {
    await reaches(top())
    assert.deepEqual(holdingsIn(store), due())
  })
  assert.deepEqual(covered().get(filterText(transactionFilter([ours]))), [{ from: 0, to: top() }])
})

test('transactions of what a factory names are wanted from its event on', async t => {
  const [FACTORY, CREATED] = ['0x00000000000000000000000000000000000000fa', `0x${'c'.repeat(64)}`]
  const pair = (n: number) => `0x${n.toString(16).padStart(40, '7')}`
  const chain: RawBlock[] = makeChain({ blocks: 1, from: 0, txs: 0 })
  /** A transaction to a pair, or one that names it. */
  const grow = (n: number, isNamed = false) => {
    const data = `0x${'0'.repeat(24)}${pair(n).slice(2)}` as const
    const raw = blockOf(chain.at(-1)!, isNamed ? [{ address: FACTORY!, topics: [CREATED!], data }] : [])
    Object.assign(raw.block.transactions[0]!, { to: isNamed ? other : pair(n) })
    chain.push(raw)
  }
  const past: [number, boolean?][] = [[1], [1, true], [1], [2], [2, true], [2], [1], [3], [2], [1], [2], [1]]
  for (const args of past) grow(...args)
  const { node, store, follow } = await setUpScopes(t, chain)
  serveTraceFilter(node)
  const factory = { addresses: [FACTORY!], topic: CREATED!, place: { word: 0 } }
  const due = () => {
    const born = new Map<string, number>()
    for (const raw of chain)
      for (const { data } of raw.receipts.flatMap(({ logs }) => logs)) born.set(`0x${data.slice(26)}`, numberOf(raw))
    return expectedOf(
      chain,
      log => log.address === FACTORY,
      () => false,
      ({ to, blockNumber }) => (born.get(to ?? '') ?? Number.POSITIVE_INFINITY) <= Number(blockNumber),
    )
  }
  await follow(scoping([{ factory, transactions: 'search' }]), async reaches => {
    await reaches(numberOf(chain.at(-1)!))
    assert.deepEqual(holdingsIn(store), due())
    for (const args of [[3], [3, true], [3], [1]] as [number, boolean?][]) grow(...args)
    node.extend(chain.slice(-4))
    await reaches(numberOf(chain.at(-1)!))
    assert.deepEqual(holdingsIn(store), due())
  })
})
