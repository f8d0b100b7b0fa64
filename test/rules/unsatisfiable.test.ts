import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseSignature } from '../../src/decode/signature.ts'
import { parseExact } from '../../src/query/exact.ts'
import type { OwnAbis } from '../../src/rules/argument-types.ts'
import type { RuleCondition, RuleInput, RuleOperator, TargetType } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { findUnsatisfiable } from '../../src/rules/unsatisfiable.ts'
import { conditionAt, ruleBody, ruleConfig } from '../support/rules.ts'

const A = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const HASH = `0x${'ab'.repeat(32)}`

const faultsOf = (targetType: TargetType, ...targetMap: RuleCondition[]) =>
  checkRule(ruleBody({ config: ruleConfig({ targetType, targetMap }) })).faults

describe('a value that nothing can match is refused', () => {
  const cases: [TargetType, RuleCondition, message: string | undefined][] = [
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
      'value must be a number, not "deep". Write decimal digits without separators or units, or 0x-hex. Nothing would ever match.',
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

  it('but not of arguments of unknown types: what they can be is the affair of their contract', () => {
    const operatorParameters: RuleCondition[] = [{ name: 'to', operator: 'Equals', value: '0x12' }]
    assert.deepEqual(faultsOf('Event', { name: 'args', operator: 'Inspect', operatorParameters }), [])
  })

  it('nor where an earlier version stored it, of which a warning tells', () => {
    const targetMap = [{ name: 'from', operator: 'Equals', value: '0x12' }]
    const body = ruleBody({ config: ruleConfig({ targetType: 'Transaction', targetMap }) })
    const before = body as unknown as RuleInput
    assert.deepEqual(checkRule({ ...body, enabled: false }, { before }).faults, [])
    assert.deepEqual(
      findUnsatisfiable(before.config, () => []),
      ['from never matches "0x12": the value must be an address, which is 0x and 40 hex digits. It has 2 of them.'],
    )
    const other = ruleConfig({ targetType: 'Transaction', targetMap: [{ ...targetMap[0], value: '0x13' }] })
    assert.equal(checkRule({ ...body, config: other }, { before }).faults.length, 1)
  })
})

describe('a value that is not a number is refused where numbers are compared by size', () => {
  const ORDERS = ['Greater', 'Greater or Equal', 'Less', 'Less or Equal'] as const
  const attributes: [TargetType, name: string, value: string, message: string][] = [
    ['Transaction', 'value', '100,000', 'value must be a number, not "100,000". Write "100000".'],
    ['Transaction', 'value.coin', '1,000.5', 'value must be a number, not "1,000.5". Write "1000.5".'],
    ['Transaction', 'gasPrice.num', '1_000_000', 'value must be a number, not "1_000_000". Write "1000000".'],
    ['Transaction', 'gas', ' 21 000 ', 'value must be a number, not " 21 000 ". Write "21000".'],
    [
      'Transaction',
      'nonce',
      '1,5',
      'value must be a number, not "1,5". Write decimal digits without separators or units, or 0x-hex.',
    ],
    [
      'Call',
      'depth',
      'deep',
      'value must be a number, not "deep". Write decimal digits without separators or units, or 0x-hex.',
    ],
    [
      'Block',
      'timestamp',
      '2024-05-17',
      'value must be a time in whole seconds since 1970, not "2024-05-17". Write decimal digits without separators or units, or 0x-hex.',
    ],
  ]
  for (const [target, name, value, message] of attributes)
    it(`${name} by size with ${value}`, () => {
      for (const operator of ORDERS)
        assert.deepEqual(faultsOf(target, { name, operator, value }), [{ path: 'config.targetMap[0].value', message }])
    })

  it('but not where texts are ordered', () => {
    assert.deepEqual(faultsOf('Event', { name: 'timestamp', operator: 'Greater', value: '2024-05-17T12:00:00' }), [])
    assert.deepEqual(faultsOf('Transaction', { name: 'value', operator: 'Greater', value: '1e5' }), [])
  })

  const own: OwnAbis = () => [
    {
      events: [parseSignature('Named(string label, uint256 number, (uint64 at, string why)[] notes, uint8[2] sums)')],
      functions: [parseSignature('rename(string label, uint8 level)', 'function')],
    },
  ]
  const argument = (path: string[], value: string, operator: RuleOperator = 'Greater') =>
    conditionAt(['args', ...path], operator, value, false)
  const named = (targetType: TargetType, name: string, ...conditions: RuleCondition[]) => {
    const field = targetType === 'Event' ? 'event' : 'method'
    const targetMap: RuleCondition[] = [{ name: field, operator: 'Equals', value: name }, ...conditions]
    const body = ruleBody({ config: ruleConfig({ targetType, targetMap }) })
    return {
      faults: checkRule(body, { abis: own }).faults.map(({ path, message }) => `${path}: ${message}`),
      warnings: findUnsatisfiable((body as unknown as RuleInput).config, own),
    }
  }
  const AT = 'config.targetMap[1].operatorParameters[0].value'
  const TEXT = 'args.value is compared with "100,000" as text, since that is not a number. Write "100000".'

  it('of an argument whose type a bundled declaration or an ABI tells', () => {
    assert.deepEqual(named('Event', 'Transfer', argument(['value'], '100,000')), {
      faults: [`${AT}: value must be a number, not "100,000". Write "100000".`],
      warnings: [TEXT],
    })
    const refused: [TargetType, string, string[]][] = [
      ['Event', 'Named', ['1']],
      ['Event', 'Swap', ['amount0In']],
      ['Method', 'transfer', ['amount']],
      ['Call', 'transfer', ['amount']],
      ['Event', 'Named', ['number']],
      ['Method', 'rename', ['level']],
      ['Event', 'Named', ['notes', 'at']],
      ['Event', 'Named', ['sums', '0']],
    ]
    for (const [target, name, path] of refused)
      assert.equal(named(target, name, argument(path, '100,000')).faults.length, 1, `${name} ${path}`)
    const equal = named('Event', 'Transfer', argument(['value'], '100,000', 'Equals any'))
    assert.match(equal.faults[0]!, /a list of strings/)
  })

  it('not where the type is a text, or is not known, of which a warning tells', () => {
    const good = { faults: [], warnings: [] }
    assert.deepEqual(named('Event', 'Named', argument(['label'], 'm')), good)
    assert.deepEqual(named('Event', 'Transfer', argument(['value'], '100000')), good)
    // Of some declarations it is an address.
    assert.deepEqual(named('Event', 'Transfer', argument(['2'], '100,000')), {
      faults: [],
      warnings: [TEXT.replace('value', '2')],
    })
    assert.deepEqual(named('Event', 'Transfer', argument(['from'], 'x', 'Equals')), good)
    for (const name of ['Nobody', 'toString', '__proto__'])
      assert.deepEqual(named('Event', name, argument(['value'], '100,000')), { faults: [], warnings: [TEXT] })
    const targetMap = [argument(['value'], '100,000')]
    const body = ruleBody({ config: ruleConfig({ targetMap }) })
    assert.deepEqual(checkRule(body).faults, [])
    assert.deepEqual(findUnsatisfiable((body as unknown as RuleInput).config, own), [TEXT])
  })

  it('not in what is stored already', () => {
    const config = ruleConfig({
      targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }, argument(['value'], '100,000')],
    })
    const body = ruleBody({ config })
    assert.equal(checkRule(body).faults.length, 1)
    const before = body as unknown as RuleInput
    assert.deepEqual(checkRule({ ...body, name: 'Renamed' }, { before }).faults, [])
  })

  it('whatever a value is', () => {
    const events = ['Transfer', 'Approval', 'Swap']
    for (let i = 0; i < 2_000; i++) {
      const value = Array.from(
        { length: 1 + (i % 9) },
        (_, k) => '0123456789,_. -ex'[(i * 7 + k * 13 + k * k) % 17],
      ).join('')
      const faults = named('Event', events[i % 3]!, argument(['value'], value)).faults
      const isNumber = parseExact(value) !== undefined
      if (isNumber) assert.deepEqual(faults, [], value)
      const [, remedy] = /Write "([^"]*)"/.exec(faults[0] ?? '') ?? []
      if (remedy !== undefined) assert.equal(remedy, value.trim().replace(/[,_ ]/g, ''))
      if (remedy !== undefined) assert.ok(parseExact(remedy) !== undefined, remedy)
    }
  })
})
