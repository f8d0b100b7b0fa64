import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { impossibleIn } from '../../src/rules/impossible.ts'
import type { Condition, RuleInput, TargetType } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'

const A = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const HASH = `0x${'ab'.repeat(32)}`

const faultsOf = (targetType: TargetType, ...targetMap: Condition[]) =>
  checkRule(ruleBody({ config: ruleConfig({ targetType, targetMap }) })).faults

describe('a value that nothing can match is refused', () => {
  const cases: [TargetType, Condition, message: string | undefined][] = [
    ['Transaction', { name: 'from', operator: 'Equals', value: A.toLowerCase() }, undefined],
    ['Transaction', { name: 'from', operator: 'Equals', value: A.toUpperCase() }, undefined],
    [
      'Transaction',
      { name: 'from', operator: 'Equals', value: A.slice(0, 41) },
      `value must be an address, which is 0x and 40 hex digits, not "${A.slice(0, 41)}". It has 39 of them. Nothing would ever match.`,
    ],
    [
      'Transaction',
      { name: 'from', operator: 'Equals (ignore case)', value: 'alice.eth' },
      'value must be an address, which is 0x and 40 hex digits, not "alice.eth". It has other characters. Nothing would ever match.',
    ],
    [
      'Transaction',
      { name: 'to.raw', operator: 'Equals', value: A.toLowerCase() },
      `value must be an address in the letter case of EIP-55, not "${A.toLowerCase()}". Write "${A}", or name to, which takes any letter case. Nothing would ever match.`,
    ],
    ['Transaction', { name: 'hash', operator: 'Equals', value: HASH.toUpperCase() }, undefined],
    [
      'Transaction',
      { name: 'hash', operator: 'Equals', value: A },
      `value must be 0x and the 64 hex digits of 32 bytes, not "${A}". It has 40 of them. Nothing would ever match.`,
    ],
    [
      'Log',
      { name: 'topics.0', operator: 'Equals', value: 'Transfer' },
      'value must be 0x and the 64 hex digits of 32 bytes, not "Transfer". It has other characters. Nothing would ever match.',
    ],
    [
      'Transaction',
      { name: 'input', operator: 'Equals', value: 'approve' },
      'value must be hex, which is 0x and hex digits, not "approve". Nothing would ever match.',
    ],
    [
      'Transaction',
      { name: 'status', operator: 'Equals', value: 'ok' },
      'value must be "true" or "false", not "ok". Nothing would ever match.',
    ],
    [
      'Transaction',
      { name: 'gas', operator: 'Equals', value: '1.5' },
      'value must be an integer of at least 0, not "1.5". Nothing would ever match.',
    ],
    [
      'Transaction',
      { name: 'value', operator: 'Equals', value: '1.5' },
      'value must be an integer of at least 0, not "1.5". value.coin takes fractions. Nothing would ever match.',
    ],
    ['Transaction', { name: 'value.coin', operator: 'Equals', value: '1.5' }, undefined],
    [
      'Transaction',
      { name: 'value', operator: 'Less', value: '0' },
      'value must be a value that value can be less than, not "0". No value of tx documents is less than "0". Nothing would ever match.',
    ],
    ['Transaction', { name: 'value', operator: 'Less', value: '1' }, undefined],
    [
      'Transaction',
      { name: 'value', operator: 'Greater', value: '1e90' },
      'value must be a value that value can be greater than, not "1e90". No value of tx documents is greater than "1e90". Nothing would ever match.',
    ],
    [
      'Event',
      { name: 'event', operator: 'Equals', value: 'Transfer(address,address,uint256)' },
      'value must be a name without its arguments, not "Transfer(address,address,uint256)". Write "Transfer". Nothing would ever match.',
    ],
    [
      'Trace',
      { name: 'type', operator: 'Equals', value: 'selfdestruct' },
      'value must be one of "call", "create", "suicide" or "reward", not "selfdestruct". Nothing would ever match.',
    ],
    [
      'Trace',
      { name: 'callType', operator: 'Equals', value: 'DelegateCall' },
      'value must be one of "call", "staticcall", "delegatecall" or "callcode", not "DelegateCall". Did you mean "delegatecall"? Nothing would ever match.',
    ],
    ['Trace', { name: 'callType', operator: 'Equals (ignore case)', value: 'DelegateCall' }, undefined],
    [
      'Call',
      { name: 'depth', operator: 'Equals', value: 'deep' },
      'value must be a number, not "deep". Nothing would ever match.',
    ],
    ['Event', { name: 'probability', operator: 'Equals', value: '1.0' }, undefined],
  ]
  for (const [target, condition, message] of cases)
    it(`${condition.name} ${condition.operator} ${condition.value}`, () =>
      assert.deepEqual(
        faultsOf(target, condition),
        message === undefined ? [] : [{ path: 'config.targetMap[0].value', message }],
      ))

  it('in lists each by its place', () => {
    const value = [A, '0x12', A.toLowerCase(), 'x']
    assert.deepEqual(
      faultsOf('Transaction', { name: 'from', operator: 'Equals any', value }).map(({ path }) => path),
      ['config.targetMap[0].value[1]', 'config.targetMap[0].value[3]'],
    )
  })

  it('but not of arguments: what they can be is the affair of their contract', () => {
    const operatorParameters: Condition[] = [{ name: 'to', operator: 'Equals', value: '0x12' }]
    assert.deepEqual(faultsOf('Event', { name: 'args', operator: 'Inspect', operatorParameters }), [])
  })

  it('nor where an earlier version stored it, of which a warning tells', () => {
    const targetMap = [{ name: 'from', operator: 'Equals', value: '0x12' }]
    const body = ruleBody({ config: ruleConfig({ targetType: 'Transaction', targetMap }) })
    const before = body as unknown as RuleInput
    assert.deepEqual(checkRule({ ...body, enabled: false }, { before }).faults, [])
    assert.deepEqual(impossibleIn(before.config), [
      'from never matches "0x12": the value must be an address, which is 0x and 40 hex digits. It has 2 of them.',
    ])
    const other = ruleConfig({ targetType: 'Transaction', targetMap: [{ ...targetMap[0], value: '0x13' }] })
    assert.equal(checkRule({ ...body, config: other }, { before }).faults.length, 1)
  })
})
