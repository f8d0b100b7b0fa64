import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import { openAccounts } from '../../src/accounts/index.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import { simulate } from '../../src/app/simulate.ts'
import { runWindows } from '../../src/back-test/windows.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { storeFile } from '../../src/engine/files.ts'
import { checksumAddress } from '../../src/lib/keccak.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { NO_LISTS } from '../../src/rules/lower.ts'
import type { NotifyConfig, RuleInput } from '../../src/rules/rule.ts'
import type { RuleSimulation, SimulatedRange } from '../../src/rules/search.ts'
import { openRules } from '../../src/rules/store.ts'
import type { StoredMatch } from '../../src/rules/windows/stored.ts'
import { createPool, type Pool } from '../../src/search/pool.ts'
import type { Episode } from '../../src/windows/replay.ts'
import type { WindowCondition, WindowOperator, WindowSpec } from '../../src/windows/spec.ts'
import { dataFolder } from '../support/delivery.ts'
import { followJob, indexIn, NETWORK, reported } from '../support/indexing.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

const SENDERS = ['aa', 'bb', 'cc'].map(byte => `0x${byte.repeat(20)}` as const)
const LENGTH = 80

/** Blocks with up to two transactions of few senders, whose amounts are small. */
const chainOf = (seed: number, from = 0): RawBlock[] => {
  const random = createRandom(seed)
  const chain = makeChain({ blocks: LENGTH, from, txs: 2, logs: 0 })
  for (const { block } of chain)
    for (const tx of block.transactions)
      Object.assign(
        tx,
        random.chance(0.4)
          ? { from: random.pick(SENDERS), value: `0x${random.int(1, 4).toString(16)}` }
          : { value: '0x0' },
      )
  return chain
}

const ruleWith = (when: WindowSpec | undefined, more: { notify?: NotifyConfig; alerts?: object[] } = {}) => {
  const [technology, blockchain, network] = NETWORK.split('/')
  return {
    ...{ name: 'spends', maxConfirmationCount: 0, technology, blockchain, network },
    config: {
      targetType: 'Transaction',
      targetMap: [{ name: 'value', operator: 'Greater', value: '0' }],
      alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/' } }],
      ...(when && { when }),
      ...more,
    },
  } as unknown as RuleInput
}

const SPECS: Readonly<Record<string, WindowSpec>> = {
  sum: {
    ...{ by: ['from'], within: { blocks: 5 } },
    conditions: [{ aggregate: 'Sum', name: 'value', operator: 'Greater or Equal', value: '5' }],
  },
  silence: {
    ...{ by: ['from'], keys: SENDERS, within: { seconds: 60 } },
    conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
  },
  'a held rate with another end': {
    ...{ within: { seconds: 48 }, hold: { blocks: 1 } },
    conditions: [
      { aggregate: 'Count', operator: 'Greater or Equal', value: '4' },
      { aggregate: 'Distinct', name: 'from', operator: 'Greater', value: '1' },
    ],
    resolve: [{ aggregate: 'Count', operator: 'Less or Equal', value: '2' }],
  },
  'more than in the windows before': {
    ...{ by: ['from'], within: { blocks: 4 } },
    conditions: [{ aggregate: 'Count', operator: 'Greater', value: '1.5', relativeTo: { windows: 3 } }],
  },
  'first amounts': { within: { blocks: 8 }, conditions: [{ aggregate: 'First', name: 'value' }] },
}

const poolOn = (t: TestContext, path: string): Pool => {
  const stores = new Map([[NETWORK, path]])
  const pool = createPool({ stores: () => stores, threads: 1, deadlineMs: 60_000, limits: DEFAULT_LIMITS })
  t.after(() => pool.close())
  return pool
}

const simulateOn = (
  pool: Pick<Pool, 'ranges' | 'request' | 'deadlineMs'>,
  rule: RuleInput,
  range: SimulatedRange = {},
  limits: Limits = DEFAULT_LIMITS,
): Promise<RuleSimulation> =>
  simulate({ pool, networks: () => [NETWORK], lists: NO_LISTS, limits }, rule, range, {
    account: 1,
    signal: new AbortController().signal,
  })

const spansOf = ({ windows }: RuleSimulation) =>
  windows!.episodes
    .map(({ key, opened, ended }) => `${opened.block}-${ended?.block ?? ''} ${Object.values(key)}`)
    .sort()

