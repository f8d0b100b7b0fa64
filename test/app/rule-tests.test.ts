import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { services } from '../../src/app/index.ts'
import { checkRuleTest, compareAlerts } from '../../src/app/rule-tests.ts'
import { type GivenDocument, testDocuments } from '../../src/back-test/documents.ts'
import { checksumAddress } from '../../src/lib/keccak.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import type { RuleInput } from '../../src/rules/rule.ts'
import type { RuleSimulation } from '../../src/rules/search.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'
import { createTestStore, demoBlocks, demoEvents } from '../support/store.ts'
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
  _source: {
    ...{ blockNumber: { raw: `0x${block.toString(16)}`, num: block }, from: A, timestamp: time },
    value: { raw: `0x${value}`, num: value },
  },
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

const foundIn = (config: object, documents: unknown) => {
  const input = { config: { ...rule().config, ...config } } as unknown as RuleInput
  const given = { from: 10, to: 20, documents: documents as GivenDocument[], blockSeconds: 12 }
  const { further } = compareAlerts(input, { ...range, alerts: [] }, testDocuments(input, given, DEFAULT_LIMITS))
  return further.map(alert => ('id' in alert ? alert.id : alert.key))
}

test('rules with steps are tested with documents of the file alone, in the order of the chain', async () => {
  const put = (name: string, value: object) => {
    const file = join(root, name)
    writeFileSync(file, JSON.stringify(value))
    return file
  }
  const openRules = () => assert.fail('no data folder is needed') as never
  const run = (file: string) => chainsieve(['rules', 'verify', file], { openRules })
  const paid = (value: string) => ({
    targetType: 'Transaction',
    targetMap: [{ name: 'value', operator: 'Equals', value }],
    by: ['from'],
  })
  const ruleOf = (when: object) => {
    const { config, ...rest } = rule() as unknown as { config: object }
    return { ...rest, config: { ...config, when } }
  }
  const at = (block: number, value: number, place: number) => {
    const { _source, ...document } = sent(block, value)
    const transactionIndex = { raw: `0x${place}`, num: place }
    // As searches by other orders return it.
    return { ...document, sort: [9 - place], _id: `${block}.${place}`, _source: { ..._source, transactionIndex } }
  }
  const documents = [at(12, 2, 1), at(12, 1, 0), at(13, 1, 3), at(13, 2, 2), at(13, 2, 4), at(14, 1, 0)]
  const key = { from: A }
  const pair = ruleOf({ steps: [paid('1'), paid('2')], within: { blocks: 3 } })
  const alerts = [
    { key, opened: 12, steps: ['12.0', '12.1'] },
    { key, opened: 13, steps: ['13.3', '13.4'] },
  ]
  const range = { from: 10, to: 20, documents }
  const good = put('steps.test.json', { ...range, rule: pair, alerts })
  assert.deepEqual(await run(good).then(({ code, out }) => [code, out]), [0, `${good}: good, 2 alerts\n`])
  const differs = await run(
    put('steps-other.test.json', { ...range, rule: pair, alerts: [{ ...alerts[0], steps: ['12.0', '13.2'] }] }),
  )
  assert.equal(differs.code, 1)
  const opened = (block: number, ...steps: string[]) =>
    JSON.stringify({ key: { from: checksumAddress(A) }, opened: block, steps })
  assert.match(differs.out, /1 alert is missing \(-\), 2 are not expected \(\+\)/)
  for (const text of [opened(12, '12.0', '12.1'), opened(13, '13.3', '13.4')])
    assert.ok(differs.out.includes(`+ ${text}`), differs.out)
  // Two first steps in one block are two alerts.
  const missing = ruleOf({ steps: [paid('1'), { ...paid('3'), missing: true }], within: { blocks: 2 } })
  const two = [at(12, 1, 0), at(12, 1, 1), at(15, 1, 0), at(16, 3, 0), at(20, 1, 0)]
  const told = ['12.0', '12.1'].map(id => ({ key, opened: 14, steps: [id] }))
  const left = put('left.test.json', { ...range, documents: two, rule: missing, alerts: told })
  assert.deepEqual(await run(left).then(({ code, out }) => [code, out]), [0, `${left}: good, 2 alerts\n`])

  const form = /alerts\[0\]: An alert of a rule with steps has "key", "opened" and "steps"/
  for (const alert of [
    { key, opened: 12 },
    { ...alerts[0], ended: null },
    { block: 1, id: 'x' },
  ])
    assert.match((await run(put('form.test.json', { ...range, rule: pair, alerts: [alert] }))).err, form)
  const windowed = ruleOf(when)
  const withSteps = await run(put('form.test.json', { ...range, rule: windowed, alerts: [alerts[0]] }))
  assert.match(withSteps.err, /An alert of a rule with "when" has "key", "opened" and "ended"/)
  const listed = ruleOf({
    steps: [
      paid('1'),
      { ...paid('2'), targetMap: [{ name: 'from', operator: 'Equals any', value: { list: 'customers' } }] },
    ],
    within: { blocks: 3 },
  })
  assert.match(
    (await run(put('lists.test.json', { ...range, rule: listed, alerts }))).err,
    /documents hold no watch lists/,
  )
  const hidden = {
    name: 'args',
    operator: 'Inspect',
    operatorParameters: [
      { name: 'order', operator: 'Inspect', operatorParameters: [{ name: '0', operator: 'Equals', value: '1' }] },
    ],
  }
  const inside = ruleOf({
    steps: [paid('1'), { ...paid('2'), targetType: 'Event', targetMap: [hidden], by: ['address'] }],
    within: { blocks: 3 },
  })
  assert.match(
    (await run(put('inside.test.json', { ...range, rule: inside, alerts }))).err,
    /do not show what config\.when\.steps\[1\]\.targetMap\[0\]\.operatorParameters\[0\]\.operatorParameters\[0\] looks at/,
  )
})

