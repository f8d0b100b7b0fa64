import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters } from 'viem'
import { KNOWN_CHAINS } from '../../src/config/chains.ts'
import { type JsonObject, parseJson, stringifyJson } from '../../src/console/api/json.ts'
import type { Kind, SearchHit } from '../../src/console/api/wire.ts'
import { type Condition, clauseOf, conditionsOf, type Operator } from '../../src/console/pages/explore/conditions.ts'
import { type Catalogue, type FieldInfo, offersAt } from '../../src/console/pages/explore/fields.ts'
import { applySuggestion, countLines, readQuestion, wordBefore } from '../../src/console/pages/explore/query.ts'
import { layOut, pathRange, placeAt, readTree } from '../../src/console/pages/explore/tree.ts'
import { argumentInteger, elementsOf, hexWords, moves, stepsOf, utf8Of } from '../../src/console/pages/things/read.ts'
import { ago, coinOf, since, visible, visibleText } from '../../src/console/parts/format.ts'
import { findPage } from '../../src/console/routes.ts'

test('integers beyond 2^53 keep their digits', () => {
  const text = '{"a":9007199254740993,"b":[1,-18446744073709551616,1.5,1e3],"__proto__":{"c":2}}'
  const value = parseJson(text) as { a: unknown }
  assert.equal(value.a, 9007199254740993n)
  assert.equal(stringifyJson(value), text.replace('1e3', '1000'))
})

test('a tree has the members that JSON.parse reads, each with its text', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (object, indent) => {
      const text = JSON.stringify(object, null, indent)
      assert.deepEqual(
        readTree(text).members!.map(({ name, value: { from, to } }) => [name, JSON.parse(text.slice(from, to))]),
        Object.entries(JSON.parse(text)),
      )
    }),
  )
})

test('a query in JSON passes as it was typed', () => {
  const clause = '{"term": {"value.dec": 90071992547409931}}'
  assert.equal(readQuestion(clause, ['tx']).query, clause)
  assert.equal(readQuestion(`{"query": ${clause}}`, ['tx']).query, clause)
  assert.throws(() => readQuestion(`{"query": ${clause}, "size": 3}`, ['tx']), /cannot use "size"/)
  assert.throws(() => readQuestion(`{"query": {}, "query": {}}`, ['tx']), /cannot use "query"/)
})

test('characters that are not seen are named, and nothing is lost', () => {
  assert.equal(visibleText('a\u202eb\u0000c\u00a0d\ud800'), 'a[U+202E]b[U+0000]c[U+00A0]d[U+D800]')
  assert.equal(visibleText('Grüße, 世界!'), 'Grüße, 世界!')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const parts = visible(text)
      assert.equal(parts.map(({ text }) => text).join(''), text)
    }),
  )
})

test('addresses find their page and its parameters', () => {
  const found = (path: string) => {
    const it = findPage(path)
    return it && [it.page.name, Object.fromEntries(it.parameters)]
  }
  assert.deepEqual(found('/'), ['explore', {}])
  assert.deepEqual(found('/explore/'), ['explore', {}])
  assert.deepEqual(found('/rules/new'), ['rules', {}])
  const network = { technology: 'ethereum', blockchain: 'demo', network: 'local' }
  assert.deepEqual(found('/ethereum/demo/local/block/%2F1'), ['block', { ...network, id: '/1' }])
  assert.equal(found('/ethereum/demo/local/block/%ff'), undefined)
  assert.equal(found('/ethereum/demo/local/blocks/1'), undefined)
})

test('what has happened is never still to come', () => {
  const now = Date.parse('2026-11-23T12:00:00Z')
  const MINUTE = 60_000
  for (const ahead of [0, 1, 500, 2_000, 12_000, 59_000, 5 * MINUTE]) assert.equal(since(now + ahead, now), 'just now')
  assert.equal(since(now - 30_000, now), ago(now - 30_000, now))
  assert.match(since(now - 5 * MINUTE, now), /5 min/)
  // Of a chain whose clock was turned, as in tests of contracts.
  assert.match(since(now + 366 * 24 * 60 * MINUTE, now), /1 yr|next yr|year/)
  // What is due may be.
  assert.match(ago(now + 12_000, now), /in 12 sec/)
})

