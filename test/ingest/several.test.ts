import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { openOutbox } from '../../src/alerts/outbox.ts'
import { simulate } from '../../src/app/simulate.ts'
import { storeFile } from '../../src/engine/files.ts'
import type { Indexing } from '../../src/ingest/network.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { NO_LISTS } from '../../src/rules/lower.ts'
import type { RuleInput } from '../../src/rules/rule.ts'
import { openRules } from '../../src/rules/store.ts'
import { createPool } from '../../src/search/pool.ts'
import { dataFolder } from '../support/delivery.ts'
import { followJob, indexIn, reported } from '../support/indexing.ts'
import { type FakeNode, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'

const NAMES = ['ethereum/a/net', 'ethereum/b/net', 'ethereum/c/net'] as const

test('a rule of all networks fires once in each, while the node of one hangs and that of another fails', async t => {
  const data = await dataFolder(t)
  const accounts = openAccounts(data)
  accounts.createToken('alice')
  accounts.close()
  const rules = openRules(data)
  t.after(rules.close)
  const targetMap = [{ name: 'number', operator: 'Greater or Equal', value: '0' }]
  const rule = {
    ...ruleBody({ blockchain: '*', network: '*', maxConfirmationCount: 0 }),
    config: ruleConfig({ targetType: 'Block', targetMap }),
  } as unknown as RuleInput
  const { id } = rules.create(1, rule, 0)

  const chains = NAMES.map((_, i) => makeChain({ blocks: 8, txs: 1, logs: 1, salt: String(i) }))
  const nodes: FakeNode[] = []
  const indexings: Indexing[] = []
  for (const [i, network] of NAMES.entries()) {
    const node = await startNode(t, chains[i])
    nodes.push(node)
    const job = followJob(node, { node: { timeoutMs: 500 }, from: { block: 0 }, finality: 4 })
    indexings.push(indexIn(t, data, job, { network, storeBatch: 50 }))
  }
  const blocksOf = (place: number, count: number) => reported(indexings[place]!, ({ blocks }) => blocks >= count)
  for (const place of NAMES.keys()) await blocksOf(place, 8)

  nodes[0]!.trouble = () => 'hang'
  nodes[1]!.trouble = () => ({ status: 500 })
  nodes[2]!.extend(makeChain({ blocks: 5, txs: 1, logs: 1, salt: '2', parent: chains[2]!.at(-1)! }))
  await blocksOf(2, 13)
  nodes[1]!.trouble = () => undefined
  nodes[1]!.extend(makeChain({ blocks: 1, txs: 1, logs: 1, salt: '1', parent: chains[1]!.at(-1)! }))
  await blocksOf(1, 9)

  const ids = new Set<string>()
  for (const [i, count] of [8, 9, 13].entries()) {
    const outbox = openOutbox(storeFile(data, NAMES[i]!))
    const alerts = outbox.alerts(id, { size: 100 }).map(({ alert }) => alert)
    outbox.close()
    assert.deepEqual(
      alerts.map(({ block }) => block).sort((a, b) => a - b),
      Array.from({ length: count }, (_, block) => block),
    )
    for (const alert of alerts) ids.add(alert.id)
  }
  assert.equal(ids.size, 30)

  const stores = new Map(NAMES.map(network => [network, storeFile(data, network)] as const))
  const pool = createPool({ stores: () => stores, threads: 1, deadlineMs: 10_000, limits: DEFAULT_LIMITS })
  t.after(() => pool.close())
  const found = await simulate(
    { pool, networks: () => NAMES, lists: NO_LISTS },
    rule,
    { size: 3 },
    { account: 1, signal: new AbortController().signal },
  )
  assert.deepEqual([found.total, found.complete, found.hits.length], [30, true, 3])
  assert.deepEqual(
    found.networks!.map(({ network, total, toBlock }) => [network, total, toBlock]),
    [
      [NAMES[0], 8, 7],
      [NAMES[1], 9, 8],
      [NAMES[2], 13, 12],
    ],
  )
})