test('rules of state are tested with readings of the file alone, and with blocks that are not read between them', () => {
  const config = {
    targetType: 'State',
    targetMap: [{ name: 'value.coin', operator: 'Less', value: '0.5' }],
    read: { balances: [A], every: { blocks: 2 } },
  }
  const reading = (block: number, milli: number | null) => ({
    ...{ _id: `${block}`, _type: 'state' },
    _source: {
      ...{ address: A, blockNumber: { raw: `0x${block.toString(16)}`, num: block }, timestamp: block * 12 },
      ...(milli === null
        ? { error: 'reverted' }
        : { value: { raw: `0x${(BigInt(milli) * 10n ** 15n).toString(16)}`, num: milli, coin: milli / 1_000 } }),
    },
  })
  const readings = [
    reading(14, 900),
    reading(10, 400),
    reading(12, null),
    reading(16, 100),
    reading(18, 600),
    reading(20, 700),
  ]
  assert.deepEqual(checkRuleTest({ rule: 'a', from: 10, to: 20, documents: readings, alerts: [] }).faults, [])
  assert.deepEqual(foundIn(config, readings), ['10', '16'])
  const episodes = (when: object) => {
    const input = { config: { ...rule().config, ...config, when } } as unknown as RuleInput
    const given = { from: 10, to: 20, documents: readings as unknown as GivenDocument[], blockSeconds: 12 }
    const alerts = compareAlerts(input, { ...range, alerts: [] }, testDocuments(input, given, DEFAULT_LIMITS)).further
    return alerts.map(alert =>
      'opened' in alert ? [alert.key.address?.toLowerCase(), alert.opened, alert.ended] : alert,
    )
  }
  // A reading with an error changes nothing.
  assert.deepEqual(episodes({ by: ['address'] }), [
    [A, 10, 14],
    [A, 16, 18],
  ])
  const until = [{ name: 'value.coin', operator: 'Greater', value: '0.65' }]
  assert.deepEqual(episodes({ by: ['address'], hold: { blocks: 1 }, resolve: until }), [
    [A, 11, 14],
    [A, 17, 20],
  ])
  const bad = { ...reading(10, 1), _source: { ...reading(10, 1)._source, value: 10 } }
  const { faults } = checkRuleTest({ rule: 'a', from: 10, to: 20, documents: [bad], alerts: [] })
  assert.match(faults[0]!.message, /^value must have its integer as "raw"/)
})

test('documents of a block are taken by their places in it', () => {
  const at = (_id: string, more: object, to = '0xa') => ({
    ...sent(12, 1),
    _id,
    _source: { ...sent(12, 1)._source, to, ...more },
  })
  const num = (place: number) => ({ raw: `0x${place}`, num: place })
  const notify = { quiet: { by: ['to'], blocks: 3 } }
  const first = (_type: string, targetType: string, ...documents: ReturnType<typeof at>[]) => {
    const conditions = [{ name: 'blockNumber', operator: 'Greater', value: '0' }]
    return foundIn(
      { targetType, targetMap: conditions, notify },
      documents.map(it => ({ ...it, _type })),
    )
  }
  const txs = [at('none', {}), at('ninth', { transactionIndex: num(9) }), at('second', { transactionIndex: num(2) })]
  assert.deepEqual(first('tx', 'Transaction', ...txs), ['second'])
  const logs = [at('tenth', { logIndex: num(10) }), at('ninth', { logIndex: num(9), transactionIndex: num(5) })]
  assert.deepEqual(first('event', 'Event', ...logs), ['ninth'])
  const trace = (_id: string, ...traceAddress: number[]) => at(_id, { transactionPosition: num(1), traceAddress })
  assert.deepEqual(first('trace', 'Trace', trace('2', 2), trace('1 0', 1, 0), trace('1', 1), trace('10', 10)), ['1'])
})