test('a back-test finds what live indexing of the same blocks has made', { timeout: 240_000 }, async t => {
  const data = await dataFolder(t)
  const accounts = openAccounts(data)
  accounts.createToken('alice')
  accounts.close()
  const rules = openRules(data)
  t.after(rules.close)
  const made = Object.entries(SPECS).map(([name, when]) => ({ name, rule: ruleWith(when) }))
  const ids = made.map(({ rule }) => rules.create(1, rule, 0).id)
  const [first, ...rest] = chainOf(1).slice(0, 60) as [RawBlock, ...RawBlock[]]
  const node = await startNode(t, [first])
  const indexing = indexIn(t, data, followJob(node, { from: { block: 0 }, finality: 4, node: { pollMs: 5 } }))
  await reported(indexing, ({ blocks }) => blocks > 0)
  for (const [i, block] of rest.entries()) {
    node.extend([block])
    await reported(indexing, ({ blocks }) => blocks >= i + 2)
  }
  await indexing.stop()
  const outbox = openOutbox(storeFile(data, NETWORK))
  t.after(() => outbox.close())
  const pool = poolOn(t, storeFile(data, NETWORK))
  for (const [i, { name, rule }] of made.entries()) {
    const alerts = outbox.alerts(ids[i]!, { size: 1_000 }).map(({ alert }) => alert)
    const live = alerts.map(({ block, when }) => `${block}-${when!.ended?.block ?? ''} ${Object.values(when!.key)}`)
    assert.ok(live.length > 1, `${name}: ${live.length}`)
    const found = await simulateOn(pool, rule)
    assert.deepEqual(spansOf(found), live.sort(), name)
    assert.equal(found.alerts, alerts.length)
    assert.deepEqual(found.windows!.undecided, [])
    // In a part of the blocks: what opens after its begin is the same.
    const part = await simulateOn(pool, rule, { fromBlock: 27, toBlock: 50 })
    const inPart = alerts.filter(({ block }) => block > 27 + 2 && block <= 50)
    assert.deepEqual(
      part
        .windows!.episodes.filter(({ opened }) => opened.block > 27 + 2)
        .map(({ key, opened }) => `${opened.block} ${Object.values(key)}`)
        .sort(),
      inPart.map(({ block, when }) => `${block} ${Object.values(when!.key)}`).sort(),
      name,
    )
  }
})

test('windows are what a search by terms and sum finds in the same blocks', { timeout: 120_000 }, async t => {
  const { path } = createTestStore(chainOf(2))
  const pool = poolOn(t, path)
  const { episodes } = (await simulateOn(pool, ruleWith(SPECS.sum), { fromBlock: 20, toBlock: 60 })).windows!
  const sumsAt = async (block: number): Promise<Map<string, number>> => {
    const body = Buffer.from(
      JSON.stringify({
        size: 0,
        query: { range: { 'blockNumber.num': { gt: block - 5, lte: block } } },
        aggs: { from: { terms: { field: 'from.raw', size: 100 }, aggs: { sum: { sum: { field: 'value.num' } } } } },
      }),
    )
    const asked = { network: NETWORK, entities: 'tx', account: 1, signal: new AbortController().signal, body }
    const answer = await pool.search(asked as unknown as Parameters<Pool['search']>[0])
    const { aggregations } = JSON.parse(Buffer.from(answer.body as Uint8Array).toString()) as {
      aggregations: { from: { buckets: { key: string; sum: { value: number } }[] } }
    }
    return new Map(aggregations.from.buckets.map(({ key, sum }) => [key.toLowerCase(), sum.value]))
  }
  const open = new Map<string, { opened: number; peak: number }>()
  const expected: string[] = []
  const told = (key: string, ended: number | undefined) => {
    const { opened, peak } = open.get(key)!
    expected.push(`${checksumAddress(key)} ${opened} ${ended} ${peak}`)
    open.delete(key)
  }
  for (let block = 20; block <= 60; block++) {
    const sums = await sumsAt(block)
    for (const key of SENDERS) {
      const sum = sums.get(key) ?? 0
      const known = open.get(key)
      if (sum < 5) {
        if (known) told(key, block)
      } else if (known) known.peak = Math.max(known.peak, sum)
      else open.set(key, { opened: block, peak: sum })
    }
  }
  for (const key of open.keys()) told(key, undefined)
  assert.ok(expected.length > 5)
  assert.deepEqual(
    episodes
      .map(({ key, opened, ended, peak }) => `${key.from} ${opened.block} ${ended?.block} ${peak[0]!.value}`)
      .sort(),
    expected.sort(),
  )
})

