import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { createRulesService } from '../../src/app/rules.ts'
import { loadConfig } from '../../src/config/index.ts'
import { createShutdown } from '../../src/lib/shutdown.ts'
import type { RuleInput } from '../../src/rules/rule.ts'
import { openRules } from '../../src/rules/store.ts'
import type { Pool } from '../../src/search/pool.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'

const rule = (name: string, change = {}) => ruleBody({ name, ...change }) as unknown as RuleInput
const MAINNET = 'ethereum/ethereum/mainnet'
const NONE = { create: [], replace: [], remove: [] }

/** The book of the only account; `asked` are the networks whose ranges were read. */
const setUp = (t: TestContext, limits: string[] = []) => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-book-'))
  const accounts = openAccounts(data)
  accounts.createToken('alice')
  accounts.close()
  const asked: string[] = []
  const ranges = async (network: string) => {
    asked.push(network)
    return [{ from: 0, to: 9 }]
  }
  const shutdown = createShutdown()
  const config = loadConfig({ flags: { data, limit: limits }, env: {}, cwd: data })
  const { book } = createRulesService(
    config,
    { shutdown },
    {
      networks: () => [MAINNET],
      openPool: () => ({ ranges }) as unknown as Pool,
    },
  )
  const rules = openRules(data)
  t.after(async () => {
    rules.close()
    await shutdown.close()
    rmSync(data, { recursive: true })
  })
  return { book: book(undefined), rules, asked }
}

test('the ranges of a network are read once for all rules that are created', async t => {
  const { book, rules, asked } = setUp(t)
  const names = Array.from({ length: 30 }, (_, i) => `Rule ${i}`)
  const steps: number[] = []
  const { created } = await book.change({ ...NONE, create: names.map(name => rule(name)) }, n => steps.push(n))
  assert.deepEqual(
    created,
    names.map((name, i) => ({ id: i + 1, name })),
  )
  assert.deepEqual(asked, [MAINNET])
  assert.deepEqual(
    steps,
    names.map((_, i) => i + 1),
  )
  assert.ok(rules.list(1).every(({ startBlock }) => startBlock === 10))
})

test('all changes of a file are made, or none of them', async t => {
  const { book, rules } = setUp(t, ['rules=3'])
  await book.change({ ...NONE, create: ['a', 'b', 'c'].map(name => rule(name)) })
  const before = rules.list(1)
  const inward = { config: ruleConfig({ alerts: [{ type: 'Chat', parameters: { url: 'http://10.0.0.1/' } }] }) }
  const edits = { create: [rule('d')], replace: [{ id: 2, rule: rule('b', { enabled: false }) }], remove: [1] }
  for (const [more, code, told] of [
    [{ create: [rule('d'), rule('e', inward)] }, 'bad_rule', /^"e": config\.alerts\[0\]/],
    [{ create: [rule('d'), rule('e')] }, 'validation_exception', /more than 3 rules/],
    [{ remove: [1, 99] }, 'unknown_rule', /no rule 99/],
  ] as const) {
    await assert.rejects(book.change({ ...edits, ...more }), { code, message: told })
    assert.deepEqual(rules.list(1), before)
  }
  const { created, replaced, removed } = await book.change(edits)
  assert.deepEqual(
    [created.map(({ id }) => id), replaced.map(({ cancelledDeliveries }) => cancelledDeliveries), removed],
    [[4], [0], [{ cancelledDeliveries: 0 }]],
  )
  assert.deepEqual(
    rules.list(1).map(({ id, enabled, input }) => [id, input.name, enabled]),
    [
      [2, 'b', false],
      [3, 'c', true],
      [4, 'd', true],
    ],
  )
})
