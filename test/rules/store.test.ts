import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { connectAccounts } from '../../src/accounts/file.ts'
import { openAccounts } from '../../src/accounts/index.ts'
import { DEFAULT_LIMITS, overLimit } from '../../src/limits/index.ts'
import type { RuleInput, StoredRule } from '../../src/rules/rule.ts'
import { openRules } from '../../src/rules/store.ts'
import { openSecrets } from '../../src/rules/webhook-secrets.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-rules-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0
const MAINNET = 'ethereum/ethereum/mainnet'
const GNOSIS = 'ethereum/gnosis/mainnet'

/** A folder with the accounts 1 and 2. */
const open = () => {
  const folder = join(root, String(++folders))
  const accounts = openAccounts(folder)
  for (const name of ['alice', 'bob']) accounts.createToken(name)
  accounts.close()
  const time = { now: 1_000 }
  const again = () => openRules(folder, { now: () => time.now })
  return { folder, time, again, rules: again() }
}

const input = (change: Partial<RuleInput> = {}): RuleInput => ({
  name: 'Large transfers',
  maxConfirmationCount: 3,
  technology: 'ethereum',
  blockchain: 'ethereum',
  network: 'mainnet',
  config: {
    targetType: 'Event',
    targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }],
    alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org' } }],
  },
  ...change,
})
const stored = (change: Partial<StoredRule> = {}): StoredRule => ({
  id: 1,
  account: 1,
  revision: 1,
  matching: 1,
  enabled: true,
  network: MAINNET,
  startBlock: 100,
  input: input(),
  createdAt: 1_000,
  updatedAt: 1_000,
  ...change,
})
const listening = (targetType: 'Event' | 'Log', name = 'event'): RuleInput['config'] => ({
  ...input().config,
  targetType,
  targetMap: [{ name, operator: 'Equals', value: 'Transfer' }],
})

test('a rule is kept as it was given, and seen by its own account alone', () => {
  const { rules, again } = open()
  const odd = input({ note: 'lone \ud800, nul \0, ünï', nested: { list: [1, null, 1.5] }, description: null })
  assert.deepEqual(rules.create(1, odd, 100), stored({ input: odd }))
  assert.deepEqual(rules.create(2, input({ enabled: false }), null), {
    ...stored({ id: 2, account: 2, enabled: false, startBlock: null }),
    input: input({ enabled: false }),
  })
  const other = again()
  assert.deepEqual(other.list(1), [stored({ input: odd })])
  assert.deepEqual(other.get(1, 1), stored({ input: odd }))
  assert.equal(other.get(1, 2), undefined)
  assert.equal(other.get(1, 3), undefined)
  assert.equal(other.find(2)?.account, 2)
  assert.deepEqual(
    other.all().map(({ id }) => id),
    [1, 2],
  )
  assert.deepEqual(other.list(3), [])
})

test('matching grows with what is matched, the revision with everything', () => {
  const { rules, time } = open()
  rules.create(1, input(), 100)
  time.now = 2_000
  const quiet = (blocks: number) => ({ config: { ...listening('Log', 'event.raw'), notify: { quiet: { blocks } } } })
  const steps: [change: Partial<RuleInput>, startBlock: number | undefined, matching: number][] = [
    [{ name: 'Renamed' }, undefined, 1],
    [
      { config: { ...input().config, alerts: [{ type: 'Email', parameters: { recipients: ['a@example.org'] } }] } },
      100,
      1,
    ],
    [{ enabled: false }, undefined, 1],
    [{ config: listening('Event', 'event.raw') }, undefined, 2],
    [{ config: listening('Log', 'event.raw') }, undefined, 3],
    [{ config: listening('Log', 'event.raw'), maxConfirmationCount: 4 }, undefined, 4],
    [{ config: listening('Log', 'event.raw'), maxConfirmationCount: 4 }, 50, 5],
    [{ config: listening('Log', 'event.raw'), maxConfirmationCount: 4, blockchain: 'gnosis' }, undefined, 6],
    [{ config: listening('Log', 'event.raw'), maxConfirmationCount: 4, blockchain: 'gnosis' }, 50, 6],
    [{ ...quiet(5), maxConfirmationCount: 4, blockchain: 'gnosis' }, undefined, 7],
    [{ ...quiet(6), maxConfirmationCount: 4, blockchain: 'gnosis' }, undefined, 8],
    [{ ...quiet(6), maxConfirmationCount: 4, blockchain: 'gnosis' }, undefined, 8],
  ]
  let revision = 1
  for (const [change, startBlock, matching] of steps) {
    const rule = rules.update(1, 1, input(change), { startBlock })
    assert.ok(typeof rule === 'object')
    assert.deepEqual([rule.revision, rule.matching], [++revision, matching])
    assert.deepEqual(rules.get(1, 1), rule)
  }
  assert.deepEqual(
    rules.get(1, 1),
    stored({
      revision: 13,
      matching: 8,
      enabled: false,
      network: GNOSIS,
      startBlock: 50,
      input: input(steps.at(-1)![0]),
      updatedAt: 2_000,
    }),
  )
  time.now = 500
  assert.equal((rules.update(1, 1, input()) as StoredRule).updatedAt, 2_000)
})