test('a rule that looks into arguments is not tested with documents, which show only the whole', () => {
  const targetMap = [{ name: 'event', operator: 'Equals', value: 'Deal' }]
  const inspect = (name: string, ...operatorParameters: object[]) => ({ name, operator: 'Inspect', operatorParameters })
  const whole = { name: 'hex', operator: 'Equals', value: '0x' }
  const inner = { name: '0', operator: 'Equals', value: A }
  const tested = (config: object) => () => foundIn({ targetType: 'Event', targetMap, ...config }, [])
  const conditions = [{ aggregate: 'Count', operator: 'Greater', value: '1' }]
  const by = (field: string) => tested({ when: { by: [field], within: { blocks: 3 }, conditions } })
  assert.throws(by('args.order.0'), /documents do not show args\.order\.0, which lies within an argument/)
  assert.deepEqual(by('args.order.hex')(), [])
  const withCondition = (condition: object) => tested({ targetMap: [...targetMap, condition] })
  const order = inspect('args', inspect('order', whole, inner))
  const message = (place: string) =>
    new RegExp(
      `do not show what ${place.replaceAll(/[.[\]]/g, '\\$&')} looks at.* test the rule with a range of stored blocks`,
    )
  const place = 'config.targetMap[1].operatorParameters[0].operatorParameters[1]'
  assert.throws(withCondition(order), message(place))
  assert.throws(
    withCondition({ operator: 'Not', operatorParameters: [order] }),
    message('config.targetMap[1].operatorParameters[0].operatorParameters[0].operatorParameters[1]'),
  )
  assert.throws(
    withCondition(inspect('args', { ...inspect('orders', whole), sameElement: true })),
    message('config.targetMap[1].operatorParameters[0]'),
  )
  assert.deepEqual(withCondition(inspect('args', inspect('order', whole)))(), [])
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
  assert.deepEqual(faultsOf({ documents: [sent(11, 1), first, { ...first, _type: 'block' }, first] }), [
    'documents[3]._id: _id is that of documents[1] too: give each document once.',
  ])
  // What would break a comparison.
  const withSource = (more: object, _type = 'tx') => [{ ...first, _type, _source: { ...first!._source, ...more } }]
  const needsRaw = (raw: string) =>
    `documents[0]._source.value: value must have its integer as "raw", as searches return it: {"raw": "${raw}"}.`
  assert.deepEqual(faultsOf({ documents: withSource({ value: { num: 10 } }) }), [needsRaw('0xa')])
  assert.deepEqual(faultsOf({ documents: withSource({ value: 10 }) }), [needsRaw('0xa')])
  assert.deepEqual(faultsOf({ documents: withSource({ value: { raw: 'ten' } }) }), [needsRaw('0x5')])
  const args = (value: unknown) => withSource({ args: [{ name: 'a', pos: 0, value }] }, 'event')
  assert.deepEqual(faultsOf({ documents: args({ type: 'uint256', hex: '0x05' }) }), [])
  for (const value of [null, { num: 5 }, { type: 'uint256', hex: '0x' }, { type: 'string', hex: 'text' }])
    assert.deepEqual(faultsOf({ documents: args(value) }), [
      'documents[0]._source.args[0].value: value must have the argument\'s "type" and "hex", as searches return it: {"type": "uint256", "hex": "0x05"}.',
    ])
  assert.deepEqual(faultsOf({ blockSeconds: 2 }), [
    'blockSeconds: blockSeconds belongs to documents: stored blocks have their times.',
  ])
  assert.deepEqual(faultsOf({ alerts: [{ key: { from: 5 }, opened: -1 }] }).length, 2)
})

test('all documents that a search returns may be given', () => {
  const blocks = demoBlocks().slice(0, 300)
  const first = Number(blocks[0]!.block.number)
  const numbers = { from: first, to: first + 9_999 }
  const store = createTestStore(blocks, { run: 300, events: demoEvents() })
  const documents = (['block', 'tx', 'event', 'call'] as const).flatMap(kind =>
    store.all(kind).map(({ _id, _source }) => ({ _id, _type: kind, _source })),
  )
  assert.ok(documents.length > 50, `only ${documents.length} documents`)
  const test = { rule: 'a', ...numbers, documents, alerts: [] }
  assert.deepEqual(checkRuleTest(test).faults, [])
  store.close()
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
