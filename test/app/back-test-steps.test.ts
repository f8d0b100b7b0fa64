import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import { openAccounts } from '../../src/accounts/index.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import { simulate } from '../../src/app/simulate.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { storeFile } from '../../src/engine/files.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { NO_LISTS } from '../../src/rules/lower.ts'
import type { NotifyConfig, RuleInput } from '../../src/rules/rule.ts'
import type { SimulatedRange } from '../../src/rules/search.ts'
import { openRules } from '../../src/rules/store.ts'
import type { SequenceSpec } from '../../src/rules/windows/steps.ts'
import { createPool, type Pool } from '../../src/search/pool.ts'
import { dataFolder } from '../support/delivery.ts'
import { followJob, indexIn, NETWORK, reported } from '../support/indexing.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore } from '../support/store.ts'

const SENDERS = ['aa', 'bb'].map(byte => `0x${byte.repeat(20)}` as const)
const LENGTH = 70

/** Blocks with three transactions of few senders, whose amounts are small, and a log in each. */
const chainOf = (seed: number): RawBlock[] => {
  const random = createRandom(seed)
  const chain = makeChain({ blocks: LENGTH, txs: 3, logs: 1 })
  for (const { block } of chain)
    for (const tx of block.transactions)
      Object.assign(tx, { from: random.pick(SENDERS), value: `0x${random.int(0, 5).toString(16)}` })
  return chain
}

const paid = (value: string) => ({
  targetType: 'Transaction' as const,
  targetMap: [{ name: 'value', operator: 'Equals' as const, value }],
})
const anyLog = {
  targetType: 'Log' as const,
  targetMap: [{ name: 'blockNumber', operator: 'Greater or Equal' as const, value: '0' }],
}

const SPECS: Readonly<Record<string, SequenceSpec>> = {
  pair: {
    steps: [{ by: ['from'] }, { ...paid('2'), by: ['from'] }],
    within: { blocks: 6 },
    until: { ...paid('3'), by: ['from'] },
  },
  missing: { steps: [{ by: ['from'] }, { ...paid('2'), by: ['from'], missing: true }], within: { seconds: 60 } },
  three: {
    steps: [{ by: ['from'] }, { ...paid('2'), by: ['from'] }, { ...paid('4'), by: ['from'], missing: true }],
    within: { blocks: 4 },
  },
  // A transaction comes before its log, and a log before the next transaction.
  mixed: { steps: [{ by: ['hash'] }, { ...anyLog, by: ['transactionHash'] }], within: { blocks: 1 } },
  never: {
    steps: [
      { ...anyLog, by: ['transactionHash'] },
      { ...paid('1'), by: ['hash'] },
    ],
    within: { blocks: 1 },
  },
  logs: { steps: [anyLog, paid('5')], within: { seconds: 12 } },
}

const ruleWith = (when: SequenceSpec, notify?: NotifyConfig, alerts?: object[]) => {
  const [technology, blockchain, network] = NETWORK.split('/')
  return {
    ...{ name: 'steps', maxConfirmationCount: 0, technology, blockchain, network },
    config: {
      ...paid('1'),
      ...{ when, notify },
      alerts: alerts ?? [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/' } }],
    },
  } as unknown as RuleInput
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
) =>
  simulate({ pool, networks: () => [NETWORK], lists: NO_LISTS, limits }, rule, range, {
    account: 1,
    signal: new AbortController().signal,
  })

test('a back-test of steps finds what live indexing of the same blocks has made', { timeout: 240_000 }, async t => {
  const data = await dataFolder(t)
  const accounts = openAccounts(data)
  accounts.createToken('alice')
  accounts.close()
  const rules = openRules(data)
  t.after(rules.close)
  const made = Object.entries(SPECS).map(([name, when]) => ({ name, rule: ruleWith(when) }))
  const ids = made.map(({ rule }) => rules.create(1, rule, 0).id)
  const [first, ...rest] = chainOf(1) as [RawBlock, ...RawBlock[]]
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
    const live = outbox.alerts(ids[i]!, { size: 1_000 }).map(({ alert: { block, when } }) => ({ block, ...when! }))
    assert.equal(live.length > 1, name !== 'never', `${name}: ${live.length}`)
    for (const [fromBlock, toBlock] of [
      [0, LENGTH - 1],
      [27, 50],
      [60, 69],
    ] as const) {
      const { alerts, windows } = await simulateOn(pool, rule, { fromBlock, toBlock })
      const shown = windows!.episodes.map(({ key, opened, steps, matches }) =>
        JSON.stringify([opened.block, key, steps, matches]),
      )
      const expected = live
        .filter(({ block }) => fromBlock <= block && block <= toBlock)
        .map(({ block, key, steps, matches }) => JSON.stringify([block, key, steps, matches]))
      assert.deepEqual(shown.toSorted(), expected.sort(), `${name} ${fromBlock}`)
      const blocks = windows!.episodes.map(({ opened }) => opened.block)
      assert.deepEqual(
        blocks,
        blocks.toSorted((a, b) => b - a),
      )
      assert.deepEqual([alerts, windows!.undecided, windows!.open], [expected.length, [], 0])
    }
  }
})

