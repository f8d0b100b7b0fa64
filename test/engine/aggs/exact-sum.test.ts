import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createSearcher } from '../../../src/engine/query/searcher.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import { askAggregations } from '../../support/aggregations.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { processorTime } from '../../support/processor.ts'
import { createTestStore, generatedBlocks, type TestStore } from '../../support/store.ts'

describe('aggregations over a store', () => {
  let store: TestStore
  before(() => {
    store = createTestStore([], { run: [1, 3], events: oddEvents })
    store.add(oddBlocks(12, 1000))
    store.add(generatedBlocks(3))
  })
  after(() => store.close())

  const ask = (kind: Kind, aggs: object) => askAggregations(createSearcher(store.reader), kind, { aggs })

  it('sums amounts of transactions to the last digit, also those beyond 64 bits', () => {
    const total = store
      .all('tx')
      .reduce((sum, { _source }) => sum + BigInt((_source.value as { raw: string } | null)?.raw ?? 0), 0n)
    assert.ok(total > 2n ** 64n)
    assert.deepStrictEqual(ask('tx', { a: { sum: { field: 'value.num', exact: true } } }), {
      a: { value: Number(total), exact_value: String(total) },
    })
  })

  it('sums arguments to the last digit', () => {
    const integers = store.all('event').flatMap(({ _source }) =>
      ((_source.args ?? []) as { value: { hex: string; num: unknown; type: string } }[]).flatMap(({ value }) => {
        const width = /^(u?)int(\d*)$/.exec(value.type)
        if (value.type === 'bool') return [BigInt(value.hex)]
        if (!width) return []
        return [width[1] ? BigInt(value.hex) : BigInt.asIntN(Number(width[2] || 256), BigInt(value.hex))]
      }),
    )
    const total = integers.reduce((sum, one) => sum + one, 0n)
    assert.ok(integers.some(one => one > 2n ** 64n) && integers.some(one => one < 0n))
    const { a } = ask('event', {
      a: { nested: { path: 'args' }, aggs: { s: { sum: { field: 'args.value.num', exact: true } } } },
    })
    assert.equal((a as { s: { exact_value: string } }).s.exact_value, String(total))
  })

  it('sums the arguments of a name, also where other events have none', t => {
    const store = createTestStore(generatedBlocks(3))
    t.after(() => store.close())
    const ask = (aggs: object) => askAggregations(createSearcher(store.reader), 'event', { aggs })
    const sums = new Map<string, bigint>()
    for (const { _source } of store.all('event'))
      for (const { name, value } of (_source.args ?? []) as { name: string; value: { hex: string; type: string } }[])
        if (/^uint\d*$/.test(value.type)) sums.set(name, (sums.get(name) ?? 0n) + BigInt(value.hex))
    assert.ok(sums.size > 3)
    for (const [name, sum] of sums) {
      const isNamed = { filter: [{ term: { 'args.name': name } }, { prefix: { 'args.value.type': 'uint' } }] }
      const aggs = {
        s: { sum: { field: 'args.value.num', exact: true } },
        d: { sum: { field: 'args.value.scaled' } },
      }
      const { a } = ask({ a: { nested: { path: 'args' }, aggs: { f: { filter: { bool: isNamed }, aggs } } } })
      assert.equal((a as { f: { s: { exact_value: string } } }).f.s.exact_value, String(sum), name)
    }
  })

  it('refuses too many buckets before it makes them', () => {
    const seconds = { field: 'timestamp', fixed_interval: '1s', extended_bounds: { min: 0, max: 1_700_000_000_000 } }
    const started = processorTime()
    assert.throws(() => ask('tx', { a: { date_histogram: seconds } }), {
      code: 'too_many_buckets_exception',
      next: 'refuse',
    })
    assert.throws(() => ask('tx', { a: { histogram: { field: 'gasUsed.num', interval: 1e-3 } } }), {
      code: 'too_many_buckets_exception',
    })
    assert.ok(processorTime() - started < 2000)
  })

  it('comes to an end where steps are too small for the numbers', () => {
    const scaled = (interval: number) => ({
      a: {
        nested: { path: 'args' },
        aggs: { h: { histogram: { field: 'args.value.scaled', interval, min_doc_count: 1 } } },
      },
    })
    assert.ok(ask('event', scaled(1e-300)).a)
    for (const interval of [1e-320, 1, 1e70])
      try {
        const { a } = ask('event', {
          a: { nested: { path: 'args' }, aggs: { h: { histogram: { field: 'args.value.scaled', interval } } } },
        })
        assert.ok(a)
      } catch (error) {
        assert.equal((error as { code: string }).code, 'too_many_buckets_exception')
      }
    const edges = { min: 1e300, max: 1e300 }
    assert.ok(
      ask('tx', {
        a: {
          filter: { term: { 'nonce.num': 12345678 } },
          aggs: { h: { histogram: { field: 'gasUsed.num', interval: 1, extended_bounds: edges } } },
        },
      }).a,
    )
  })

  it('refuses what takes more memory than there is', () => {
    let inner: object = { a: { value_count: { field: 'topics' } } }
    for (let i = 0; i < 15; i++) inner = { a: { terms: { field: 'topics', size: 1 }, aggs: inner } }
    assert.throws(() => ask('log', inner), { next: 'refuse', code: 'illegal_argument_exception' })
  })
})
