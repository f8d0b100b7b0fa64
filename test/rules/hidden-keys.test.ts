import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restoreKeys, withoutKeys } from '../../src/rules/hidden-keys.ts'
import type { Action, RuleInput } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { makeRule } from '../support/delivery.ts'
import { BOT_TOKEN, ROUTING_KEY } from '../support/services.ts'

const telegram = (over: object = {}): Action =>
  ({ type: 'Telegram', parameters: { token: BOT_TOKEN, chat: '-1001', ...over } }) as Action
const ruleWith = (...actions: Action[]): RuleInput => makeRule(1, actions).input
const faults = (rule: unknown, options: Parameters<typeof checkRule>[1] = {}) =>
  checkRule(rule, options).faults.map(({ path, message }) => `${path}: ${message}`)

test('a rule that was read is written back with its keys, wherever its receivers moved', () => {
  const pager: Action = { type: 'PagerDuty', parameters: { routingKey: ROUTING_KEY } }
  const before = ruleWith(telegram(), pager)
  const read = withoutKeys(before)
  assert.doesNotMatch(JSON.stringify(read), new RegExp(`${BOT_TOKEN}|${ROUTING_KEY}`))
  assert.deepEqual(restoreKeys(read, before), before)
  assert.deepEqual(checkRule({ ...read, name: 'other' }, { before }).rule, { ...before, name: 'other' })
  const [first, second] = read.config.alerts
  const turned = { ...read, config: { ...read.config, alerts: [second, first] } }
  assert.deepEqual(checkRule(turned, { before }).rule, ruleWith(pager, telegram()))
})

test('a hidden key goes neither to another URL nor into another rule, but into a draft', () => {
  const before = ruleWith(telegram())
  const read = withoutKeys(before)
  const moved = structuredClone(read) as RuleInput
  Object.assign(moved.config.alerts[0]!.parameters, { url: 'https://evil.x.test' })
  const why =
    'config.alerts[0].parameters.token: token is hidden as in an answer, and the rule has no such key for this type and URL: write the key itself.'
  assert.deepEqual(faults(moved, { before }), [why])
  assert.deepEqual(faults(read), [why])
  assert.deepEqual(faults(read, { draft: true }), [])
})

test('what is wrong with parameters is told, and a key is not repeated', () => {
  const of = (action: unknown) => faults(ruleWith(action as Action))
  assert.deepEqual(of(telegram({ token: 'nonsense-key', chat: 'ops' })), [
    'config.alerts[0].parameters.token: token must be the token of a bot, such as 110201543:AAHdqTcvCH….',
    'config.alerts[0].parameters.chat: chat must be the id of a chat, or its @name, not "ops".',
  ])
  assert.deepEqual(of({ type: 'PagerDuty', parameters: { severity: 'fatal' } }), [
    'config.alerts[0].parameters.routingKey: routingKey must be the integration key of a service.',
    'config.alerts[0].parameters.severity: severity must be one of: "critical", "error", "warning" or "info", not "fatal".',
  ])
  assert.deepEqual(of({ type: 'Alertmanager', parameters: { url: 'https://am.x.test', lasts: '1 week' } }), [
    'config.alerts[0].parameters.lasts: lasts must be a time such as "30m", "6h" or "7d", not "1 week".',
  ])
  assert.deepEqual(of({ type: 'Discord', parameters: { url: 'https://d.x.test', username: '' } }), [])
})

test('a message has forms that exist', () => {
  const of = (message: string) => faults(ruleWith({ ...telegram(), message }))
  assert.deepEqual(of('{args.to|short} {args.value|units:18} {hash|explorer} {$rule} { } {x'), [])
  assert.deepEqual(of('{args.to|upper} {args.to|short:3} {args.value|units:99}'), [
    'config.alerts[0].message: message has {args.to|upper}, but no form of a value is "upper": use "units", "short" or "explorer".',
    'config.alerts[0].message: message has {args.to|short:3}: only "units" takes a number, of 0 to 77 decimals.',
    'config.alerts[0].message: message has {args.value|units:99}: only "units" takes a number, of 0 to 77 decimals.',
  ])
})