test('over blocks that are not stored nothing is decided, and which ones is told', async t => {
  const chain = chainOf(3)
  const { path } = createTestStore(chain.filter((_, i) => i < 30 || i >= 40))
  const pool = poolOn(t, path)
  const { holes, windows } = await simulateOn(pool, ruleWith(SPECS.silence), { fromBlock: 20, toBlock: 60 })
  assert.deepEqual(holes, [{ from: 30, to: 39 }])
  // 60 seconds are five blocks.
  assert.deepEqual(windows!.undecided, [{ from: 40, to: 44 }])
  assert.ok(windows!.episodes.every(({ opened: { block } }) => block < 40 || block > 44))
  // Nothing is known before the first block that is stored.
  const { path: later } = createTestStore(chainOf(3, 100))
  const found = await simulateOn(poolOn(t, later), ruleWith(SPECS.silence))
  assert.deepEqual(found.windows!.undecided, [{ from: 100, to: 104 }])
})

test('messages are those that quiet, group, resolved and again leave', async t => {
  const { path } = createTestStore(chainOf(4))
  const pool = poolOn(t, path)
  const mail = { type: 'Email', parameters: { recipients: ['a@example.org'] } }
  const pager = { type: 'PagerDuty', parameters: { routingKey: '0'.repeat(32) } }
  const hook = { type: 'Webhook (POST)', parameters: { url: 'https://example.org/' } }
  const sent = async (when: WindowSpec | undefined, notify: NotifyConfig, alerts = [hook]) => {
    const found = await simulateOn(pool, ruleWith(when, { notify, alerts }))
    return [found.alerts, ...found.messages!.map(({ messages }) => messages)]
  }
  const { total } = await simulateOn(pool, ruleWith(undefined))
  assert.ok(total > 40)
  assert.deepEqual(await sent(undefined, {}), [total, total])
  // Blocks are 12 seconds apart: there are 80, of which the last is at second 948.
  assert.deepEqual(await sent(undefined, { quiet: { seconds: 100_000 } }), [1, 1])
  assert.deepEqual(await sent(undefined, { group: { wait: { seconds: 3_600 } } }, [hook, pager as never]), [
    total,
    1,
    total,
  ])
  assert.deepEqual(await sent(undefined, { group: { wait: { seconds: 3_600 }, size: 10 } }), [
    total,
    Math.ceil(total / 10),
  ])
  const [, byMail] = await sent(undefined, {}, [mail as never])
  assert.ok(Number(byMail) >= 5 && Number(byMail) <= 8, String(byMail))
  const [alerts, opened] = await sent(SPECS.sum, {})
  const { open, episodes } = (await simulateOn(pool, ruleWith(SPECS.sum))).windows!
  assert.equal(opened, alerts)
  assert.deepEqual(await sent(SPECS.sum, { resolved: true }), [alerts, 2 * alerts! - open])
  assert.deepEqual(await sent(SPECS.sum, { resolved: true, group: { wait: { seconds: 3_600 } } }), [alerts, 1])
  // At its end an alert is not repeated.
  const repeats = episodes.map(({ opened, ended }) => Math.floor(((ended?.block ?? 80) - 1 - opened.block) / 2))
  const again = { after: { blocks: 2 } }
  const count = repeats.reduce((sum, one) => sum + one, 0)
  assert.ok(count > 3)
  assert.deepEqual(await sent(SPECS.sum, { again }), [alerts, alerts! + count])
  assert.deepEqual(await sent(SPECS.sum, { again, group: { wait: { seconds: 3_600 } } }), [alerts, 1])
  const [, worse] = await sent(SPECS.sum, { again: { ...again, if: 'Worse' } })
  assert.ok(worse! > alerts! && worse! < alerts! + count, String(worse))
})

test('the end of an alert is in the group of its own document, or of its block if it opened without a match', async t => {
  const { path } = createTestStore(chainOf(4))
  const pool = poolOn(t, path)
  const sent = async (when: WindowSpec, by: string[]) => {
    const notify: NotifyConfig = { resolved: true, group: { by, wait: { seconds: 3_600 }, size: 100 } }
    const { windows, messages } = await simulateOn(pool, ruleWith(when, { notify }))
    return { ...windows!, messages: messages![0]!.messages }
  }
  const sums = await sent(SPECS.sum!, ['from'])
  assert.ok(sums.episodes.filter(({ ended }) => ended).length > 3)
  assert.equal(sums.messages, new Set(sums.episodes.map(({ key }) => key.from)).size)
  // Silence opens in a block without a match of its sender: another block each time, but for those that open at once.
  const silence = await sent(SPECS.silence!, ['hash'])
  const without = silence.episodes.map(({ opened }) => opened.block)
  assert.ok(new Set(without).size > 3)
  assert.equal(silence.messages, new Set(without).size)
})

