import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSearch } from '../../../src/query/parse.ts'
import { chainOf, checkFound, mixedStore } from '../../support/chain.ts'

type Arguments = { value: { type: string; hex: string } }[]

test('parts of addresses find the events and calls with such an argument', t => {
  const store = mixedStore({ run: [1, 2, 3] }, { demo: 20, odd: 6 })
  t.after(() => store.close())
  const chain = chainOf(store)
  for (const kind of ['event', 'call'] as const) {
    const args = chain.documents[kind].flatMap(({ _source }) => (_source.args as Arguments | null) ?? [])
    const texts = args.flatMap(({ value }) => (value.type === 'address' ? [value.hex.toLowerCase()] : []))
    const addresses = [...new Set(texts)].filter((_, i) => i % 7 === 0).slice(0, 12)
    assert.ok(addresses.length > 3)
    for (const address of addresses) {
      const start = address.slice(0, 7)
      for (const condition of [
        { prefix: { 'args.value.hex': start } },
        { wildcard: { 'args.value.hex': `${start}*${address.slice(-3)}` } },
        { regexp: { 'args.value.hex': `${start}[0-9a-f]+` } },
        { range: { 'args.value.hex': { gte: start, lte: address } } },
      ]) {
        const inside = { bool: { filter: [{ term: { 'args.value.type': 'address' } }, condition] } }
        for (const query of [
          { nested: { path: 'args', query: inside } },
          { nested: { path: 'args', query: { bool: { must_not: [inside], filter: [{ term: { 'args.pos': 0 } }] } } } },
        ]) {
          const { query: node } = parseSearch(JSON.stringify({ query }), [kind], 0).parts[0]!
          const what = JSON.stringify(query)
          const { count } = checkFound(chain, kind, node, { what })
          if (query.nested.query === inside) assert.ok(count > 0, what)
        }
      }
    }
  }
})
