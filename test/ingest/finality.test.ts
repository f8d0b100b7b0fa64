import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import type { BlockRef, FinalityBlocks } from '../../src/chain/source.ts'
import { createFinality, finalityTrouble } from '../../src/ingest/finality.ts'
import type { IndexJob, Report } from '../../src/ingest/messages.ts'
import type { RuleInput } from '../../src/rules/rule.ts'
import { openRules } from '../../src/rules/store.ts'
import { folderToIndex, followJob, indexIn, NETWORK, reported } from '../support/indexing.ts'
import { type FakeNode, fastClock, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'

const [technology, blockchain, network] = NETWORK.split('/')
const everyBlock = (maxConfirmationCount: RuleInput['maxConfirmationCount']) =>
  ruleBody({
    ...{ technology, blockchain, network, maxConfirmationCount, startBlock: 0 },
    config: ruleConfig({
      targetType: 'Block',
      targetMap: [{ name: 'number.num', operator: 'Greater or Equal', value: '0' }],
    }),
  }) as unknown as RuleInput

/** Follows a node; rules 1, 2 and 3 wait for safe, for finalized, and for two blocks. */
const follow = async (t: TestContext, node: FakeNode, rest: Partial<Extract<IndexJob, { type: 'follow' }>> = {}) => {
  const { data, store } = await folderToIndex(t)
  const accounts = openAccounts(data)
  accounts.createToken('one')
  accounts.close()
  const rules = openRules(data)
  for (const confirmations of ['safe', 'finalized', 2] as const) rules.create(1, everyBlock(confirmations), 0)
  rules.close()
  const job = followJob(node, { node: { pollMs: 10 }, from: { block: 0 }, order: 'oldest', finality: 5, ...rest })
  const indexing = indexIn(t, data, job)
  const outbox = openOutbox(store)
  t.after(() => outbox.close())
  const until = (holds: (report: Report) => boolean) => reported(indexing, holds)
  const fired = (rule: number) =>
    outbox
      .alerts(rule, { size: 1000, state: 'confirmed' })
      .map(({ alert }) => alert.block)
      .sort((a, b) => a - b)
      .at(-1) ?? -1
  return { indexing, until, fired }
}

test('alerts fire as the marks of a node move, and a reorganisation below the finalized block stops', async t => {
  const chain = makeChain({ blocks: 30, txs: 1 })
  const node = await startNode(t, chain.slice(0, 20))
  node.tags.set('safe', 17).set('finalized', 12)
  const { indexing, until, fired } = await follow(t, node, { finality: 20 })
  await until(() => fired(1) === 17 && fired(2) === 12 && fired(3) === 17)
  // The thread that indexes reports after it has noted alerts.
  await until(({ finality }) => finality?.finalized === 12)
  assert.deepEqual(indexing.report().finality, { safe: 17, finalized: 12, depth: 20 })
  node.extend(chain.slice(20))
  node.tags.set('safe', 25).set('finalized', 20)
  await until(() => fired(1) === 25 && fired(2) === 20 && fired(3) === 27)
  node.extend(makeChain({ blocks: 15, txs: 1, parent: chain[17]!, salt: 'other' }))
  await assert.rejects(
    until(() => false),
    { code: 'reorg_below_finalized', next: 'stop' },
  )
  assert.deepEqual([fired(1), fired(2)], [25, 20])
})

test('where a node has no tags, rules wait for the depth of finality, and that is said', async t => {
  const node = await startNode(t, makeChain({ blocks: 20, txs: 1 }))
  const { indexing, until, fired } = await follow(t, node)
  await until(() => fired(1) === 14 && fired(2) === 14 && fired(3) === 17)
  await until(({ finality }) => finality !== null)
  const { finality } = indexing.report()
  assert.deepEqual(finality, { safe: null, finalized: null, depth: 5 })
  assert.equal(
    finalityTrouble('finalized', finality),
    'The nodes of this network do not report which blocks are finalized: alerts of the rule wait for 5 blocks instead (--finality).',
  )
  assert.equal(finalityTrouble(3, finality), undefined)
  assert.equal(finalityTrouble('safe', { safe: 3, finalized: null, depth: 5 }), undefined)
})

test('with finality down to the finalized block, a back-fill ends there, and what is above it is followed', async t => {
  const chain = makeChain({ blocks: 30, txs: 1 })
  const node = await startNode(t, chain)
  node.tags.set('safe', 9).set('finalized', 8)
  const { until } = await follow(t, node, { toFinalized: true })
  await until(({ added, done, total }) => added[0]?.to === 29 && done === 9 && total === 9)
  const branch = makeChain({ blocks: 25, txs: 1, parent: chain[9]!, salt: 'other' })
  node.extend(branch)
  await until(({ newest }) => newest?.number === 34)
})

test('a tag is missed only after several looks, and a node that lags or fails takes none back', async () => {
  const refs = Array.from({ length: 20 }, (_, number): BlockRef => ({ number, hash: `block ${number}` }))
  let answer: FinalityBlocks | Error = { safe: null, finalized: null }
  const told: unknown[] = []
  const finality = createFinality({
    source: {
      finality: async () => {
        if (answer instanceof Error) throw answer
        return answer
      },
    },
    stored: number => refs[number],
    tell: async ({ safe, finalized }) => void told.push([safe?.number ?? null, finalized?.number ?? null]),
    depth: 7,
    clock: fastClock(1000),
  })
  const signal = AbortSignal.timeout(10_000)
  await finality.look(signal)
  assert.deepEqual([told, finality.report()], [[], null])
  assert.equal(await finality.known(signal), null)
  assert.deepEqual(told, [[null, null]])
  answer = { safe: refs[9]!, finalized: refs[5]! }
  await finality.look(signal)
  answer = { safe: refs[8]!, finalized: null }
  await finality.look(signal)
  answer = new Error('gone')
  await assert.rejects(finality.look(signal))
  assert.deepEqual(told, [
    [null, null],
    [9, 5],
  ])
  assert.deepEqual([finality.finalized(), finality.report()], [5, { safe: 9, finalized: 5, depth: 7 }])
  // What a node tells of a branch that is not stored is not verified.
  answer = { safe: refs[9]!, finalized: { number: 12, hash: 'another block 12' } }
  await finality.look(signal)
  assert.equal(finality.finalized(), 5)
})
