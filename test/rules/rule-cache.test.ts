import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { RuleInput, StoredRule } from '../../src/rules/rule.ts'
import { createRuleCache } from '../../src/rules/rule-cache.ts'
import { ruleBody } from '../support/rules.ts'

const inputOf = (revision: number) => ruleBody({ name: `revision ${revision}` }) as unknown as RuleInput

const stored = new Map<number, StoredRule>()
const read: number[] = []
const rules = {
  find(id: number) {
    read.push(id)
    return stored.get(id)
  },
  revisionOf: (id: number) => stored.get(id)?.revision,
}

const put = (id: number, revision: number) => {
  const times = { createdAt: 0, updatedAt: 0 }
  const more = { account: 1, matching: 1, enabled: true, network: 'a/b/c', startBlock: 0, ...times }
  stored.set(id, { id, revision, input: inputOf(revision), ...more })
}

beforeEach(() => {
  stored.clear()
  read.length = 0
})

test('a rule is read once for each of its revisions, and kept without what it looks for', () => {
  const told = createRuleCache(rules)
  put(1, 1)
  for (let i = 0; i < 3; i++) assert.equal(told(1)!.input.name, 'revision 1')
  assert.deepEqual(read, [1])
  assert.deepEqual(told(1)!.input.config, { ...inputOf(1).config, targetMap: [] })
  put(1, 2)
  for (let i = 0; i < 3; i++) assert.equal(told(1)!.input.name, 'revision 2')
  assert.deepEqual(read, [1, 1])
  stored.delete(1)
  assert.equal(told(1), undefined)
})

test('of many rules those are kept that were asked for last', () => {
  put(1, 1)
  const told = createRuleCache(rules, 2.5 * JSON.stringify(createRuleCache(rules)(1)).length)
  read.length = 0
  for (const id of [1, 2, 3]) put(id, 1)
  for (const id of [1, 2, 1, 3, 1, 2, 1, 3]) told(id)
  assert.deepEqual(read, [1, 2, 3, 2, 3])
})