test('what takes too long, or has no room, is told and not guessed', async t => {
  const { path } = createTestStore(chainOf(5))
  const pool = poolOn(t, path)
  const slow = { ...pool, deadlineMs: 0 }
  const late = await simulateOn(slow, ruleWith(SPECS.sum, { notify: { resolved: true } }))
  assert.deepEqual([late.alerts, late.messages![0]!.messages, late.windows], [null, null, undefined])
  assert.match(late.warnings![0]!, /takes longer than query-deadline/)
  const few = await simulateOn(pool, ruleWith(SPECS.sum), {}, { ...DEFAULT_LIMITS, ruleKeys: 1 })
  assert.match(few.warnings![0]!, /at most 1 keys/)
})

/** A match of the rule above in a block. */
const matchIn = (block: number, from: string): StoredMatch =>
  ({ _id: `tx_${block}_${from}`, _source: { blockNumber: { num: block }, from } }) as unknown as StoredMatch

/** The episodes of a rule in matches, with the last match of each opening. */
const episodesIn = async (when: WindowSpec, matches: readonly StoredMatch[], from: number, to: number) => {
  const blocks = {
    timeOf: async (number: number) => number * 12,
    at: () => undefined,
    transactions: async () => new Map(),
    lastUntil: async (time: number, below: number) => Math.min(below, Math.floor(time / 12)),
    async *matches(_: unknown, __: unknown, first: number, end: number) {
      for (const match of matches) {
        const { num } = match._source.blockNumber as { num: number }
        if (num >= first && num <= end) yield match
      }
    },
  }
  const found: { episode: Episode; last: string | undefined }[] = []
  const limits = { keys: 100_000, rows: 1_000_000 }
  const ranges = [{ from: 0, to }]
  const told = { opened: (episode: Episode, last?: StoredMatch) => void found.push({ episode, last: last?._id }) }
  const { config } = ruleWith(when)
  await runWindows(
    { config, lists: NO_LISTS, limits, from, to, ranges, blocks, check() {} },
    { ...told, ended() {}, repeated() {} },
  )
  return found
}

test('what opens and ends in one block takes time in proportion to its keys', async () => {
  const count = 50_000
  const when: WindowSpec = {
    ...{ by: ['from'], within: { blocks: 2 } },
    conditions: [{ aggregate: 'Count', operator: 'Greater or Equal', value: '2' }],
  }
  const senders = Array.from({ length: count }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)
  const matches = [1, 2].flatMap(block => senders.map(sender => matchIn(block, sender)))
  const begin = performance.now()
  const found = await episodesIn(when, matches, 0, 3)
  const seconds = (performance.now() - begin) / 1_000
  assert.deepEqual(
    found.map(({ episode, last }) => [episode.opened.number, episode.ended?.number, last]),
    matches.slice(count).map(({ _id }) => [2, 3, _id]),
  )
  // With a search for each key it took half a minute.
  assert.ok(seconds < 15, `${seconds} s`)
})

const count = (operator: WindowOperator, value: string): WindowCondition => ({ aggregate: 'Count', operator, value })
const spansIn = async (...of: Parameters<typeof episodesIn>) =>
  (await episodesIn(...of)).map(
    ({ episode: { key, opened, ended } }) => `${key} ${opened.number}-${ended?.number ?? ''}`,
  )

