import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { storeFile } from '../../src/engine/files.ts'
import { openRules } from '../../src/rules/store.ts'
import { dataFolder } from '../support/delivery.ts'
import { followJob, indexIn, NETWORK, readStore, reported, until } from '../support/indexing.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { ruleOn } from '../support/rules.ts'

test('a new rule knows what its windows had, fills them over a restart, and tells nothing of earlier blocks', {
  timeout: 240_000,
}, async t => {
  const data = await dataFolder(t)
  const accounts = openAccounts(data)
  accounts.createToken('alice')
  accounts.close()
  const rules = openRules(data)
  t.after(rules.close)
  const chain = makeChain({ blocks: 60, txs: 2, logs: 0 })
  const node = await startNode(t, chain.slice(0, 50))
  const start = () => indexIn(t, data, followJob(node, { from: { block: 0 }, finality: 4, order: 'oldest' }))
  let indexing = start()
  await reported(indexing, ({ blocks }) => blocks >= 50)
  const when = (value: string, operator: string) => ({
    within: { blocks: 40 },
    conditions: [{ aggregate: 'Count', operator, value }],
  })
  const on = ruleOn(NETWORK, ['Transaction', 'value', 'Greater or Equal', '0'], [])
  const make = (value: string, operator = 'Greater or Equal') =>
    rules.create(1, { ...on, config: { ...on.config, when: when(value, operator) } } as never, 50).id
  // 40 blocks have 80 transactions, and those that come after the rule have a few.
  const [held, never, few] = [make('80'), make('81'), make('80', 'Less or Equal')]
  const paid = (value: number) => ({
    ...{ targetType: 'Transaction', by: ['to'] },
    targetMap: [{ name: 'value', operator: 'Equals', value: String(value) }],
  })
  // The first step is in block 20, long before the rule.
  const steps = { steps: [paid(20_000), paid(52_000)], within: { blocks: 40 } }
  const followed = rules.create(1, { ...on, config: { ...on.config, when: steps } } as never, 50).id
  const sinceOf = () =>
    readStore(storeFile(data, NETWORK), db =>
      db.prepare<[], number>('SELECT since FROM rule_window ORDER BY rule').pluck().all(),
    )
  const extend = async (block: RawBlock) => {
    node.extend([block])
    const { number } = block.block
    await until(() =>
      readStore(
        storeFile(data, NETWORK),
        db =>
          db.prepare<[number], number>('SELECT count(*) FROM block WHERE number = ?').pluck().get(Number(number)) === 1,
      ),
    )
  }
  await extend(chain[50]!)
  await indexing.stop()
  indexing = start()
  await until(() => sinceOf().length === 4 && sinceOf().every(since => since <= 13), sinceOf)
  await extend(chain[51]!)
  await extend(chain[52]!)
  const outbox = openOutbox(storeFile(data, NETWORK))
  t.after(() => outbox.close())
  const alertsOf = (id: number) =>
    outbox.alerts(id, { size: 10 }).map(({ alert: { block, when } }) => [block, when!.window.fromBlock, when!.matches])
  for (const id of [held, few]) {
    const [[block, from, matches] = []] = alertsOf(id)
    assert.ok(block === 51 || block === 52, String(block))
    assert.deepEqual([from, matches], [block - 39, 80])
    assert.equal(alertsOf(id).length, 1)
  }
  assert.deepEqual(alertsOf(never), [])
  assert.deepEqual(alertsOf(followed), [[52, 20, 2]])
})