test('a change is refused where another came first, and where the rule is absent or foreign', () => {
  const { rules, again } = open()
  rules.create(1, input(), 0)
  assert.equal(rules.update(2, 1, input()), 'absent')
  assert.equal(rules.update(1, 7, input()), 'absent')
  assert.equal(rules.remove(2, 1), 'absent')
  assert.equal((again().update(1, 1, input({ name: 'theirs' }), { ifRevision: 1 }) as StoredRule).revision, 2)
  assert.equal(rules.update(1, 1, input({ name: 'ours' }), { ifRevision: 1 }), 'changed')
  assert.equal(rules.remove(1, 1, 1), 'changed')
  assert.equal(rules.find(1)?.input.name, 'theirs')
  assert.equal(rules.remove(1, 1, 2), 'removed')
  assert.equal(rules.remove(1, 1), 'absent')
  // An id is never used again: alerts of the old rule must not become those of a new one.
  assert.equal(rules.create(1, input(), 0).id, 2)
})

test('changes tell what came, changed, left and was deleted since', () => {
  const { rules, again } = open()
  const gnosis = input({ blockchain: 'gnosis' })
  const changes = (since: number, network = MAINNET) => {
    const { seq, changed, removed } = again().changes(network, since)
    return { seq, changed: changed.map(({ id, revision }) => `${id}.${revision}`), removed }
  }
  assert.deepEqual(changes(0), { seq: 0, changed: [], removed: [] })
  for (let i = 0; i < 3; i++) rules.create(1, input(), 0)
  rules.create(2, gnosis, null)
  assert.deepEqual(changes(0), { seq: 4, changed: ['1.1', '2.1', '3.1'], removed: [] })
  assert.deepEqual(changes(4), { seq: 4, changed: [], removed: [] })
  rules.update(1, 2, input({ enabled: false }))
  rules.update(1, 3, gnosis)
  rules.remove(1, 1)
  assert.deepEqual(changes(4), { seq: 7, changed: ['2.2'], removed: [3, 1] })
  assert.deepEqual(changes(4, GNOSIS), { seq: 7, changed: ['3.2'], removed: [] })
  rules.update(1, 3, input())
  assert.deepEqual(changes(4), { seq: 8, changed: ['2.2', '3.3'], removed: [1] })
  assert.deepEqual(changes(7, GNOSIS), { seq: 8, changed: [], removed: [3] })
  rules.fixStart(4, 77)
  rules.fixStart(4, 78)
  rules.fixStart(2, 78)
  assert.deepEqual(changes(8, GNOSIS), { seq: 9, changed: ['4.1'], removed: [] })
  assert.deepEqual([rules.find(4)?.startBlock, rules.find(2)?.startBlock], [77, 0])
})

/** What a follower that asks now and then holds is what the network has. */
test('whoever follows the changes has the rules of the network', () => {
  const command = fc.record({
    what: fc.constantFrom('create', 'update', 'remove', 'ask'),
    id: fc.integer({ min: 1, max: 6 }),
    blockchain: fc.constantFrom('ethereum', 'gnosis'),
    enabled: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(command, { maxLength: 40 }), commands => {
      const { rules, again } = open()
      const reader = again()
      const held = new Map<number, StoredRule>()
      let since = 0
      const ask = () => {
        const { seq, changed, removed } = reader.changes(MAINNET, since)
        since = seq
        for (const id of removed) held.delete(id)
        for (const rule of changed) held.set(rule.id, rule)
      }
      for (const it of commands) {
        const { what, id, ...change } = it
        if (what === 'create') rules.create(1, input(change), null)
        if (what === 'update') rules.update(1, id, input(change))
        if (what === 'remove') rules.remove(1, id)
        if (what === 'ask') ask()
      }
      ask()
      assert.deepEqual(
        [...held.values()].sort((a, b) => a.id - b.id),
        rules.all().filter(({ network }) => network === MAINNET),
      )
      for (const opened of [rules, reader]) opened.close()
    }),
    { numRuns: 40, seed: 4 },
  )
})

