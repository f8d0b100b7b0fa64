import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { connectAccounts } from '../../src/accounts/file.ts'
import { openAccounts } from '../../src/accounts/index.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { valuesIn } from '../../src/query/value-list.ts'
import { createFollowedLists, loadLists } from '../../src/rules/followed-lists.ts'
import { openRules } from '../../src/rules/store.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-lists-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

const open = (limits: Partial<Limits> = {}) => {
  const folder = join(root, String(++folders))
  const accounts = openAccounts(folder)
  for (const name of ['alice', 'bob']) accounts.createToken(name)
  accounts.close()
  const again = () => openRules(folder, { limits: { ...DEFAULT_LIMITS, ...limits } })
  return { folder, again, rules: again() }
}

const ruleWith = (list: string) =>
  ruleBody({
    config: ruleConfig({ targetMap: [{ name: 'address', operator: 'Equals any', value: { list } }] }),
  }) as never
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => String(from + i))

test('whoever follows lists has their values, whatever changes in whatever steps', async () => {
  const { rules, again } = open()
  const other = again()
  await rules.lists.replace(1, 'a', ['0'])
  const followed = createFollowedLists(other.lists)
  const names = ['a', 'b']
  const expected = () =>
    names.map(name =>
      (rules.lists.get(1, name) ? rules.lists.values(rules.lists.get(1, name)!, { size: 1e6 }) : []).sort(),
    )
  const found = () => names.map(name => valuesIn(followed.of(1, name)).sort())
  assert.deepEqual(found(), expected())
  const step = fc.record({
    name: fc.constantFrom(...names),
    what: fc.constantFrom('add', 'add', 'remove', 'remove', 'replace', 'delete'),
    values: fc.array(fc.nat(30).map(String), { minLength: 1, maxLength: 8 }),
    looks: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async steps => {
      for (const { name, what, values, looks } of steps) {
        const exists = rules.lists.get(1, name) !== undefined
        if (what === 'replace' || !exists) await rules.lists.replace(1, name, values)
        else if (what === 'delete') await rules.lists.remove(1, name)
        else await rules.lists.change(1, name, values, { added: what === 'add' })
        if (!looks) continue
        followed.refresh()
        assert.deepEqual(found(), expected())
        for (const [i, own] of names.entries()) assert.equal(rules.lists.get(1, own)?.size ?? 0, expected()[i]!.length)
      }
    }),
    { numRuns: 60, seed: 1 },
  )
  followed.refresh()
  assert.deepEqual(found(), expected())
  assert.equal(followed.refresh(), false)
})

test('a change of many values is read anew, and no change is noted for ever', async () => {
  const { rules, folder } = open()
  await rules.lists.replace(1, 'a', ['x'])
  const followed = createFollowedLists(rules.lists)
  followed.of(1, 'a')
  await rules.lists.change(1, 'a', numbers(60_000), { added: true })
  assert.equal(followed.refresh(), true)
  assert.equal(followed.of(1, 'a').size, 60_001)
  const loaded = await loadLists(rules.lists, 1, rules.create(1, ruleWith('a'), 0).input.config)
  rules.remove(1, 1)
  assert.equal(loaded('a').size, 60_001)
  await rules.lists.remove(1, 'a')
  const db = connectAccounts(folder, undefined)
  for (const table of ['lists', 'list_values', 'list_changes'])
    assert.equal(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0, table)
  db.close()
})

test('a list that changes leaves its rules as they are, and stays while they use it', async () => {
  const { rules, again } = open()
  assert.throws(() => rules.create(1, ruleWith('a'), 0), /no list "a"/)
  await rules.lists.replace(
    1,
    'a',
    ['0xAA', '0xaa', 'AA'].map(value => value.toLowerCase()),
  )
  const rule = rules.create(1, ruleWith('a'), 0)
  await rules.lists.replace(1, 'a', ['1'])
  await rules.lists.change(1, 'a', ['2'], { added: true })
  const { revision, matching } = rules.get(1, rule.id)!
  assert.deepEqual([revision, matching], [1, 1])
  // Also after a start.
  const later = again()
  assert.deepEqual(await later.lists.remove(1, 'a'), [{ id: rule.id, name: 'Large transfers' }])
  assert.deepEqual(later.lists.values(later.lists.get(1, 'a')!, { size: 10 }), ['1', '2'])
  await later.lists.replace(1, 'b', ['1'])
  rules.update(1, rule.id, ruleWith('b'))
  assert.deepEqual(await later.lists.remove(1, 'a'), [])
  assert.equal((await later.lists.remove(1, 'b')).length, 1)
  rules.remove(1, rule.id)
  assert.deepEqual(await later.lists.remove(1, 'b'), [])
  await assert.rejects(later.lists.remove(1, 'b'), /no list "b"/)
})

test('limits hold for a list and for all lists of an account, and what is refused changes nothing', async () => {
  const { rules } = open({ lists: 2, listValues: 5, listValuesByAccount: 8 })
  const { lists } = rules
  await lists.replace(1, 'a', numbers(5))
  await assert.rejects(lists.change(1, 'a', ['x', 'y'], { added: true }), /more than 5 values/)
  await assert.rejects(lists.replace(1, 'a', numbers(6)), /more than 5 values/)
  // What is in it already takes no room.
  assert.equal((await lists.change(1, 'a', ['0'], { added: true })).count, 0)
  await assert.rejects(lists.replace(1, 'b', numbers(4)), /more than 8 values in all/)
  await lists.replace(1, 'b', numbers(3))
  await assert.rejects(lists.change(1, 'b', ['x'], { added: true }), /more than 8 values in all/)
  await assert.rejects(lists.replace(1, 'c', ['x']), /more than 2 watch lists/)
  await lists.replace(2, 'a', numbers(5))
  assert.deepEqual(
    lists.all(1).map(({ name, size }) => [name, size]),
    [
      ['a', 5],
      ['b', 3],
    ],
  )
})

test('the audit trail names who changed what', async () => {
  const { rules, folder } = open()
  await rules.lists.replace(1, 'a', ['1'], { account: 1, token: 3 })
  await rules.lists.change(1, 'a', ['1', '2'], { added: true, by: { account: 1, token: 3 } })
  await rules.lists.change(1, 'a', numbers(30), { added: false, by: { account: 1, token: 3 } })
  await rules.lists.replace(1, 'a', ['7'], { account: 1, token: 3 })
  await rules.lists.remove(1, 'a', { user: 'ann' })
  const accounts = openAccounts(folder)
  const trail = accounts.trail.list({ action: 'list', limit: 10 }).reverse()
  accounts.close()
  assert.deepEqual(
    trail.map(({ action, target, token, user, detail }) => [action, target, token ?? user, detail]),
    [
      ['list create', 'a', 3, { size: 1 }],
      ['list add', 'a', 3, { count: 1, size: 2, values: ['2'] }],
      ['list remove', 'a', 3, { count: 2, size: 0, values: ['1', '2'] }],
      ['list replace', 'a', 3, { size: 1, before: 0 }],
      ['list delete', 'a', 'ann', { size: 1 }],
    ],
  )
})
