import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { openAccounts } from '../../src/accounts/index.ts'
import { readScans } from '../../src/alerts/alert-store.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { readCode } from '../../src/decode/abi-finder.ts'
import type { Decoding } from '../../src/decode/decoding.ts'
import { createStoredDictionaries, createStoreLookups } from '../../src/engine/dictionary-reader.ts'
import { createBlockEncoder } from '../../src/engine/documents/block-encoder.ts'
import { makeStoreFolder, storeFile } from '../../src/engine/files.ts'
import { openForReading, openForWriting } from '../../src/engine/open.ts'
import type { DocumentReader } from '../../src/engine/port.ts'
import { openSearcher } from '../../src/engine/query/searcher.ts'
import { createChainContracts } from '../../src/ingest/contracts/contracts.ts'
import { createChainTokens } from '../../src/ingest/contracts/tokens.ts'
import { type BuiltPiece, blockFactsOf } from '../../src/ingest/decoding/builders/thread.ts'
import { createDictionaries } from '../../src/ingest/decoding/dictionaries.ts'
import { createDocumentDecoder, createPieceContext, createPreparer } from '../../src/ingest/decoding/prepare.ts'
import { createPipeline } from '../../src/ingest/pipeline.ts'
import { createHistory } from '../../src/ingest/rules/history.ts'
import { createRuleWatcher, type RuleWatcher } from '../../src/ingest/rules/rule-watcher.ts'
import { openStoredBlocks } from '../../src/ingest/scoped/partial-blocks.ts'
import { runWriter } from '../../src/ingest/writer/writer-thread.ts'
import { silent } from '../../src/lib/log.ts'
import type { RuleInput } from '../../src/rules/rule.ts'
import { openRules } from '../../src/rules/store.ts'
import { dataFolder } from '../support/delivery.ts'
import { makeChain } from '../support/pack.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const never = new AbortController().signal

/** Every block, or every transaction. */
const ruleOf = (rest: Partial<RuleInput> = {}, targetType: 'Block' | 'Transaction' = 'Block'): RuleInput => ({
  name: 'a rule',
  maxConfirmationCount: 0,
  technology: 'ethereum',
  blockchain: 'made-up',
  network: 'mainnet',
  config: {
    targetType,
    targetMap: [{ name: targetType === 'Block' ? 'number' : 'blockNumber', operator: 'Greater or Equal', value: '0' }],
    alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org' } }],
  },
  ...rest,
})

