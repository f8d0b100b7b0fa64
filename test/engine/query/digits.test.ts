import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSearcher } from '../../../src/engine/query/searcher.ts'
import { KINDS, queryPaths } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { answerSearch } from '../../../src/search/answer.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { createTestStore } from '../../support/store.ts'

// `dec`: integers of any size as digits.

const store = createTestStore(oddBlocks(40), { events: oddEvents, run: [1, 3, 2] })
const searcher = createSearcher(store.reader)
const ask = (entities: string, body: unknown) => {
  const { body: whole } = answerSearch(searcher, 'net', entities, JSON.stringify(body), {
    deadline: Number.POSITIVE_INFINITY,
  })
  return JSON.parse(Buffer.from(whole as Uint8Array).toString()).hits
}
const integers = (name: string) =>
  store.all('tx').flatMap(({ _id, _source }) => {
    const { raw } = (_source[name] ?? {}) as { raw?: string }
    return raw === undefined ? [] : [{ _id, value: BigInt(raw) }]
  })

test('amounts of any size are found by their digits, and by ranges of them', () => {
  const all = integers('value')
  const large = all.map(({ value }) => value).toSorted((a, b) => (a < b ? -1 : 1))
  assert.ok(large.at(-1)! > 2n ** 64n)
  const greatest = large.at(-1)!
  const values = [...new Set([...large.slice(-30), ...large.slice(0, 5)])]
  for (const value of values) {
    const near = [value, value - 1n, value + 1n]
    for (const digits of near) {
      assert.equal(
        ask('tx', { query: { term: { 'value.dec': String(digits) } } }).total,
        all.filter(one => one.value === digits).length,
      )
      const query = { range: { 'value.dec': { gt: String(digits), lte: String(greatest) } } }
      assert.equal(ask('tx', { query }).total, all.filter(one => one.value > digits && one.value <= greatest).length)
    }
  }
})

test('amounts are sorted by all their digits', () => {
  const all = integers('value')
  for (const [order, sign] of [
    ['asc', 1],
    ['desc', -1],
  ] as const) {
    const { hits } = ask('tx', { sort: [{ 'value.dec': order }, { _doc: 'asc' }], size: 10_000, _source: false })
    const due = all.toSorted((a, b) => sign * (a.value < b.value ? -1 : a.value > b.value ? 1 : 0))
    const shown = hits.filter(({ sort }: { sort: unknown[] }) => sort[0] !== null)
    assert.deepEqual(
      shown.map(({ _id, sort }: { _id: string; sort: unknown[] }) => [_id, sort[0]]),
      due.map(({ _id, value }) => [_id, String(value)]),
    )
  }
})

test('digits of arguments are found within their element, negative ones too', () => {
  const numbers = new Map<string, number>()
  for (const { _source } of store.all('event')) {
    const found = new Set<string>()
    for (const { value } of _source.args as { value: { type: string; hex: string } }[]) {
      const [, unsigned, bits] = /^(u?)int(\d+)$/.exec(value.type) ?? []
      if (bits) found.add(String(unsigned ? BigInt(value.hex) : BigInt.asIntN(Number(bits), BigInt(value.hex))))
    }
    for (const digits of found) numbers.set(digits, (numbers.get(digits) ?? 0) + 1)
  }
  const sizes = [...numbers.keys()].map(BigInt)
  assert.ok(sizes.some(size => size > 2n ** 64n) && sizes.some(size => size < 0n))
  const picked = [...numbers].filter(([digits]) => digits.length > 17 || digits.startsWith('-')).slice(0, 60)
  for (const [digits, count] of picked) {
    const typed = {
      bool: { filter: [{ term: { 'args.value.dec': digits } }, { prefix: { 'args.value.type': 'int' } }] },
    }
    const unsigned = {
      bool: { filter: [{ term: { 'args.value.dec': digits } }, { prefix: { 'args.value.type': 'uint' } }] },
    }
    const query = { nested: { path: 'args', query: { bool: { should: [typed, unsigned] } } } }
    assert.equal(ask('event', { query }).total, count, digits)
    const range = { range: { 'args.value.dec': { gte: digits, lte: digits } } }
    assert.ok(ask('event', { query: { nested: { path: 'args', query: range } } }).total >= count)
  }
})

test('digits are a field, but no text', () => {
  const [hit] = ask('tx', { fields: ['value.dec', 'gas.*'], size: 1 }).hits
  assert.deepEqual(hit.fields['value.dec'], [String(BigInt(hit._source.value.raw))])
  assert.deepEqual(hit.fields['gas.dec'], [String(hit.fields['gas.num'][0])])
  assert.throws(() => parseSearch('{"query":{"prefix":{"value.dec":"1"}}}', ['tx'], 0), /\[value\.dec\] holds integers/)
  assert.throws(() => parseSearch('{"query":{"term":{"value.dec":"one"}}}', ['tx'], 0), /expected an integer/)
})

test('decimal digits are integers and no text: they have no shape and no beginning', () => {
  for (const kind of KINDS)
    for (const { path, compare, list } of queryPaths(kind).values()) {
      if (compare !== 'integer' || list?.nested) continue
      const clauses = [
        { wildcard: { [path]: { value: '*1*' } } },
        { regexp: { [path]: '[0-4].*' } },
        { prefix: { [path]: '1' } },
        { fuzzy: { [path]: '1' } },
      ]
      for (const query of clauses)
        assert.throws(() => parseSearch(JSON.stringify({ query }), [kind], 0), /holds integers/, `${kind} ${path}`)
    }
})
