import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS, LIMITS, type LimitName, overLimit } from '../../src/limits/index.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { processorTime } from '../support/processor.ts'
import { conditionAt, ruleBody, ruleConfig } from '../support/rules.ts'

type Json = Record<string, unknown>

const faultsOf = (body: unknown) => checkRule(body).faults.map(({ path, message }) => `${path}: ${message}`)
const over = (path: string, limit: LimitName, label = path.split('.').at(-1)!) =>
  `${path}: ${overLimit(limit, DEFAULT_LIMITS, label).message}`

const long = (bytes: number) => 'x'.repeat(bytes)
/** So many conditions under one `Inspect`, which is one more. */
const inspecting = (count: number): Json => ({
  name: 'args',
  operator: 'Inspect',
  operatorParameters: Array.from({ length: count }, (_, i) =>
    conditionAt(['value'], 'Greater or Equal', `-${i}`, false),
  ),
})
const targets = (...targetMap: unknown[]) => ruleBody({ config: ruleConfig({ targetMap }) })
const alerts = (...list: unknown[]) => ruleBody({ config: ruleConfig({ alerts: list }) })
const webhook = (change: Json = {}) => ({
  type: 'Webhook (POST)',
  parameters: { url: 'https://example.org/' },
  ...change,
})
const chat = (change: Json) => ({
  type: 'Chat',
  parameters: { url: 'https://example.org/', text: '', channel: '', username: '', ...change },
})
const mail = (count: number) => ({
  type: 'Email',
  parameters: { recipients: Array.from({ length: count }, (_, i) => `a${i}@example.org`) },
})
const fields = (count: number) => ({
  payload: [
    {
      fieldType: 'Sub Field',
      fieldName: 'args',
      subPayloads: Array.from({ length: count - 1 }, (_, i) => ({ fieldType: 'Field', fieldName: `a${i}` })),
    },
  ],
})

test('every limit of a rule lets that many through, and refuses one more at its place', () => {
  const { ruleName, ruleText, ruleConditions, ruleValues, ruleValue, ruleUrl, ruleRecipients, rulePayload } =
    DEFAULT_LIMITS
  const any = (count: number) => targets({ name: 'event', operator: 'Equals any', value: Array(count).fill('a') })
  const parameters = 'config.alerts[0].parameters'
  const cases: [at: (more: 0 | 1) => Json, fault: string][] = [
    [more => ruleBody({ name: long(ruleName + more) }), over('name', 'ruleName')],
    [more => ruleBody({ description: long(ruleText + more) }), over('description', 'ruleText')],
    [more => targets(inspecting(ruleConditions - 1 + more)), over('config.targetMap', 'ruleConditions')],
    [more => any(ruleValues + more), over('config.targetMap', 'ruleValues')],
    [
      more => targets({ name: 'event', operator: 'Equals', value: long(ruleValue + more) }),
      over('config.targetMap[0].value', 'ruleValue'),
    ],
    [
      more => targets({ name: 'event', operator: 'Equals any', value: ['a', 'é'.repeat(ruleValue / 2) + long(more)] }),
      over('config.targetMap[0].value[1]', 'ruleValue'),
    ],
    [
      more => targets(conditionAt(['args', long(ruleValue + more)], 'Equals', 'a', false)),
      over('config.targetMap[0].operatorParameters[0].name', 'ruleValue'),
    ],
    [
      more => alerts(webhook({ parameters: { url: `https://example.org/${long(ruleUrl - 20 + more)}` } })),
      over(`${parameters}.url`, 'ruleUrl'),
    ],
    [more => alerts(mail(ruleRecipients + more)), over(`${parameters}.recipients`, 'ruleRecipients')],
    [more => alerts(chat({ text: long(ruleText + more) })), over(`${parameters}.text`, 'ruleText')],
    [more => alerts(chat({ channel: long(ruleName + more) })), over(`${parameters}.channel`, 'ruleName')],
    [more => alerts(chat({ username: long(ruleName + more) })), over(`${parameters}.username`, 'ruleName')],
    [more => alerts(webhook(fields(rulePayload + more))), over('config.alerts[0].payload', 'rulePayload')],
  ]
  for (const [at, fault] of cases) assert.deepEqual([faultsOf(at(0)), faultsOf(at(1))], [[], [fault]])
})

