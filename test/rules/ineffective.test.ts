import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findIneffective } from '../../src/rules/ineffective.ts'
import { actionsOf, notifiesPending } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { ruleConfig as config, ruleBody as rule } from '../support/rules.ts'

const URL = 'https://example.org/hook'
const CHAT = { url: URL, text: ':tada:', channel: '#a', username: 'sieve' }
const POST = { type: 'Webhook (POST)', parameters: { url: URL } }
const HASH = { fieldType: 'Field', fieldName: 'transactionHash' }

const stored = (body: object) => {
  const checked = checkRule(body)
  assert.deepEqual(checked.faults, [])
  return checked.rule!
}
const warnings = (body: object) => findIneffective(stored(body))
const alerts = (...all: object[]) => rule({ config: config({ alerts: all }) })
const toUrl = (url: string) => alerts({ type: 'Webhook (POST)', parameters: { url } })

test('a rule that has nothing in vain gets no warning', () => {
  assert.deepEqual(warnings(rule()), [])
  assert.deepEqual(
    warnings(rule({ version: 1, description: null, enabled: false, startBlock: 0, notifyPending: false })),
    [],
  )
  assert.deepEqual(warnings(toUrl(`${URL}/{transactionHash}/{args.to}?n={blockNumber.num}`)), [])
})

test('every property without effect is named', () => {
  assert.deepEqual(warnings(rule({ team: 'treasury', notifyPendng: true })), [
    '"team" is kept, but has no effect.',
    '"notifyPendng" is kept, but has no effect. Did you mean "notifyPending"?',
  ])
  const inspected = [{ name: 'to', operator: 'Equals', value: '0x1454168e82efA260f49a6F86612cc6414Ba633e9' }]
  const inspect = { name: 'args', operator: 'Inspect', value: 'x', operatorParameters: inspected }
  assert.deepEqual(warnings(rule({ config: config({ targetMap: [inspect] }) })), [
    'config.targetMap[0].value has no effect: "Inspect" compares nothing itself.',
  ])
  assert.deepEqual(
    warnings(
      alerts(
        { ...POST, type: 'Webhook (GET)', payload: [HASH] },
        { ...POST, message: '{nothing|short} of {$rule}, {$all}' },
      ),
    ),
    [
      'alerts[0].payload has no effect: a GET has no body. Put the values into the URL, as {name}.',
      'An event has no "nothing", which the message of alerts[1] names: it will be left out.',
      'An event has no "$all", which the message of alerts[1] names: it will be left out.',
    ],
  )
  assert.deepEqual(warnings(toUrl(`${URL}/{ to }/{a:b}#top`)), [
    'The URL of alerts[0] keeps "{ to }" and "{a:b}" as it is: a token has letters, digits, "_", "$", "." and "#" only.',
    'What follows "#" in the URL of alerts[0] is not sent: write %23 if it belongs to the URL.',
  ])
  assert.equal(warnings(rule(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`own${i}`, i])))).length, 20)
})

test('sendPendingAlerts means notifyPending, which has precedence', () => {
  const pending = (more: Record<string, unknown>) => notifiesPending(stored(rule(more)))
  assert.equal(pending({}), false)
  assert.equal(pending({ sendPendingAlerts: true }), true)
  assert.equal(pending({ sendPendingAlerts: true, notifyPending: false }), false)
  assert.deepEqual(warnings(rule({ maxConfirmationCount: 3, sendPendingAlerts: true })), [])
  assert.deepEqual(warnings(rule({ maxConfirmationCount: 3, sendPendingAlerts: true, notifyPending: false })), [
    'sendPendingAlerts has no effect beside notifyPending, which means the same: leave it out.',
  ])
  assert.deepEqual(warnings(rule({ maxConfirmationCount: 0, sendPendingAlerts: true })), [
    'sendPendingAlerts has no effect with maxConfirmationCount 0, since no alert is pending then.',
  ])
  assert.deepEqual(
    checkRule(rule({ sendPendingAlerts: 'yes' })).faults.map(({ path }) => path),
    ['sendPendingAlerts'],
  )
})

test('Slack means Chat, and stays as it was written', () => {
  const written = stored(alerts({ type: 'Slack', parameters: CHAT }))
  assert.deepEqual(findIneffective(written), [])
  assert.equal(written.config.alerts[0]!.type, 'Slack')
  assert.deepEqual(actionsOf(written), [{ type: 'Chat', parameters: CHAT }])
  assert.deepEqual(checkRule(alerts({ type: 'Slack', parameters: { url: URL } })).faults[0], {
    path: 'config.alerts[0].parameters.text',
    message: 'text must be a string, and is missing.',
  })
})

test('tokens may have "#" in the place of a dot', () => {
  assert.deepEqual(warnings(toUrl(`${URL}/{args#to}/{args.value#scaled}`)), [])
  assert.deepEqual(warnings(toUrl(`${URL}/{blockNumber#nmu}`)), [
    'An event has no "blockNumber.nmu", which the URL of alerts[0] names: it will be left out. Did you mean "blockNumber.num"?',
  ])
})

const checked = (...targetMap: unknown[]) => checkRule(rule({ config: config({ targetMap }) })).faults
const isEvent = { name: 'event', operator: 'Equals', value: 'x' }

test('what Or and Not never have is refused by name', () => {
  const or = { operator: 'Or', operatorParameters: [isEvent] }
  const not = { operator: 'Not', operatorParameters: [or], name: null, value: null }
  const inside = { name: 'to', operator: 'Equals', value: '1' }
  const inArgs = { name: 'args', operator: 'Inspect', operatorParameters: [{ ...or, operatorParameters: [inside] }] }
  assert.deepEqual(checked(or, not, inArgs), [])
  assert.deepEqual(checked({ ...or, name: 'event' }, { ...or, value: 'x' }, { ...or, operatorParameters: [] }), [
    { path: 'config.targetMap[0].name', message: '"Or" has no name: name what its conditions compare.' },
    {
      path: 'config.targetMap[1].value',
      message: '"Or" compares nothing itself: it has operatorParameters.',
    },
    {
      path: 'config.targetMap[2].operatorParameters',
      message: 'operatorParameters must be a list of one or more conditions, not a list of 0.',
    },
  ])
  const deep = Array.from({ length: 6 }).reduce<object>(inner => ({ operator: 'Not', operatorParameters: [inner] }), or)
  assert.deepEqual(
    checked(deep).map(({ message }) => message),
    ['"Or" and "Not" are nested more than 5 deep: make it flatter.'],
  )
})

test('a value that nothing matches is refused below Or and Not, with what it does there', () => {
  const address = { name: 'address', operator: 'Equals', value: '0x12' }
  const below = (operator: string) => ({ operator, operatorParameters: [isEvent, address] })
  assert.deepEqual(
    checked(address, below('Or'), below('Not')).map(({ path, message }) => [path, message.split('. ').at(-1)]),
    [
      ['config.targetMap[0].value', 'Nothing would ever match.'],
      ['config.targetMap[1].operatorParameters[1].value', 'The alternative would never hold.'],
      ['config.targetMap[2].operatorParameters[1].value', 'It would exclude nothing.'],
    ],
  )
})

test('what is not supported is refused by name', () => {
  const [fault] = checkRule(rule({ config: config({ targetType: 'Balance' }) })).faults
  assert.match(fault!.message, /^"Balance" is not supported: /)
})