/** All that stands between a block and its alerts, in one thread: the writer does nothing before the event loop turns. */
const setUp = async (
  t: TestContext,
  around: (ruleWatcher: RuleWatcher) => RuleWatcher = it => it,
  opened: (it: DocumentReader) => DocumentReader = it => it,
) => {
  const folder = await dataFolder(t)
  const accounts = openAccounts(folder)
  accounts.createToken('alice')
  accounts.close()
  makeStoreFolder(folder)
  const store = storeFile(folder, NETWORK)
  openForWriting(store).close()
  const db = openForReading(store)
  const { port1, port2 } = new MessageChannel()
  runWriter({ store, network: NETWORK, port: port1 })
  const rules = openRules(folder)
  const contracts = createChainContracts({
    state: undefined,
    readCode,
    abiOf: () => ({ name: null, source: null, probability: null }),
    log: silent,
  })
  const tokens = createChainTokens({ listed: () => undefined, stored: () => undefined, call: undefined, log: silent })
  const own = createRuleWatcher({
    network: NETWORK,
    rules: openRules(folder),
    scans: readScans(db),
    tokens,
    contracts,
    log: silent,
  })
  const ruleWatcher = around(own)
  const signature = { of: 'log' as const, key: 'x', topic: null, indexed: 0, event: null, probability: 0, error: null }
  const decoding: Decoding = {
    log: () => ({ signature, args: null }),
    methodOf: () => null,
    revert: () => null,
    call: () => ({ selector: '0x00000000', function: null, probability: 0, args: null, error: null }),
  }
  const dictionaries = createDictionaries(createStoredDictionaries(db))
  const { hashKeys } = createStoredDictionaries(db)
  const context = createPieceContext({ ...dictionaries, hashKeys, decimals: tokens.of, bloomsChecked: false })
  /** As another thread builds them. */
  const build = (blocks: readonly RawBlock[]): BuiltPiece => {
    const piece = createBlockEncoder(context)
    const decode = createDocumentDecoder({ decoding: () => decoding, traces: 'all' })
    for (const raw of blocks) piece.add(decode(raw))
    return { piece: piece.finish(), blocks: blocks.map(raw => blockFactsOf(raw, contracts.creations(raw))) }
  }
  const pipeline = createPipeline({
    port: port2,
    preparer: createPreparer({
      db,
      decoding: () => decoding,
      dictionaries,
      tokens,
      contracts,
      chainId: 1,
    }),
    ruleWatcher,
    blocks: createStoreLookups(db),
    storedBlocks: () => openStoredBlocks(store, 1),
    signal: never,
    onAlerts: () => {},
    storeBatch: 10,
    log: silent,
    onFailure: error => {
      throw error
    },
  })
  const outbox = openOutbox(store)
  t.after(async () => {
    await pipeline.settled()
    pipeline.close()
    await new Promise(resolve => port2.once('close', resolve))
    outbox.close()
    ruleWatcher.close()
    rules.close()
    db.close()
  })
  const alertsOf = (rule: number) =>
    outbox
      .alerts(rule, { size: 100_000 })
      .map(({ alert }) => `${alert.block} ${alert.state}`)
      .reverse()
  /** Goes through history as the thread does when nothing else is to be done. */
  const scan = createHistory({
    network: 'ethereum/test/net',
    open: () => opened(openSearcher(store)),
    ruleWatcher,
    refresh: () => ruleWatcher.refresh(pipeline.held()),
    tell: update => pipeline.tell(update),
    settled: pipeline.flush,
    log: silent,
    signal: never,
  })
  const stored = () => db.prepare('SELECT number FROM block ORDER BY number').pluck().all()
  return { rules, ruleWatcher, pipeline, alertsOf, scan, stored, build }
}

test('blocks that were built elsewhere are taken, unless there is something about one of them', async t => {
  const { rules, pipeline, alertsOf, stored, build } = await setUp(t)
  const chain = makeChain({ blocks: 30, from: 100 })
  const fill = pipeline.lane('fill')
  const take = (from: number, to: number) => fill.addBuilt(build(chain.slice(from, to)))
  assert.equal(await take(0, 4), true)
  assert.equal(await take(4, 9), true)
  await fill.add(chain[9]!)
  assert.equal(await take(10, 12), true)
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => 100 + from + i)
  await pipeline.flush()
  assert.deepEqual(stored(), numbers(0, 12))
  assert.deepEqual([pipeline.counts.blocks, pipeline.added()], [12, [{ from: 100, to: 111 }]])

  // Some are stored, or are on their way.
  assert.equal(await take(11, 14), false)
  assert.equal(await take(15, 20), true)
  assert.equal(await take(17, 18), false)
  // They do not link to what is stored below, or above.
  const other = (raw: RawBlock): RawBlock => ({
    ...raw,
    block: { ...raw.block, hash: `0x${'ab'.repeat(32)}`, parentHash: `0x${'cd'.repeat(32)}` },
  })
  assert.equal(await fill.addBuilt(build([other(chain[12]!)])), false)
  assert.equal(await fill.addBuilt(build([chain[13]!, other(chain[14]!)])), false)
  assert.equal(await take(12, 15), true)
  // A rule looks at them.
  const { id } = rules.create(1, ruleOf(), 122)
  assert.equal(await take(20, 22), true)
  assert.equal(await take(22, 24), false)
  for (const raw of chain.slice(22, 24)) await fill.add(raw)
  await pipeline.flush()
  assert.deepEqual(stored(), numbers(0, 24))
  assert.deepEqual(alertsOf(id).length, 2)
})