test('the version tells that somebody has written', () => {
  const { rules, again } = open()
  const other = again()
  const seen = new Set<number>()
  const fresh = () => {
    const version = rules.version()
    assert.equal(rules.version(), version)
    return seen.size !== seen.add(version).size
  }
  assert.equal(fresh(), true)
  assert.equal(fresh(), false)
  rules.create(1, input(), 0)
  assert.equal(fresh(), true)
  other.update(1, 1, input({ name: 'b' }))
  assert.equal(fresh(), true)
  rules.remove(1, 1)
  assert.equal(fresh(), true)
  other.list(1)
  assert.equal(fresh(), false)
})

test('what is done together is done wholly or not at all', () => {
  const { rules, again } = open()
  assert.throws(() =>
    rules.together(() => {
      rules.create(1, input(), 0)
      throw new Error('no')
    }),
  )
  assert.deepEqual(rules.all(), [])
  const ids = rules.together(() => [1, 2].map(account => rules.create(account, input(), 0).id))
  assert.deepEqual(
    again()
      .changes(MAINNET, 0)
      .changed.map(({ id }) => id),
    ids,
  )
})

test('a signing secret is made on first use, and a rotation leaves the one before it valid for a while', () => {
  const { folder } = open()
  const time = { now: 0 }
  const [secrets, other] = [openSecrets(folder, { now: () => time.now }), openSecrets(folder, { now: () => time.now })]
  assert.deepEqual(secrets.current(1), [])
  const first = secrets.ensure(1)
  assert.match(first, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.equal(other.ensure(1), first)
  assert.deepEqual(other.current(2), [])
  const second = other.rotate(1, { overlapMs: 1_000 })
  assert.deepEqual(secrets.current(1), [second, first])
  time.now = 500
  const third = secrets.rotate(1, { overlapMs: 1_000 })
  assert.deepEqual(secrets.current(1), [third, second, first])
  time.now = 1_000
  assert.deepEqual(secrets.current(1), [third, second])
  time.now = 1_500
  assert.deepEqual(secrets.current(1), [third])
  const fourth = secrets.rotate(1, { overlapMs: 0 })
  assert.deepEqual(secrets.current(1), [fourth])
  assert.notEqual(secrets.ensure(2), fourth)
  assert.equal(secrets.ensure(1), fourth)
})

test('a rule that cannot be read is paused and says why, and others are read', () => {
  const { folder, rules } = open()
  const large = input({ x: 'x'.repeat(DEFAULT_LIMITS.rule) })
  for (const it of [large, input(), input({ enabled: true })]) rules.create(1, it, 100)
  const db = connectAccounts(folder, undefined)
  db.prepare('UPDATE rules SET input = \'{"name":\' WHERE id = 2').run()
  db.close()

  const config = { targetType: 'Block', targetMap: [], alerts: [] }
  const nothing = { ...input({ name: '', maxConfirmationCount: 0 }), config }
  const why = [
    `${overLimit('rule', DEFAULT_LIMITS).message} The rule is not matched: rewrite it, or delete it.`,
    'The stored rule is damaged: Unexpected end of JSON input. The rule is not matched: rewrite it, or delete it.',
  ]
  const { changed } = rules.changes(MAINNET, 0)
  assert.deepEqual(changed, [
    stored({ id: 1, enabled: false, input: nothing as RuleInput, unfit: why[0]! }),
    stored({ id: 2, enabled: false, input: nothing as RuleInput, unfit: why[1]! }),
    stored({ id: 3, input: input({ enabled: true }) }),
  ])
  assert.deepEqual([rules.list(1), rules.all(), rules.get(1, 2)], [changed, changed, changed[1]])
  assert.deepEqual(rules.ids(1), [1, 2, 3])
  assert.equal(rules.sizeOf(1).rules, 3)
  assert.ok(rules.sizeOf(1).bytes > DEFAULT_LIMITS.rule)
  // Written anew, it goes on as it was.
  assert.deepEqual(
    rules.update(1, 1, input()),
    stored({ id: 1, revision: 2, matching: 2, enabled: true, input: input() }),
  )
  assert.equal(rules.remove(1, 2), 'removed')
  const raised = openRules(folder, { limits: { ...DEFAULT_LIMITS, rule: 1e6 } })
  rules.create(1, large, 100)
  assert.equal(raised.get(1, 4)!.unfit, undefined)
  raised.close()
  rules.close()
})
