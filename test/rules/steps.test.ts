import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findIneffective } from '../../src/rules/ineffective.ts'
import { listsIn, type RuleConfig } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { findUnsatisfiable } from '../../src/rules/unsatisfiable.ts'
import { CHANGED_THEN_UPGRADED, SCHEDULED_AND_LEFT } from '../support/worked-rules.ts'

const checked = (config: object, when: unknown, notify?: unknown) =>
  checkRule({
    ...{ name: 'r', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'demo', network: 'local' },
    config: {
      ...config,
      alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org' } }],
      ...(when !== undefined && { when }),
      ...(notify !== undefined && { notify }),
    },
  })

const EVENT = { targetType: 'Event', targetMap: [{ name: 'event', operator: 'Equals', value: 'Upgraded' }] }
const WHEN = { steps: [{ by: ['address'] }, { ...EVENT, by: ['address'] }], within: { blocks: 300 } }
const ALONE = { steps: [{}, EVENT], within: { seconds: 60 } }

test('steps that can be followed are accepted', () => {
  for (const config of [CHANGED_THEN_UPGRADED, SCHEDULED_AND_LEFT]) {
    const { when, ...rest } = config
    assert.deepEqual(checked(rest, when).faults, [])
  }
  const method = { targetType: 'Method', targetMap: [{ name: 'method', operator: 'Equals', value: 'pause' }] }
  for (const when of [
    ALONE,
    { ...ALONE, steps: [method, {}, method].map(it => ({ ...it, ...('targetMap' in it ? {} : EVENT) })) },
    { ...WHEN, until: { ...method, by: ['to'] } },
  ])
    assert.deepEqual(checked(EVENT, when).faults, [])
})

test('each fault of steps names its place and the remedy', () => {
  const [first, second] = WHEN.steps
  const cases: [unknown, RegExp, unknown?][] = [
    [{ ...WHEN, steps: [first] }, /^config\.when\.steps: steps has one step: a sequence has 2 to 5\.$/],
    [{ ...WHEN, steps: Array(6).fill(second) }, /^config\.when\.steps: steps must be a list of 1 to 5 steps/],
    [{ steps: WHEN.steps }, /^config\.when\.within: within must be/],
    [{ ...WHEN, conditions: [] }, /^config\.when\.conditions: "conditions" does not go with steps/],
    [{ ...WHEN, by: [] }, /^config\.when\.by: "by" belongs to each step/],
    [{ ...WHEN, steps: [{ ...first, missing: true }, second] }, /steps\[0\]\.missing: Only the last step can be/],
    [{ ...WHEN, until: { ...second, missing: true } }, /until\.missing: Only the last step can be missing/],
    [{ ...WHEN, steps: [first, { by: ['address'] }] }, /steps\[1\]\.targetType: targetType must be one of/],
    [{ ...WHEN, steps: [first, { ...second, targetType: 'State' }] }, /steps\[1\]\.targetType: targetType must be/],
    [{ ...WHEN, steps: [first, { ...second, targetMap: [] }] }, /steps\[1\]\.targetMap: targetMap must be a list/],
    [{ ...WHEN, steps: [first, { ...second, by: ['nothing'] }] }, /steps\[1\]\.by\[0\]: .* has no attribute "nothing"/],
    [
      { ...WHEN, steps: [first, { ...second, targetMap: [{ name: 'evnt', operator: 'Equals', value: 'a' }] }] },
      /^config\.when\.steps\[1\]\.targetMap\[0\]\.name: .*no attribute "evnt"/,
    ],
    [{ ...WHEN, steps: [first, EVENT] }, /steps\[1\]\.by: by must be a list of as many names as .*, which has 1/],
    [{ ...WHEN, until: EVENT }, /until\.by: by must be a list of as many names/],
    [WHEN, /^config\.notify\.resolved: resolved needs "when" with conditions/, { resolved: true }],
    [WHEN, /^config\.notify\.again: again needs .* an alert of steps has no end/, { again: { after: { blocks: 1 } } }],
    [{ within: { blocks: 1 }, conditions: [], until: EVENT }, /^config\.when\.until: "until" goes with steps/],
  ]
  for (const [when, fault, notify] of cases) {
    const faults = checked(EVENT, when, notify).faults.map(({ path, message }) => `${path}: ${message}`)
    assert.ok(
      faults.some(it => fault.test(it)),
      `${fault}: ${faults.join('; ')}`,
    )
  }
})

test('messages are checked with the fields of what alerts show: the last step, or the block if that is missing', () => {
  const failed = { targetType: 'Transaction', targetMap: [{ name: 'status', operator: 'Equals', value: 'false' }] }
  const when = (last: object) => ({ steps: [{}, { ...failed, ...last }], within: { blocks: 3 } })
  const faults = (last: object, by: string) =>
    checked(EVENT, when(last), { group: { by: [by], wait: { seconds: 5 } } }).faults.map(({ message }) => message)
  assert.deepEqual(faults({}, 'value.coin'), [])
  assert.match(faults({}, 'event')[0]!, /has no field "event"/)
  assert.deepEqual(faults({ missing: true }, 'number'), [])
  assert.match(faults({ missing: true }, 'event')[0]!, /has no field "event"/)
  assert.match(faults({ missing: true }, 'value.coin')[0]!, /has no field "value.coin"/)
  const action = { type: 'Webhook (POST)', parameters: {}, payload: [{ fieldType: 'Field', fieldName: 'address' }] }
  const config = { ...EVENT, when: when({ missing: true }), alerts: [action] } as unknown as RuleConfig
  const rule = { name: 'r', maxConfirmationCount: 0, technology: 'a', blockchain: 'b', network: 'c', config }
  assert.match(findIneffective(rule).join(), /has no "address"/)
})

test('advice and watch lists know the conditions of all steps', () => {
  const map = (value: unknown) => [{ name: 'blockNumber', operator: 'Equals any', value }]
  const when = {
    steps: [{}, { ...EVENT, targetMap: map(['zero']) }],
    within: { blocks: 1 },
    until: { ...EVENT, targetMap: map({ list: 'known' }) },
  }
  const config = { ...EVENT, targetMap: map({ list: 'first' }), when, alerts: [] } as unknown as RuleConfig
  assert.deepEqual(listsIn(config), ['first', 'known'])
  assert.match(findUnsatisfiable(config, () => [])[0]!, /blockNumber .* "zero"/)
  const own = { ...config, when: { ...when, steps: [EVENT, EVENT] } } as unknown as RuleConfig
  const rule = { name: 'r', maxConfirmationCount: 0, technology: 'a', blockchain: 'b', network: 'c', config: own }
  assert.deepEqual(findIneffective(rule), [
    'config.targetMap has no effect: the first step has its own. Leave one out.',
  ])
})