test('the coin of a network is that of its chain, and unknown where the name does not say which', () => {
  for (const { network, symbol } of KNOWN_CHAINS.values()) assert.equal(coinOf(network), symbol, network)
  assert.equal(coinOf('ethereum/demo/local'), 'ETH')
  assert.equal(coinOf('ethereum/made-up/mainnet'), undefined)
})

const word = fc.stringMatching(/^[a-z0-9"\\_é]{1,8}$/)
const operators: Operator[] = ['is', 'gte', 'lt', 'prefix', 'wildcard', 'match', 'exists', 'any']
const condition: fc.Arbitrary<Condition> = fc
  .record({
    field: fc.constantFrom('from', 'value.dec', 'timestamp', 'args.value.dec'),
    operator: fc.constantFrom(...operators),
    not: fc.boolean(),
    value: word,
    argument: word,
  })
  .map(({ argument, ...it }) => ({
    ...it,
    value: it.operator === 'exists' ? '' : it.value,
    ...(it.field.startsWith('args.') && { argument }),
  }))

test('conditions come back from the clause that they make', () => {
  fc.assert(
    fc.property(fc.array(condition, { maxLength: 5 }), conditions => {
      const clause = clauseOf(conditions)
      const order = [...conditions.filter(it => !it.not), ...conditions.filter(it => it.not)]
      assert.deepEqual(conditionsOf(clause), order)
      assert.equal(clauseOf(conditionsOf(clause)), clause)
    }),
  )
})

test('what conditions cannot say stays the JSON that it was', () => {
  const odd = [
    '{"bool":{"should":[{"term":{"a":1}}]}}',
    '{"range":{"value.dec":{"gt":1.50}}}',
    '{"term":{"a":{"value":1,"boost":2}}}',
    '{"terms":{"a":["x, y"]}}',
    '{"nested":{"path":"args","query":{"term":{"args.name":"a"}}}}',
    '{"bool":{"filter":[],"filter":[{"term":{"a":1}}]}}',
    '{"bool":{"filter":[{"term":{"a":1}}],"minimum_should_match":1}}',
  ]
  for (const clause of odd) {
    const rows = conditionsOf(clause)
    assert.deepEqual(rows, [{ field: '', operator: 'json', not: false, value: clause }], clause)
    const both = clauseOf([...rows, { field: 'from', operator: 'is', not: false, value: 'x' }])
    assert.equal(both, `{"bool":{"filter":[${clause},{"term":{"from":"x"}}]}}`)
  }
  const digits = conditionsOf('{"term":{"value.dec":90071992547409931234567890}}')
  assert.deepEqual(digits, [{ field: 'value.dec', operator: 'is', not: false, value: '90071992547409931234567890' }])
  const [both] = conditionsOf('{"bool":{"must_not":{"range":{"a":{"gte":1,"lt":2}}}}}')
  assert.equal(both?.operator, 'json', 'not both is no list of conditions')
  assert.equal(conditionsOf('{"range":{"a":{"gte":1,"lt":2}}}').length, 2)
})

test('a text laid out is the same JSON, digit for digit', () => {
  const text = '{"a":[1.50,{"b":"x:,{\\"y"}],"a":90071992547409931234567890,"long":"'.concat('z'.repeat(100), '"}')
  assert.equal(layOut(text).replace(/\s/g, ''), text.replace(/\s/g, ''))
  assert.ok(layOut(text).includes('\n'))
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const written = JSON.stringify(value)
      assert.deepEqual(parseJson(layOut(written)), parseJson(written))
    }),
  )
  assert.throws(() => readTree('['.repeat(10_000) + ']'.repeat(10_000)), /levels deep/)
})

