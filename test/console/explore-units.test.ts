import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseJson } from '../../src/console/api/json.ts'
import type { Kind } from '../../src/console/api/wire.ts'
import { type Condition, clauseOf, conditionsOf, type Operator } from '../../src/console/pages/explore/conditions.ts'
import { type Catalogue, type FieldInfo, offersAt } from '../../src/console/pages/explore/fields.ts'
import { choose, countLines, wordBefore } from '../../src/console/pages/explore/query.ts'
import { layOut, placeAt, rangeOf, readTree } from '../../src/console/pages/explore/tree.ts'

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
    const { from, to } = rangeOf(text, path)
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
  assert.equal(choose('a AND tra', 9, event).text, 'a AND event.raw:"Transfer"')
  assert.equal(choose('event:tra', 9, event).text, 'event:"Transfer"')
  assert.equal(choose('dus', 3, token).text, '0xab')
  assert.equal(choose('x:1 dus', 7, token).text, 'x:1 address:0xab')
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