test('a range has the episodes of all blocks that reach into it, from its begin on', async () => {
  const silence: WindowSpec = { within: { blocks: 10 }, hold: { blocks: 5 }, conditions: [count('Less', '1')] }
  assert.deepEqual(await spansIn(silence, [], 100, 200), ['[] 100-'])
  const specs: WindowSpec[] = [
    silence,
    { ...silence, within: { seconds: 60 }, hold: { seconds: 30 } },
    { within: { blocks: 10 }, conditions: [count('Less', '1')] },
    { by: ['from'], within: { blocks: 6 }, conditions: [count('Greater', '1')] },
    { by: ['from'], within: { seconds: 100 }, hold: { blocks: 2 }, conditions: [count('Greater', '1')] },
  ]
  const random = createRandom(8)
  for (const spec of specs)
    for (let run = 0; run < 20; run++) {
      const busy = random.int(5, 40) / 100
      const matches = Array.from({ length: 200 }, (_, block) =>
        random.chance(busy) && block % 70 > 25 ? [matchIn(block, random.pick(SENDERS))] : [],
      ).flat()
      const from = random.int(60, 150)
      const expected = (await episodesIn(spec, matches, 0, 199))
        .map(({ episode: { key, opened, ended } }) => ({ key, opened: opened.number, ended: ended?.number }))
        .filter(({ ended }) => ended === undefined || ended > from)
        .map(({ key, opened, ended }) => `${key} ${Math.max(from, opened)}-${ended ?? ''}`)
      assert.deepEqual((await spansIn(spec, matches, from, 199)).sort(), expected.sort(), JSON.stringify([spec, from]))
    }
})

test('an episode that lies between its two bounds at the begin of a range is open there', async () => {
  const when: WindowSpec = {
    ...{ within: { blocks: 10 }, conditions: [count('Greater or Equal', '5')], resolve: [count('Less or Equal', '1')] },
  }
  const matches = [90, 90, 90, 91, 92, 96, 96].map(block => matchIn(block, SENDERS[0]!))
  assert.deepEqual(await spansIn(when, matches, 0, 120), ['[] 92-106'])
  assert.deepEqual(await spansIn(when, matches, 101, 120), ['[] 101-106'])
  assert.deepEqual(await spansIn(when, matches, 105, 120), ['[] 105-106'])
  assert.deepEqual(await spansIn(when, matches, 106, 120), [])
  // It ended in a block without a match.
  const again = [...matches, ...[108, 108].map(block => matchIn(block, SENDERS[0]!))]
  assert.deepEqual(await spansIn(when, again, 110, 120), [])
})

test('a network without matches, or without blocks, adds nothing to a back-test of several', async t => {
  const names = ['evm/a/net', 'evm/b/net', 'evm/c/net', 'evm/d/net']
  const stores = new Map<string, string>()
  const chains = [chainOf(6), makeChain({ blocks: 20, txs: 0, logs: 0 }), chainOf(7)]
  for (const [i, chain] of chains.entries()) stores.set(names[i]!, createTestStore(chain).path)
  const pool = createPool({ stores: () => stores, threads: 1, deadlineMs: 60_000, limits: DEFAULT_LIMITS })
  t.after(() => pool.close())
  const found = async (rule: RuleInput, among: readonly string[], range: SimulatedRange = {}) =>
    simulate(
      { pool, networks: () => among, lists: NO_LISTS, limits: DEFAULT_LIMITS },
      { ...rule, technology: 'evm', blockchain: '*', network: '*' },
      range,
      { account: 1, signal: new AbortController().signal },
    )
  const group: NotifyConfig = { group: { wait: { seconds: 60 } } }
  for (const rule of [ruleWith(undefined), ruleWith(undefined, { notify: group }), ruleWith(SPECS.sum)]) {
    const alone = [await found(rule, [names[0]!]), await found(rule, [names[2]!])]
    const sum = (of: (one: RuleSimulation) => number | null) => alone.reduce((all, one) => all + of(one)!, 0)
    assert.ok(alone.every(({ alerts }) => alerts! > 0))
    for (const range of [{}, { buckets: 4 }]) {
      const all = await found(rule, names, range)
      assert.equal(
        all.alerts,
        sum(({ alerts }) => alerts!),
      )
      assert.deepEqual(
        all.messages!.map(({ messages }) => messages),
        [sum(({ messages }) => messages![0]!.messages)],
      )
      assert.equal(all.windows?.open, rule.config.when && sum(({ windows }) => windows!.open))
      assert.deepEqual(
        all.networks!.map(({ alerts }) => alerts),
        [alone[0]!.alerts, 0, alone[1]!.alerts, 0],
      )
    }
  }
})

test('windows over several networks are not evaluated in each by itself, and that is told', async t => {
  const { path } = createTestStore(chainOf(5))
  const rule = ruleWith({ ...SPECS.sum!, within: { seconds: 60 }, across: true })
  const found = await simulateOn(poolOn(t, path), rule)
  assert.deepEqual([found.alerts, found.messages![0]!.messages, found.windows], [null, null, undefined])
  assert.ok(found.total > 0)
  assert.deepEqual(found.warnings, [
    'The alerts of the rule in these blocks were not counted: these are matches of each network by itself. What they make together is seen as blocks arrive.',
  ])
})