test('over blocks that are not stored, a back-test of steps tells which are undecided', async t => {
  const { path } = createTestStore(chainOf(2).filter((_, i) => i >= 5 && (i < 30 || i >= 40)))
  const pool = poolOn(t, path)
  const undecidedOf = async (name: string, range: SimulatedRange) =>
    (await simulateOn(pool, ruleWith(SPECS[name]!), range)).windows!.undecided
  const range = { fromBlock: 20, toBlock: 60 }
  assert.deepEqual(await undecidedOf('pair', range), [{ from: 40, to: 44 }])
  // What began before the blocks is told only after a window.
  assert.deepEqual(await undecidedOf('missing', range), [{ from: 40, to: 45 }])
  assert.deepEqual(await undecidedOf('pair', { fromBlock: 0, toBlock: 29 }), [{ from: 5, to: 9 }])
  assert.deepEqual(await undecidedOf('mixed', range), [])
})

test('messages of steps are those that group leaves, by the document that completes them', async t => {
  const { path } = createTestStore(chainOf(3))
  const pool = poolOn(t, path)
  const sent = async (when: SequenceSpec, notify: NotifyConfig) => {
    const { alerts, messages } = await simulateOn(pool, ruleWith(when, notify))
    return [alerts, messages![0]!.messages]
  }
  const [alerts, alone] = await sent(SPECS.pair!, {})
  assert.ok(alerts! > 3)
  assert.equal(alone, alerts)
  assert.deepEqual(await sent(SPECS.pair!, { group: { by: ['from'], wait: { seconds: 3_600 } } }), [alerts, 2])
  // The alert is of the block in which it is told.
  const { windows } = await simulateOn(pool, ruleWith(SPECS.missing!))
  const told = windows!.episodes.map(({ opened }) => opened.block)
  assert.ok(new Set(told).size > 3)
  const [, byBlock] = await sent(SPECS.missing!, { group: { by: ['hash'], wait: { seconds: 3_600 } } })
  assert.equal(byBlock, new Set(told).size)
})

test('what takes too long, or has no room, is told and not guessed', async t => {
  const { path } = createTestStore(chainOf(4))
  const pool = poolOn(t, path)
  const late = await simulateOn({ ...pool, deadlineMs: 0 }, ruleWith(SPECS.pair!))
  assert.deepEqual([late.alerts, late.windows], [null, undefined])
  assert.match(late.warnings![0]!, /takes longer than query-deadline/)
  const few = await simulateOn(pool, ruleWith(SPECS.pair!), {}, { ...DEFAULT_LIMITS, ruleKeys: 1 })
  assert.match(few.warnings![0]!, /^Its sequences hold at most 1 keys/)
  const one = await simulateOn(pool, ruleWith(SPECS.mixed!), {}, { ...DEFAULT_LIMITS, ruleMatches: 1 })
  assert.match(one.warnings![0]!, /makes at most 1 alerts in one block: \d+ sequences made none/)
  const hidden = ruleWith({
    steps: [{ by: ['from'] }, { ...anyLog, targetType: 'Event' as const, by: ['args.order.0'] }],
    within: { blocks: 1 },
  })
  assert.match((await simulateOn(pool, hidden)).warnings![0]!, /do not show args\.order\.0, which lies within/)
})