test('a fault is shown at its place, also below names with dots', () => {
  const clause = '{"bool": {"filter": [{"match_all": {}}, {"range": {"blockNumber.num": {"gte": "x"}}}]}}'
  const at = (text: string, path: string) => {
    const { from, to } = pathRange(text, path)
    return text.slice(from, to)
  }
  const path = 'query.bool.filter[1].range.blockNumber.num'
  assert.equal(at(clause, path), '"blockNumber.num"')
  assert.equal(at(clause, `${path}.gte`), '"gte": "x"')
  assert.equal(at(`{"query": ${clause}}`, `${path}.gte`), '"gte": "x"')
  assert.equal(at(clause, 'query.bool.filter[1].range.nothing'), '"range"')
  assert.equal(at(clause, ''), clause)
})

test('the place of the cursor is known in a text that is unfinished', () => {
  const place = (text: string) => {
    const { path, is, typed } = placeAt(text.replace('|', ''), text.indexOf('|'))
    return [path, is, typed]
  }
  assert.deepEqual(place('{"te|"}'), [[], 'name', 'te'])
  assert.deepEqual(place('{"bool": {"filter": [{"match_all": {}}, {"|'), [['bool', 'filter', 1], 'name', ''])
  assert.deepEqual(place('{"term": {"event.raw": "Tra|'), [['term', 'event.raw'], 'value', 'Tra'])
  assert.deepEqual(place('{"terms": {"event.raw": ["a", "b|"]}}'), [['terms', 'event.raw', 1], 'value', 'b'])
  assert.deepEqual(place('{"a": 1, |}'), [[], 'name', ''])
  fc.assert(fc.property(fc.string(), fc.nat(50), (text, at) => void placeAt(text, Math.min(at, text.length))))
})

const field = (path: string, type: string, kinds: Kind[]): [string, FieldInfo] => [
  path,
  { path, shownAs: path, type, isNumber: false, isInList: false, kinds, meaning: `means ${path}` },
]

const CATALOGUE: Catalogue = {
  fields: new Map([field('event.raw', 'keyword', ['event']), field('from', 'text', ['tx'])]),
  clauses: [
    { name: 'bool', meaning: '', isFieldwise: false, members: ['filter', 'must'] },
    { name: 'term', meaning: 'exactly', isFieldwise: true, members: [] },
    { name: 'range', meaning: '', isFieldwise: true, members: [] },
    { name: 'exists', meaning: '', isFieldwise: false, members: ['field'] },
  ],
}

test('completion offers clauses, fields of the kinds, members and known values where they may stand', async () => {
  const labels = async (text: string) => {
    const place = placeAt(text.replace('|', ''), text.indexOf('|'))
    const values = async (path: string) => [`value of ${path}`]
    return (await offersAt(place, CATALOGUE, ['event'], values)).map(({ label }) => label)
  }
  assert.deepEqual(await labels('{"|"}'), ['bool', 'term', 'range', 'exists'])
  assert.deepEqual(await labels('{"query": {"bool": {"filter": [{"|"}]}}}'), ['bool', 'term', 'range', 'exists'])
  assert.deepEqual(await labels('{"bool": {"|"}}'), ['filter', 'must'])
  assert.deepEqual(await labels('{"term": {"|"}}'), ['event.raw'])
  assert.deepEqual(await labels('{"term": {"event.raw": "|"}}'), ['value of event.raw'])
  assert.deepEqual(await labels('{"exists": {"field": "|"}}'), ['event.raw'])
  assert.deepEqual((await labels('{"range": {"from": {"|"}}}')).slice(0, 2), ['gte', 'gt'])
})

test('a suggestion takes the place of its word', () => {
  const event = { text: 'Transfer', kind: 'event', field: 'event.raw', entity: 'event' }
  const token = { text: 'DUSD', kind: 'token', field: 'address', entity: 'event', address: '0xab' }
  assert.deepEqual(wordBefore('a AND tra', 9), { from: 6, word: 'tra' })
  assert.equal(applySuggestion('a AND tra', 9, event).text, 'a AND event.raw:"Transfer"')
  assert.equal(applySuggestion('event:tra', 9, event).text, 'event:"Transfer"')
  assert.equal(applySuggestion('dus', 3, token).text, '0xab')
  assert.equal(applySuggestion('x:1 dus', 7, token).text, 'x:1 address:0xab')
})

