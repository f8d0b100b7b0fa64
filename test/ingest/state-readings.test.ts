import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AlertUpdate, OF_STATE, type Scan } from '../../src/alerts/alert-store.ts'
import { createStateReadings, KEPT_STATE } from '../../src/ingest/rules/state-readings.ts'
import { retry } from '../../src/lib/errors.ts'
import { gapsIn, type Range } from '../../src/lib/ranges.ts'
import { systemClock } from '../../src/lib/retry.ts'
import { NO_LISTS } from '../../src/rules/lower.ts'
import type { StoredRule } from '../../src/rules/rule.ts'
import { never } from '../support/chain-source.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'

const WALLET = `0x${'11'.repeat(20)}`

/** A chain whose blocks have the balance 0, read by one rule from block 10 on. */
const setUp = (top: number, every = 1) => {
  const config = ruleConfig({
    ...{ targetType: 'State', targetMap: [{ name: 'value', operator: 'Equals', value: '0' }] },
    read: { balances: [WALLET], every: { blocks: every } },
  } as never)
  const rule = {
    ...{ id: 1, account: 1, revision: 1, matching: 1, enabled: true, network: 'a/b/c', startBlock: 10 },
    ...{ input: ruleBody({ config }), createdAt: 0, updatedAt: 0 },
  } as unknown as StoredRule
  const scans = new Map<number, Scan>([[1, { rule: 1, start: 10, next: 10, last: OF_STATE }]])
  const told: AlertUpdate[] = []
  const chain = { top, branch: 'a', gap: undefined as Range | undefined, floor: 0, filling: false }
  let trouble: string | undefined
  let elapsed = 0
  const it = {
    ...{ scans, told, chain },
    trouble: () => trouble,
    read: async (_: string): Promise<void> => {},
    asked: [] as number[],
    later() {
      elapsed += 60_000
    },
  }
  const step = createStateReadings({
    network: 'a/b/c',
    rules: {
      ...{ ofState: () => [rule], rule: () => rule, scans, listsOf: () => NO_LISTS },
      trouble(_, why) {
        trouble = why
      },
    },
    read: async (hash, questions) => {
      it.asked.push(Number(hash.slice(3)))
      await it.read(hash)
      return questions.map(() => ({ hex: '0x0' }))
    },
    blocks: {
      hash: number =>
        number <= chain.top && !(chain.gap && number >= chain.gap.from && number <= chain.gap.to)
          ? `0x${chain.branch}${number}`
          : undefined,
      ranges: () => gapsIn(chain.gap ? [chain.gap] : [], chain.floor, chain.top),
      floor: () => chain.floor,
      chainId: () => 1,
    },
    isFilling: () => chain.filling,
    timeOf: number => number * 12,
    tell: async update => void told.push(update),
    clock: { ...systemClock, elapsed: () => elapsed },
    signal: never,
  })
  const found = () => told.flatMap(({ hits }) => hits.map(({ block }) => block))
  return { ...it, it, step, found }
}

test('blocks that are divisible are read once, each compared with the one before', async () => {
  const { step, found, it } = setUp(31, 10)
  await step()
  await step()
  assert.deepEqual(found(), [10, 20, 30])
  // Only of the first one, the reading before is asked for.
  assert.deepEqual(it.asked, [10, 0, 20, 30])
  assert.deepEqual(it.told.at(-1)!.scans, [
    { rule: 1, start: 10, next: 31, last: OF_STATE, read: { block: 30, hash: '0xa30' } },
  ])
})

test('a node that fails is asked again after a while, and the rule says so', async () => {
  const { step, found, trouble, it } = setUp(12)
  it.read = async () => {
    throw retry('node_unreachable', 'no node answers')
  }
  await step()
  await step()
  assert.equal(trouble(), 'The state of block 10 is not read yet, and is asked for again: no node answers.')
  assert.deepEqual(it.asked, [10])
  it.read = async () => {}
  it.later()
  await step()
  assert.deepEqual(found(), [10, 11, 12])
  assert.equal(trouble(), undefined)
})

test('state that nodes have dropped is left out up to what they have, which the rule says', async () => {
  const { step, found, trouble, it } = setUp(10_000)
  const oldest = 10_000 - KEPT_STATE + 10
  it.read = async hash => {
    if (Number(hash.slice(3)) < oldest) throw retry('block_missing', 'missing trie node')
  }
  for (let i = 0; found().at(-1) !== it.chain.top && i < 200; i++) {
    await step()
    it.later()
    it.chain.top++
  }
  const blocks = found()
  assert.ok(blocks[0]! < oldest + KEPT_STATE, String(blocks[0]))
  assert.deepEqual(
    blocks,
    Array.from(blocks, (_, i) => blocks[0]! + i),
  )
  assert.ok(it.told.length < blocks.length + 20)
  assert.equal(trouble(), undefined)
})

test('a rule that is far behind leaves out no block because of a node that is slow, broken or refuses', async () => {
  const { step, found, trouble, it } = setUp(10_000)
  const codes = [
    'timeout',
    'http_status',
    'quota_used',
    'refused',
    'bad_answer',
    'error',
    'unreachable',
    'rate_limited',
  ]
  for (const code of codes) {
    it.read = async () => {
      throw retry(`node_${code}`, `says ${code}`)
    }
    await step()
    assert.equal(trouble(), `The state of block 10 is not read yet, and is asked for again: says ${code}.`)
    it.later()
  }
  // Nor is the reading before given up.
  it.read = async hash => {
    if (hash === '0xa9') throw retry('node_timeout', 'does not answer')
  }
  await step()
  assert.deepEqual(found(), [])
  it.later()
  it.read = async () => {}
  await step()
  assert.equal(found()[0], 10)
  assert.ok(!it.told[0]!.hits[0]!.source.includes('"previous":null'))
})

test('blocks between stored ones are waited for while they are fetched, and left out once they are not', async () => {
  const { step, found, trouble, it } = setUp(20)
  Object.assign(it.chain, { gap: { from: 12, to: 17 }, filling: true })
  await step()
  assert.deepEqual(found(), [10, 11])
  assert.equal(trouble(), 'The state of blocks 12 to 17 is not read yet: these blocks are still being fetched.')
  it.chain.gap = { from: 14, to: 17 }
  await step()
  assert.deepEqual(found(), [10, 11, 12, 13])
  it.chain.filling = false
  const troubles: unknown[] = []
  it.read = async () => void troubles.push(trouble())
  await step()
  assert.deepEqual(found(), [10, 11, 12, 13, 18, 19, 20])
  assert.equal(
    troubles[0],
    'The state of blocks 14 to 17 was not read, and made no alerts: these blocks are not stored.',
  )
})

test('blocks that were pruned are not waited for', async () => {
  const { step, found, it } = setUp(20)
  Object.assign(it.chain, { floor: 18, filling: true })
  await step()
  assert.deepEqual(found(), [18, 19, 20])
})

test('what is read of a block that is replaced meanwhile is dropped', async () => {
  const { step, found, it } = setUp(10)
  it.read = async () => {
    it.chain.branch = 'b'
  }
  await step()
  assert.deepEqual(found(), [])
  it.read = async () => {}
  await step()
  assert.deepEqual(
    it.told.map(({ hits }) => hits.map(({ blockHash }) => blockHash)),
    [['0xb10']],
  )
})