test('a rule may be as large as its limit, by the bytes of its JSON', () => {
  const room = DEFAULT_LIMITS.rule - JSON.stringify(ruleBody({ kept: '' })).length
  assert.deepEqual(faultsOf(ruleBody({ kept: long(room) })), [])
  assert.deepEqual(faultsOf(ruleBody({ kept: long(room + 1) })), [over('', 'rule', 'The rule')])
})

test('the operator raises a limit', () => {
  const limits = { ...DEFAULT_LIMITS, rule: 1e9, ruleValue: 1e6, ruleName: 1e6 }
  const raised = targets({ name: 'event', operator: 'Equals', value: long(500_000) })
  assert.deepEqual(checkRule({ ...raised, name: long(1e6) }, { limits }).faults, [])
})

test('the worst bodies that may come are answered at once', () => {
  const { rule } = DEFAULT_LIMITS
  const many = (count: number, of: (i: number) => unknown) => Array.from({ length: count }, (_, i) => of(i))
  const bodies: [string, unknown][] = [
    ['many kept properties', ruleBody(Object.fromEntries(many(4_000, i => [`p${i}`, 2 ** 60]) as [string, number][]))],
    [
      'many unknown properties',
      ruleBody({ config: Object.fromEntries(many(10_000, i => [`p${i}`, 0]) as [string, 0][]) }),
    ],
    ['many empty objects', ruleBody({ kept: many(40_000, () => ({})) })],
    [
      'many elements where ten may be',
      ruleBody({ config: { targetMap: many(60_000, () => 0), alerts: many(1, () => 0) } }),
    ],
    ['deep lists', `{"kept":${'['.repeat(60_000)}${']'.repeat(60_000)}}`],
    ['many wrong values', targets({ name: 'event', operator: 'Equals any', value: many(2_000, () => 1) })],
    ['many wrong conditions', targets({ ...inspecting(0), operatorParameters: many(249, () => ({ [long(400)]: 0 })) })],
    ['a long wrong name', targets({ name: long(120_000), operator: long(4_000), value: '' })],
    [
      'addresses',
      targets({
        name: 'address',
        operator: 'Equals any',
        value: many(2_000, i => `0x${`${i}aBcD`.padStart(40, 'f')}`),
      }),
    ],
    [
      'recipients',
      alerts(...many(10, j => ({ type: 'Email', parameters: { recipients: many(50, i => `${j}${long(200)}@${i}`) } }))),
    ],
  ]
  for (const [what, body] of bodies) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    assert.ok(text.length <= rule, `${what}: ${text.length}`)
    const started = processorTime()
    const answer = JSON.stringify(checkRule(JSON.parse(text)).faults)
    const took = processorTime() - started
    assert.ok(took < 2_000, `${what}: ${took} ms`)
    assert.ok(answer.length < 100_000, `${what}: ${answer.length}`)
  }
})

test('limits of rules are told as Elasticsearch tells such things', () => {
  const ofRules = ['rule', 'rules', 'ruleBytes', 'ruleConditions', 'ruleValues'] as const
  assert.deepEqual(
    ofRules.map(name => LIMITS[name].code),
    ['content_too_large_exception', ...Array(4).fill('validation_exception')],
  )
})

test('a name that every object has is a name like others, and no operator, type or property', () => {
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    assert.deepEqual(faultsOf(targets(conditionAt(['args', name], 'Equals', 'a', false))), [], name)
    for (const body of [
      targets({ name, operator: 'Equals', value: 'a' }),
      targets({ name: 'event', operator: name, value: 'a' }),
      targets(JSON.parse(`{"name":"event","operator":"Equals","value":"a",${JSON.stringify(name)}:1}`)),
      targets(conditionAt([name, 'a'], 'Equals', 'a', false)),
      ruleBody({ config: ruleConfig({ targetType: name }) }),
      alerts(webhook({ type: name })),
      alerts(webhook({ payload: [{ fieldType: name, fieldName: 'a' }] })),
    ])
      assert.equal(faultsOf(body).length, 1, `${name}: ${faultsOf(body)}`)
  }
})
