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
    compareAlerts(rule({ quiet }), { ...range, alerts: [] }, found(...hits)).further.map(it => 'id' in it && it.id)
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
    'more: "more" is not a property of a test, which has "rule", "from", "to", "documents", "blockSeconds" and "alerts".',
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

const when = {
  ...{ by: ['from'], within: { seconds: 24 } },
  conditions: [{ aggregate: 'Sum', name: 'value', operator: 'Greater or Equal', value: '3' }],
}
const A = `0x${'aa'.repeat(20)}`
const sent = (block: number, value: number, time = block * 12) => ({
  _id: `0x${block}`,
  _type: 'tx',
  _source: { ...{ blockNumber: { num: block }, from: A, timestamp: time }, value: { raw: `0x${value}`, num: value } },
})

test('rules are tested with documents of the file alone, also those with windows', async () => {
  const put = (name: string, value: object) => {
    const file = join(root, name)
    writeFileSync(file, JSON.stringify(value))
    return file
  }
  const openRules = () => assert.fail('no data folder is needed') as never
  const run = (file: string) => chainsieve(['rules', 'verify', file], { openRules })
  const { config, ...rest } = rule() as unknown as { config: object }
  const windowed = { ...rest, config: { ...config, when } }
  const documents = [sent(11, 2), sent(12, 1), sent(13, 0), sent(20, 3)]
  const key = { from: A.toUpperCase().replace('X', 'x') }
  // Windows of 24 seconds are two blocks long.
  const alerts = [
    { key, opened: 12, ended: 13 },
    { key, opened: 20, ended: null },
  ]
  const good = put('good.test.json', { rule: windowed, from: 10, to: 21, documents, alerts })
  assert.deepEqual(await run(good).then(({ code, out }) => [code, out]), [0, `${good}: good, 2 alerts\n`])
  // Blocks behind the last document follow every two minutes.
  const late = put('late.test.json', { rule: windowed, from: 10, to: 21, blockSeconds: 120, documents, alerts })
  const differs = await run(late)
  assert.equal(differs.code, 1)
  assert.match(differs.out, /1 alert is missing \(-\), 1 is not expected \(\+\)/)
  assert.match(differs.out, /- \{"key":\{"from":"0xAA.*"opened":20,"ended":null\}/)
  assert.match(differs.out, /\+ \{"key":\{"from":"0x.*"opened":20,"ended":21\}/)

  const plain = put('plain.test.json', {
    rule: rule(),
    from: 10,
    to: 21,
    documents,
    alerts: [{ block: 20, id: '0x20' }],
  })
  const { out } = await run(plain)
  assert.match(out, /0 alerts are missing \(-\), 2 are not expected|2 is not expected/)
  const mixed = await run(put('mixed.test.json', { rule: windowed, from: 1, to: 2, alerts: [{ block: 1, id: 'x' }] }))
  assert.match(mixed.err, /mixed\.test\.json: alerts\[0\]: An alert of a rule with "when" has/)
})

test('documents of a test are checked, each by its place', () => {
  const faultsOf = (more: object) =>
    checkRuleTest({ rule: 'a', from: 10, to: 20, alerts: [], ...more }).faults.map(
      ({ path, message }) => `${path}: ${message}`,
    )
  const [first] = [sent(12, 1)]
  assert.deepEqual(faultsOf({ documents: [first], blockSeconds: 2 }), [])
  assert.deepEqual(faultsOf({ documents: [5] }), [
    'documents[0]: documents[0] must be a document as a search returns it.',
  ])
  assert.deepEqual(faultsOf({ documents: [sent(21, 1)] }), [
    'documents[0]._source: _source is of block 21, which is not in the range of the test.',
  ])
  assert.deepEqual(faultsOf({ documents: [{ ...first, _source: { timestamp: 1 } }] }), [
    'documents[0]._source: _source must have the number of its block, as blockNumber.num.',
  ])
  assert.deepEqual(faultsOf({ documents: [{ ...first, _source: { blockNumber: { num: 12 } } }] }), [
    'documents[0]._source.timestamp: timestamp must be the time of the block: a date, or seconds.',
  ])
  assert.deepEqual(faultsOf({ blockSeconds: 2 }), [
    'blockSeconds: blockSeconds belongs to documents: stored blocks have their times.',
  ])
  assert.deepEqual(faultsOf({ alerts: [{ key: { from: 5 }, opened: -1 }] }).length, 2)
})

test('episodes of stored blocks are compared, but for those that nobody can know', () => {
  const windowed = { config: { ...rule().config, when } } as unknown as RuleInput
  const episode = (opened: number, ended: number | null) => ({
    ...{ key: { from: A }, opened: { block: opened }, matches: 1, peak: [] },
    ended: ended === null ? null : { block: ended },
  })
  const foundBy = (windows: object, more: object = {}) =>
    ({ ...found(), alerts: 2, windows: { open: 0, undecided: [], ...windows }, ...more }) as unknown as RuleSimulation
  const episodes = [episode(7, null), episode(3, 5)]
  const alerts = [{ key: { from: A }, opened: 3, ended: 6 }]
  const key = { from: A }
  assert.deepEqual(compareAlerts(windowed, { ...range, alerts }, foundBy({ episodes })), {
    found: 2,
    missing: alerts,
    further: [
      { key, opened: 3, ended: 5 },
      { key, opened: 7, ended: null },
    ],
  })
  const compare = (simulation: RuleSimulation) => () => compareAlerts(windowed, { ...range, alerts }, simulation)
  const undecided = [{ from: 1, to: 2 }]
  assert.throws(compare(foundBy({ episodes, undecided })), /At blocks 1-2 a window reaches into blocks/)
  assert.throws(compare(foundBy({ episodes }, { alerts: 20_000 })), /There are 20000 alerts/)
  assert.throws(compare({ ...found(), warnings: ['It takes too long.'] }), /It takes too long/)
})
