import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { alertId } from '../../src/alerts/alert-store.ts'
import { covers, networkOf, type RuleInput, unknownNames } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { openRules } from '../../src/rules/store.ts'
import { dataFolder } from '../support/delivery.ts'
import { ruleBody } from '../support/rules.ts'

const MAINNET = 'ethereum/ethereum/mainnet'
const BASE = 'ethereum/base/mainnet'
const SEPOLIA = 'ethereum/ethereum/sepolia'
const named = (change: object) => ruleBody({ ...change }) as unknown as RuleInput

test('a rule looks at networks by a name, any name or several names, part by part', () => {
  const all = [MAINNET, BASE, SEPOLIA]
  const CASES: [change: object, pattern: string, networks: string[]][] = [
    [{}, MAINNET, [MAINNET]],
    [{ network: '*' }, 'ethereum/ethereum/*', [MAINNET, SEPOLIA]],
    [{ blockchain: '*', network: '*' }, 'ethereum/*/*', all],
    [{ blockchain: ['ethereum', 'base'] }, 'ethereum/base,ethereum/mainnet', [MAINNET, BASE]],
    [{ technology: '*', blockchain: '*', network: ['sepolia'] }, '*/*/sepolia', [SEPOLIA]],
    [{ blockchain: 'gnosis', network: '*' }, 'ethereum/gnosis/*', []],
  ]
  for (const [change, pattern, networks] of CASES) {
    assert.equal(networkOf(named(change)), pattern)
    assert.deepEqual(
      all.filter(network => covers(pattern, network)),
      networks,
    )
  }
  assert.equal(covers('ethereum/*/mainnet', 'ethereum/base/mainnet/more'), false)
  assert.deepEqual(unknownNames('ethereum/bsae,ethereum/mainnet', all), ['bsae'])
})

test('what is no name, and no list of names, is a fault at its place', () => {
  const faultsOf = (change: object) => checkRule(ruleBody({ ...change })).faults.map(({ path }) => path)
  assert.deepEqual(faultsOf({ technology: '*', blockchain: ['base', 'ethereum'], network: '*' }), [])
  assert.deepEqual(faultsOf({ network: [] }), ['network'])
  assert.deepEqual(faultsOf({ network: Array(101).fill('a') }), ['network'])
  assert.deepEqual(faultsOf({ blockchain: ['base', 'base', 'Gnosis', 5, '*', 'a,b'] }), [
    ...['blockchain[1]', 'blockchain[2]', 'blockchain[3]', 'blockchain[4]', 'blockchain[5]'],
  ])
  assert.deepEqual(faultsOf({ network: 'main*' }), ['network'])
  assert.deepEqual(faultsOf({ network: 'mainnet,sepolia' }), ['network'])
})

test('each network is told of changes of the rules that look at it, and of no others', async t => {
  const folder = await dataFolder(t)
  const accounts = openAccounts(folder)
  accounts.createToken('alice')
  accounts.close()
  const rules = openRules(folder)
  t.after(rules.close)
  const one = rules.create(1, named({}), 5).id
  const wide = rules.create(1, named({ blockchain: '*', network: '*' }), null).id
  const some = rules.create(1, named({ blockchain: ['base', 'gnosis'] }), null).id
  const told = (network: string, since: number) => {
    const { changed, removed } = rules.changes(network, since)
    return [changed.map(({ id }) => id).sort(), removed]
  }
  assert.deepEqual(told(MAINNET, 0), [[one, wide], []])
  assert.deepEqual(told(BASE, 0), [[wide, some], []])
  assert.deepEqual(told('other/x/y', 0), [[], []])
  const { seq } = rules.changes(BASE, 0)
  rules.update(1, wide, named({ network: '*' }))
  assert.deepEqual(told(MAINNET, seq), [[wide], []])
  assert.deepEqual(told(BASE, seq), [[], [wide]])
  rules.update(1, one, named({ blockchain: '*', network: '*' }))
  assert.deepEqual(told(MAINNET, seq), [[one, wide], []])
  assert.deepEqual(told(BASE, seq), [[one], [wide]])
  rules.remove(1, some)
  assert.deepEqual(told(BASE, seq)[1], [wide, some].sort())
  assert.deepEqual(rules.networks(), ['ethereum/*/*', 'ethereum/ethereum/*'])
})

test('an alert of a rule of several networks has an id of its own in each, also where these have the same blocks', () => {
  const match = { rule: 1, revision: 1, blockHash: '0x12', entity: { _id: '0x34', _type: 'tx' } } as const
  const ids = [undefined, MAINNET, BASE].map(network => alertId({ ...match, network }, 1))
  assert.equal(new Set(ids).size, 3)
})
