import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { services } from '../../src/app/index.ts'
import { checkRuleTest, compareAlerts } from '../../src/app/rule-tests.ts'
import type { RuleInput } from '../../src/rules/rule.ts'
import type { RuleSimulation } from '../../src/rules/search.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'
import { chainsieve } from './cli/support.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-rule-tests-'))
after(() => rmSync(root, { recursive: true }))

const targetMap = [{ name: 'value', operator: 'Greater', value: '0' }]
const rule = (notify?: object) =>
  ruleBody({
    config: ruleConfig({ targetType: 'Transaction', targetMap, ...(notify && { notify }) }),
  }) as unknown as RuleInput
const hit = (block: number, id: string, to = '0xa') => ({
  _id: id,
  _source: { blockNumber: { num: block }, blockHash: '0x', hash: id, timestamp: block * 12, to },
})
const found = (...hits: ReturnType<typeof hit>[]) =>
  ({ total: hits.length, hits: hits.toReversed(), holes: [], fromBlock: 1, toBlock: 9 }) as unknown as RuleSimulation
const range = { rule: {}, from: 1, to: 9 }

test('what differs is told, in the order of the chain', () => {
  const alerts = [
    { block: 5, id: 'e' },
    { block: 2, id: 'b' },
    { block: 3, id: 'c' },
  ]
  assert.deepEqual(compareAlerts(rule(), { ...range, alerts }, found(hit(1, 'a'), hit(3, 'c'))), {
    found: 2,
    missing: [
      { block: 2, id: 'b' },
      { block: 5, id: 'e' },
    ],
    further: [{ block: 1, id: 'a' }],
  })
})

test('quiet counts, in blocks and in seconds', () => {
  const hits = [hit(1, 'a'), hit(2, 'b', '0xb'), hit(3, 'c'), hit(4, 'd'), hit(5, 'e')]
  const alertsFor = (quiet: object) =>
    compareAlerts(rule({ quiet }), { ...range, alerts: [] }, found(...hits)).further.map(({ id }) => id)
  assert.deepEqual(alertsFor({ by: ['to'], blocks: 3 }), ['a', 'b', 'd'])
  assert.deepEqual(alertsFor({ by: ['to'], seconds: 37 }), ['a', 'b', 'e'])
  assert.deepEqual(alertsFor({ blocks: 4 }), ['a', 'e'])
})

test('a range that is not stored, or has too much, is no test', () => {
  const compare = (over: object) => () =>
    compareAlerts(rule(), { ...range, alerts: [] }, { ...found(hit(1, 'a')), ...over })
  assert.throws(
    compare({
      holes: [
        { from: 3, to: 3 },
        { from: 5, to: 7 },
      ],
    }),
    /Blocks 3, 5-7 are not stored/,
  )
  assert.throws(compare({ total: 20_000 }), /There are 20000 matches, of which a test compares 10000/)
})

test('a test is checked', () => {
  const faultsOf = (value: unknown) => checkRuleTest(value).faults.map(({ path, message }) => `${path}: ${message}`)
  assert.deepEqual(faultsOf({ rule: 'a.json', from: 1, to: 2, alerts: [{ block: 1, id: 'x' }] }), [])
  assert.deepEqual(faultsOf({ rule: 5, from: 3, to: 2, alerts: [{ block: '1' }], more: 1 }), [
    'more: "more" is not a property of a test, which has "rule", "from", "to" and "alerts".',
    'rule: rule must be a rule, or the path of its file, not 5. Put it in quotes: "5".',
    'to: to must not be before from.',
    'alerts[0].block: block must be an integer of at least 0, not "1". Write it without quotes.',
    'alerts[0].id: id must be a string that is not empty, and is missing.',
  ])
})

test('the command compares files with what is stored, and exits 1 where they differ', async () => {
  mkdirSync(join(root, 'rules'), { recursive: true })
  const put = (name: string, value: object) => {
    const file = join(root, 'rules', name)
    writeFileSync(file, JSON.stringify(value))
    return file
  }
  put('large.json', rule())
  const same = put('same.test.json', { ...range, rule: 'large.json', alerts: [{ block: 3, id: 'c' }] })
  const other = put('other.test.json', { ...range, rule: rule(), alerts: [{ block: 4, id: 'd' }] })
  const windows = put('when.test.json', { ...range, rule: { ...rule(), name: '' }, alerts: 5 })
  const openRules = () =>
    ({ simulate: async () => found(hit(3, 'c')) }) as unknown as ReturnType<typeof services.openRules>
  const run = (...files: string[]) => chainsieve(['rules', 'verify', ...files], { openRules })
  assert.deepEqual(await run(same).then(({ code, out }) => [code, out]), [0, `${same}: good, 1 alert\n`])
  const { code, out } = await run(same, other)
  assert.equal(code, 1)
  assert.equal(
    out,
    `${same}: good, 1 alert\n${other}: 1 alert is missing (-), 1 is not expected (+)\n` +
      '  + {"block":3,"id":"c"}\n  - {"block":4,"id":"d"}\n',
  )
  const bad = await run(windows)
  assert.equal(bad.code, 1)
  assert.match(bad.err, /when\.test\.json: alerts: alerts must be a list of at most 10000 alerts/)
  // Tests are no rules to apply.
  const checked = await chainsieve(['rules', 'apply', join(root, 'rules'), '--dry-run', '--data', join(root, 'none')], {
    openRules: services.openRules,
  })
  assert.doesNotMatch(checked.err, /test\.json/)
})
