import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredRule } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { isAcross, networksAcross } from '../../src/rules/windows/across.ts'
import { matchedRules } from '../../src/rules/windows/steps.ts'

const EVENT = { targetType: 'Event', targetMap: [{ name: 'event', operator: 'Equals', value: 'Upgraded' }] } as const
const ONE = 'ethereum/base/mainnet'
const TWO = 'ethereum/optimism/mainnet'
const COUNT = { aggregate: 'Count', operator: 'Greater', value: '3' }
const WINDOW = { across: true, within: { seconds: 60 }, conditions: [COUNT] }
const STEPS = { steps: [{ network: ONE }, { ...EVENT, network: TWO }], within: { seconds: 60 } }

const ruleWith = (when: unknown, blockchain: unknown, targetType = 'Event') => ({
  ...{ name: 'r', maxConfirmationCount: 0, technology: 'ethereum', blockchain, network: 'mainnet' },
  config: {
    ...{ ...EVENT, targetType, when },
    alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org' } }],
  },
})
const faultsOf = (when: unknown, blockchain: unknown = '*', targetType?: string) =>
  checkRule(ruleWith(when, blockchain, targetType)).faults.map(({ path, message }) => `${path}: ${message}`)

test('windows and steps over several networks are accepted', () => {
  const relative = { ...COUNT, relativeTo: { windows: 2 } }
  for (const when of [
    WINDOW,
    { ...WINDOW, by: ['address'], conditions: [relative], resolve: [COUNT] },
    { ...WINDOW, hold: { seconds: 5 } },
    STEPS,
    { ...STEPS, steps: [{}, EVENT], across: true, until: EVENT },
    { ...STEPS, steps: [{}, { ...EVENT, network: TWO, missing: true }] },
  ])
    for (const blockchain of ['*', ['base', 'optimism']]) assert.deepEqual(faultsOf(when, blockchain), [])
  for (const when of [
    { ...WINDOW, across: false },
    { ...STEPS, across: false, steps: [{}, EVENT] },
  ])
    assert.deepEqual(faultsOf(when, 'base'), [])
})

test('each fault of theirs names its place and the remedy', () => {
  const of = (changes: object) => ({ ...STEPS, ...changes })
  const cases: [unknown, string, unknown?][] = [
    [
      WINDOW,
      'config.when.across: across goes with rules of several networks: leave it out, or write "*" or a list of names in technology, blockchain or network.',
      'base',
    ],
    [
      STEPS,
      'config.when.steps[0].network: network goes with rules of several networks: leave it out, or write',
      'base',
    ],
    [{ ...WINDOW, across: 'yes' }, 'config.when.across: across must be true or false'],
    [
      { ...WINDOW, within: { blocks: 5 } },
      'config.when.within: Networks have no block numbers in common: write seconds in within.',
    ],
    [
      of({ within: { blocks: 5 } }),
      'config.when.within: Networks have no block numbers in common: write seconds in within.',
    ],
    [
      { ...WINDOW, hold: { blocks: 5 } },
      'config.when.hold: Networks have no block numbers in common: write seconds in hold.',
    ],
    [
      of({ steps: [{ network: 'base' }, EVENT] }),
      'config.when.steps[0].network: network must be the path of one network, such as "ethereum/base/mainnet".',
    ],
    [
      of({ steps: [{ network: 'ethereum/*/mainnet' }, EVENT] }),
      'config.when.steps[0].network: network must be the path of one',
    ],
    [of({ steps: [{ network: 5 }, EVENT] }), 'config.when.steps[0].network: network must be a string'],
    [
      STEPS,
      'config.when.steps[1].network: network is no network of the rule, which is of ethereum/arbitrum,base/mainnet: write one that it covers.',
      ['base', 'arbitrum'],
    ],
    [
      of({ until: { ...EVENT, network: ONE } }),
      'config.when.until.network: until ends a sequence in whichever network it comes: leave network out.',
    ],
  ]
  for (const [when, fault, blockchain] of cases) {
    const faults = faultsOf(when, blockchain)
    assert.ok(
      faults.some(it => it.startsWith(fault)),
      `${fault}: ${faults.join('; ')}`,
    )
  }
  const state = faultsOf({ across: true }, '*', 'State')
  assert.ok(state.some(it => it.startsWith('config.when.across: A State rule is decided by its newest reading')))
})

test('a rule looks at all networks that it covers, or at those that its steps name', () => {
  const stored = (when: unknown, network = 'ethereum/*/mainnet') =>
    ({ id: 1, network, input: ruleWith(when, '*') }) as unknown as StoredRule
  const known = [TWO, ONE, 'ethereum/base/sepolia', 'ethereum/gnosis/mainnet']
  const all = [ONE, 'ethereum/gnosis/mainnet', TWO]
  const cases: [unknown, boolean, string[]][] = [
    [WINDOW, true, all],
    [STEPS, true, [ONE, TWO]],
    [{ ...STEPS, until: EVENT }, true, all],
    [
      { ...STEPS, steps: [{}, { ...EVENT, network: 'ethereum/new/mainnet' }] },
      true,
      [...all.slice(0, 2), 'ethereum/new/mainnet', TWO],
    ],
    [{ ...STEPS, steps: [{}, EVENT] }, false, all],
    [{ ...STEPS, steps: [{}, EVENT], across: true }, true, all],
    [{ ...WINDOW, across: false }, false, all],
  ]
  for (const [when, across, networks] of cases) {
    const rule = stored(when)
    assert.equal(isAcross(rule.input.config), across, JSON.stringify(when))
    assert.deepEqual(networksAcross(rule, known), networks)
  }
  const rule = stored({ ...STEPS, until: EVENT })
  assert.deepEqual(
    [ONE, TWO, 'ethereum/gnosis/mainnet', undefined].map(own => matchedRules(rule, own).length),
    [2, 2, 1, 3],
  )
})