test('what is told of rules keeps its order, although blocks of the head go before those of a back-fill', async t => {
  const { rules, pipeline, alertsOf } = await setUp(t)
  const chain = makeChain({ blocks: 12, from: 100 })
  const [fill, head] = [pipeline.lane('fill'), pipeline.lane('head')]
  const { id } = rules.create(1, ruleOf(), 0)
  rules.update(1, id, ruleOf({ enabled: false }))
  await fill.add(chain[0]!)
  await fill.flush()
  rules.update(1, id, ruleOf({ enabled: true }))
  await head.add(chain[10]!)
  await head.flush()
  await pipeline.settled()
  await head.add(chain[11]!)
  await pipeline.flush()
  assert.deepEqual(alertsOf(id), ['110 confirmed', '111 confirmed'])
})

test('a paused rule does not fire for what waits since before, whichever lane comes first after a start', async t => {
  const { rules, pipeline, ruleWatcher, alertsOf } = await setUp(t)
  const chain = makeChain({ blocks: 12, from: 100 })
  const { id } = rules.create(1, ruleOf({ maxConfirmationCount: 10 }), 0)
  const [fill, head] = [pipeline.lane('fill'), pipeline.lane('head')]
  await head.add(chain[0]!)
  await head.flush()
  await pipeline.settled()
  rules.update(1, id, ruleOf({ maxConfirmationCount: 10, enabled: false }))
  await fill.add(makeChain({ blocks: 1, from: 10 })[0]!)
  await fill.flush()
  await head.add(chain[10]!)
  await head.flush()
  await pipeline.settled()
  assert.deepEqual(alertsOf(id), ['100 pending'])
  rules.update(1, id, ruleOf({ maxConfirmationCount: 10, enabled: true }))
  ruleWatcher.refresh(pipeline.held())
  await pipeline.tell({ hits: [] })
  assert.deepEqual(alertsOf(id), ['100 confirmed'])
})

test('a rule that comes up at whatever moment of the taking of a block finds that block, once', async t => {
  for (let moment = 0; moment < 12; moment++) {
    let comeUp = () => {}
    const { rules, ruleWatcher, pipeline, alertsOf, scan } = await setUp(t, own => ({
      ...own,
      get generation() {
        return own.generation
      },
      async match(...args) {
        const found = await own.match(...args)
        let left = moment
        const later = () => (left-- === 0 ? comeUp() : queueMicrotask(later))
        later()
        return found
      },
    }))
    const [block] = makeChain({ blocks: 1, from: 100 }) as [RawBlock]
    rules.create(1, ruleOf(), 0)
    const lane = pipeline.lane('head')
    let id = 0
    comeUp = () => {
      comeUp = () => {}
      id = rules.create(1, ruleOf(), 100).id
      ruleWatcher.refresh(pipeline.held())
    }
    await lane.add(block)
    await pipeline.flush()
    await scan()
    assert.deepEqual(alertsOf(id), ['100 confirmed'], `${moment}`)
  }
})

test('a rule that comes up while a block is taken has what it needs of that block as well', async t => {
  const steps: string[] = []
  const { rules, ruleWatcher, pipeline } = await setUp(t, own => ({
    ...own,
    get generation() {
      return own.generation
    },
    async complete(...args) {
      steps.push(`completes for ${own.generation}`)
      return own.complete(...args)
    },
    async match(...args) {
      const { generation } = own
      steps.push(`matches by ${generation}`)
      if (generation === 1) {
        rules.create(1, ruleOf(), 0)
        ruleWatcher.refresh([])
      }
      return own.match(...args)
    },
  }))
  rules.create(1, ruleOf(), 0)
  await pipeline.lane('head').add(makeChain({ blocks: 1, from: 100 })[0]!)
  await pipeline.flush()
  assert.deepEqual(steps, ['completes for 1', 'matches by 1', 'completes for 2', 'matches by 2'])
})

