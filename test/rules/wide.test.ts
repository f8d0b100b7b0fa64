import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMatcher } from '../../src/rules/matcher.ts'
import type { RuleCondition, StoredRule } from '../../src/rules/rule.ts'
import { processorTime } from '../support/processor.ts'
import { conditionAt } from '../support/rules.ts'

const ruleOf = (targetMap: RuleCondition[], id = 1): StoredRule => ({
  id,
  account: 1,
  revision: 1,
  matching: 1,
  enabled: true,
  network: 'a/b/c',
  startBlock: 0,
  input: {
    name: '',
    maxConfirmationCount: 0,
    technology: 'a',
    blockchain: 'b',
    network: 'c',
    config: { targetType: 'Event', targetMap, alerts: [] },
  },
  createdAt: 0,
  updatedAt: 0,
})

const bounds = (count: number): RuleCondition[] =>
  Array.from({ length: count }, (_, i) => conditionAt(['args', 'value'], 'Greater or Equal', `-${i}`, false))

test('a rule of ten thousand conditions is taken up, and let go, in no time', () => {
  const matcher = createMatcher()
  matcher.set(ruleOf(bounds(100), 2))
  const rule = ruleOf(bounds(10_000))
  const started = processorTime()
  matcher.set(rule)
  matcher.remove(rule.id)
  const took = processorTime() - started
  assert.ok(took < 2_000, `${took} ms`)
})
