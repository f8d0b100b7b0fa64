import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outsideScopes } from '../../src/app/advice.ts'
import type { RuleInput } from '../../src/rules/rule.ts'
import { scoping } from '../support/scoped.ts'

const [INSIDE, OUTSIDE] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]

const ruleFor = (blockchain: string | string[], address: string): RuleInput => ({
  name: 'Logs',
  maxConfirmationCount: 0,
  technology: 'ethereum',
  blockchain,
  network: 'mainnet',
  config: { targetType: 'Log', targetMap: [{ name: 'address', operator: 'Equals', value: address }], alerts: [] },
})

const sent = (address: string, targetType: 'Transaction' | 'Call' = 'Transaction'): RuleInput => ({
  ...ruleFor('base', address),
  config: { targetType, targetMap: [{ name: 'to', operator: 'Equals', value: address }], alerts: [] },
})

const networks = [
  { network: 'ethereum/ethereum/mainnet', scoping: undefined, from: undefined },
  { network: 'ethereum/base/mainnet', scoping: scoping([{ addresses: [INSIDE] }]), from: undefined },
  { network: 'ethereum/gnosis/mainnet', scoping: scoping([{ addresses: [INSIDE] }], true), from: { block: 9 } },
]

const warningOf = (network: string, where = '') =>
  `${network} is indexed for certain contracts only${where}: nothing of ${OUTSIDE} is found unless it is in their logs.`

test('a rule is told of each of its networks where it looks outside of the scopes', () => {
  assert.deepEqual(outsideScopes(ruleFor('ethereum', OUTSIDE), networks), [])
  assert.deepEqual(outsideScopes(ruleFor('base', INSIDE), networks), [])
  assert.deepEqual(outsideScopes(ruleFor('base', OUTSIDE), networks), [warningOf('ethereum/base/mainnet')])
  assert.deepEqual(outsideScopes(ruleFor('*', OUTSIDE), networks), [
    warningOf('ethereum/base/mainnet'),
    warningOf('ethereum/gnosis/mainnet', ' below block 9'),
  ])
  assert.deepEqual(outsideScopes(ruleFor(['ethereum', 'base'], OUTSIDE), networks), [
    warningOf('ethereum/base/mainnet'),
  ])
})

test('a rule over transactions is told whether scopes have those without logs', () => {
  const base = (scope: Parameters<typeof scoping>[0][number]) => [
    { network: 'ethereum/base/mainnet', scoping: scoping([{ addresses: [INSIDE], ...scope }]), from: undefined },
  ]
  const warning = `ethereum/base/mainnet is indexed by logs: of the transactions from and to ${INSIDE} only those with logs in a scope are found. Set transactions = true in the scope.`
  for (const target of ['Transaction', 'Call'] as const) {
    assert.deepEqual(outsideScopes(sent(INSIDE, target), base({})), [warning])
    assert.deepEqual(outsideScopes(sent(INSIDE, target), base({ transactions: 'search' })), [])
    const some = base({ transactions: 'read-blocks', topics: [`0x${'3'.repeat(64)}`] })
    assert.deepEqual(outsideScopes(sent(INSIDE, target), some), [])
    assert.deepEqual(outsideScopes(sent(OUTSIDE, target), some), [warningOf('ethereum/base/mainnet')])
  }
})