test('a rule fires for a token once, while a back-fill from above finds lower and lower blocks that show it', async t => {
  const { rules, pipeline, alertsOf } = await setUp(t)
  const chain = makeChain({ blocks: 12, from: 100, txs: 1, logs: 1 })
  const topics = [TRANSFER, ...['1', '2'].map(digit => `0x${digit.padStart(64, '0')}` as const)]
  for (const { receipts } of chain) for (const { logs } of receipts) for (const log of logs) log.topics = topics
  const byAddress = ruleOf()
  byAddress.config.targetType = 'Token'
  byAddress.config.targetMap = [{ name: 'standard', operator: 'Equals', value: 'ERC-20' }]
  const ids = [0, 3].map(
    maxConfirmationCount => rules.create(1, { ...byAddress, maxConfirmationCount, startBlock: 0 }, 0).id,
  )
  const [fill, head] = [pipeline.lane('fill'), pipeline.lane('head')]
  for (const at of [9, 10]) await head.add(chain[at]!)
  await head.flush()
  for (const run of [chain.slice(6, 9), chain.slice(3, 6), chain.slice(0, 3)]) {
    for (const block of run) await fill.add(block)
    await fill.flush()
  }
  await head.add(chain[11]!)
  await pipeline.flush()
  assert.deepEqual(ids.map(alertsOf), [['100 confirmed'], ['100 confirmed']])
})

test('whoever asks for it is caught up with when all that was decoded before is stored, also what waited for a rule', async t => {
  let decide = () => {}
  const decided = new Promise<void>(resolve => {
    decide = resolve
  })
  let waits = 0
  const { pipeline, stored } = await setUp(t, own => ({
    ...own,
    get generation() {
      return own.generation
    },
    async match(...args) {
      waits++
      await decided
      return own.match(...args)
    },
  }))
  const [head, fill] = [pipeline.lane('head'), pipeline.lane('fill')]
  const adding = [head.add(makeChain({ blocks: 1, from: 100 })[0]!), fill.add(makeChain({ blocks: 1, from: 10 })[0]!)]
  // The second one does not wait for ever for the turn of the first.
  while (waits < 2) await new Promise(resolve => setTimeout(resolve, 5))
  let caughtUp = false
  const catchingUp = pipeline.caughtUp().then(() => {
    caughtUp = true
  })
  await pipeline.settled()
  await new Promise(resolve => setTimeout(resolve, 20))
  assert.deepEqual([caughtUp, stored()], [false, []])
  decide()
  await catchingUp
  assert.deepEqual(stored(), [10, 100])
  await Promise.all(adding)
})

test('history that was asked for is gone through in parts, each of few alerts, and none is lost or doubled', async t => {
  const { rules, ruleWatcher, pipeline, alertsOf, scan } = await setUp(t)
  const lane = pipeline.lane('fill')
  for (const block of makeChain({ blocks: 40, txs: 120, logs: 0 })) await lane.add(block)
  await pipeline.flush()
  const { id } = rules.create(1, ruleOf({}, 'Transaction'), 0)
  ruleWatcher.refresh(pipeline.held())
  const told: number[] = []
  const { tell } = pipeline
  pipeline.tell = async update => {
    told.push(update.hits.length)
    return tell(update)
  }
  await scan()
  assert.equal(
    told.reduce((sum, it) => sum + it),
    4800,
  )
  assert.ok(Math.max(...told) <= 1000, `${told}`)
  const alerts = alertsOf(id)
  assert.deepEqual([alerts.length, new Set(alerts).size], [4800, 40])
})

test('of one block there may be more than of a part, and it is told whole', async t => {
  const { rules, ruleWatcher, pipeline, alertsOf, scan } = await setUp(t)
  const lane = pipeline.lane('fill')
  for (const block of makeChain({ blocks: 3, txs: 1700, logs: 0 })) await lane.add(block)
  await pipeline.flush()
  const { id } = rules.create(1, ruleOf({}, 'Transaction'), 1)
  ruleWatcher.refresh(pipeline.held())
  await scan()
  const alerts = alertsOf(id)
  assert.deepEqual([alerts.length, new Set(alerts)], [3400, new Set(['1 confirmed', '2 confirmed'])])
})