test('lines of a download are counted, however they are cut', () => {
  const csv = '_id,str\r\n1,"a\nb ""c"""\r\n2,d\r\n'
  const bytes = new TextEncoder().encode(csv)
  for (let cut = 0; cut <= bytes.length; cut++) {
    const counter = countLines('csv')
    counter.add(bytes.subarray(0, cut))
    assert.equal(counter.add(bytes.subarray(cut)), 2)
  }
  assert.equal(countLines('ndjson').add(new TextEncoder().encode('{"a":"\\n"}\n{}\n')), 2)
})

const hit = (_type: string, _source: JsonObject): SearchHit => ({
  _index: '',
  _type,
  _id: String(_source.traceAddress),
  _source,
})

test('plain lists of arguments are read as they were encoded; nothing else is taken for one', () => {
  const values = [1n, 2n ** 256n - 1n, 0n]
  const encoded = encodeAbiParameters([{ type: 'uint256[]' }], [values])
  assert.deepEqual(elementsOf('uint256[]', encoded), values.map(String))
  assert.deepEqual(elementsOf('int256[]', encoded), ['1', '-1', '0'])
  assert.deepEqual(elementsOf('address[]', encodeAbiParameters([{ type: 'address[]' }], [[`0x${'ab'.repeat(20)}`]])), [
    `0x${'ab'.repeat(20)}`,
  ])
  assert.deepEqual(elementsOf('bool[2]', encodeAbiParameters([{ type: 'bool[2]' }], [[true, false]])), [
    'true',
    'false',
  ])
  for (const [type, hex] of [
    ['uint256[]', encoded.slice(0, -2)],
    ['uint256[]', encoded.slice(0, -64)],
    ['uint256[]', '0x'],
    ['(address,uint256)[]', encoded],
    ['uint256[][]', encoded],
    ['string', '0x41'],
  ] as const)
    assert.equal(elementsOf(type, hex), undefined, type)
})

test('integers keep their sign and digits, words their order, and text what is not UTF-8', () => {
  assert.equal(argumentInteger('uint256', `0x${'f'.repeat(64)}`), 2n ** 256n - 1n)
  assert.equal(argumentInteger('int8', '0xff'), -1n)
  assert.equal(argumentInteger('int256', `0x${'f'.repeat(64)}`), -1n)
  assert.equal(argumentInteger('address', '0x01'), undefined)
  assert.deepEqual(hexWords(`0xaabbccdd${'1'.repeat(64)}22`, 4), ['1'.repeat(64), '22'])
  assert.equal(utf8Of('0x4142ff'), 'AB\ufffd')
})

test('steps come in the order of execution, with what failed and what was undone', () => {
  const amount = (raw: string) => ({ raw })
  const trace = (traceAddress: number[], more: JsonObject = {}) =>
    hit('trace', { traceAddress, callType: 'call', action: { value: amount('0x1') }, ...more })
  const call = (traceAddress: number[], more: JsonObject = {}) =>
    hit('call', { traceAddress, callType: 'call', method: 'f', args: [], value: amount('0x1'), ...more })
  const tx = { from: '0x1', to: '0x2', value: amount('0x1'), status: true }
  const shown = (steps: ReturnType<typeof stepsOf>) =>
    steps.map(step => [step.path.join('.'), step.method ?? null, step.error ?? null, step.isUndone, moves(step)])
  assert.deepEqual(
    shown(
      stepsOf(
        tx,
        [trace([10]), trace([2, 0]), trace([2], { error: 'Reverted', revertReason: 'no' }), trace([]), trace([0])],
        [call([2, 0]), call([])],
      ),
    ),
    [
      ['', 'f', null, false, true],
      ['0', null, null, false, true],
      ['2', null, 'Reverted: no', false, false],
      ['2.0', 'f', null, true, false],
      ['10', null, null, false, true],
    ],
  )
  // Without traces there are the transaction and its call.
  assert.deepEqual(shown(stepsOf(tx, [], [])), [['', null, null, false, true]])
  assert.deepEqual(shown(stepsOf({ ...tx, status: false, error: 'no' }, [], [call([], { reverted: true })])), [
    ['', 'f', 'no', false, false],
  ])
})