test('a rule that is paused, removed or edited while its history is gone through is so from the next part on', async t => {
  for (const change of ['pause', 'remove', 'edit'] as const) {
    const { rules, ruleWatcher, pipeline, alertsOf, scan } = await setUp(t)
    const lane = pipeline.lane('fill')
    for (const block of makeChain({ blocks: 30, txs: 100, logs: 0 })) await lane.add(block)
    await pipeline.flush()
    const { id } = rules.create(1, ruleOf({}, 'Transaction'), 0)
    ruleWatcher.refresh(pipeline.held())
    const { tell } = pipeline
    let parts = 0
    pipeline.tell = async update => {
      await tell(update)
      if (parts++ > 0) return
      if (change === 'pause') rules.update(1, id, ruleOf({ enabled: false }, 'Transaction'))
      else if (change === 'remove') rules.remove(1, id)
      else rules.update(1, id, ruleOf())
    }
    await scan()
    const first = alertsOf(id).length
    assert.ok(first > 0 && first < 3000, `${change} ${first}`)
    if (change === 'edit') continue
    assert.equal(parts, 1, change)
    await scan()
    assert.equal(parts, 1, 'what cannot go on asks for nothing')
    if (change === 'remove') continue
    rules.update(1, id, ruleOf({ enabled: true }, 'Transaction'))
    ruleWatcher.refresh(pipeline.held())
    await scan()
    assert.equal(alertsOf(id).length, 3000)
  }
})

test('what was found by a rule that is edited, or removed, before the answer comes is not told', async t => {
  for (const change of ['edit', 'remove'] as const) {
    let meanwhile = () => {}
    const { rules, ruleWatcher, pipeline, alertsOf, scan } = await setUp(t, undefined, documents => ({
      ...documents,
      async search(request, options) {
        const result = await documents.search(request, options)
        await new Promise(resolve => setImmediate(resolve))
        meanwhile()
        return result
      },
    }))
    const lane = pipeline.lane('fill')
    for (const block of makeChain({ blocks: 30, txs: 10, logs: 0 })) await lane.add(block)
    await pipeline.flush()
    const { id } = rules.create(1, ruleOf({}, 'Transaction'), 0)
    ruleWatcher.refresh(pipeline.held())
    meanwhile = () => {
      meanwhile = () => {}
      if (change === 'edit') rules.update(1, id, ruleOf())
      else rules.remove(1, id)
      ruleWatcher.refresh(pipeline.held())
    }
    await scan()
    assert.equal(alertsOf(id).length, change === 'edit' ? 30 : 0, change)
  }
})

test('a rule whose history cannot be gone through holds up no other', async t => {
  const { rules, ruleWatcher, pipeline, alertsOf, scan } = await setUp(t, own => ({
    ...own,
    get generation() {
      return own.generation
    },
    rule(id) {
      const rule = own.rule(id)
      return rule && id === 1 ? { ...rule, input: { ...rule.input, config: null as never } } : rule
    },
  }))
  const lane = pipeline.lane('fill')
  for (const block of makeChain({ blocks: 3 })) await lane.add(block)
  await pipeline.flush()
  const [bad, good] = [rules.create(1, ruleOf(), 0), rules.create(1, ruleOf(), 0)]
  ruleWatcher.refresh(pipeline.held())
  await scan()
  assert.deepEqual([alertsOf(bad.id), alertsOf(good.id)], [[], ['0 confirmed', '1 confirmed', '2 confirmed']])
  assert.equal(ruleWatcher.scans.get(bad.id)!.next, 0, 'and is not taken for done')
})

test('a reorganisation amid the going through history leaves what is on the chain alone', async t => {
  const { rules, ruleWatcher, pipeline, alertsOf, scan } = await setUp(t)
  const lane = pipeline.lane('head')
  const chain = makeChain({ blocks: 20, txs: 200, logs: 0, from: 100 })
  for (const block of chain) await lane.add(block)
  await pipeline.flush()
  const { id } = rules.create(1, ruleOf({}, 'Transaction'), 100)
  ruleWatcher.refresh(pipeline.held())
  const { tell } = pipeline
  let parts = 0
  pipeline.tell = async update => {
    // What was just found is removed before it is told.
    if (parts++ === 1) {
      await pipeline.rollback(101)
      for (const block of makeChain({ blocks: 19, txs: 200, logs: 0, parent: chain[1]!, salt: 'other' }))
        await lane.add(block)
      await lane.flush()
    }
    return tell(update)
  }
  await scan()
  const counts = Object.entries(Object.groupBy(alertsOf(id), it => it)).map(([it, all]) => `${all!.length} ${it}`)
  assert.deepEqual(
    counts.filter(it => it.endsWith('confirmed')).sort(),
    Array.from({ length: 21 }, (_, i) => `200 ${100 + i} confirmed`).sort(),
  )
})
