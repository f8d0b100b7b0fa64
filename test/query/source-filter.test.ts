import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileSourceFilter } from '../../src/query/hits/source-filter.ts'
import type { SourceFilter } from '../../src/query/request.ts'

const source = {
  event: 'Transfer',
  args: [
    { name: 'from', value: { hex: '0x1', num: null } },
    { name: 'value', value: { hex: '0x2', num: 2 } },
  ],
  blockNumber: { num: 1, raw: '0x1' },
  topics: ['0xa', '0xb'],
  uncles: [],
  accessList: [{ address: '0x1', storageKeys: [] as string[] }],
}

const shown = (filter: SourceFilter) => compileSourceFilter(filter)(source)

test('without a filter the source itself comes out', () => {
  assert.equal(shown(true), source)
  assert.equal(shown({ includes: [], excludes: [] }), source)
  assert.equal(shown(false), undefined)
})

test('names, stars, subtrees and excludes', () => {
  const cases: [SourceFilter, unknown][] = [
    [{ includes: ['event'], excludes: [] }, { event: 'Transfer' }],
    [{ includes: ['blockNumber'], excludes: [] }, { blockNumber: { num: 1, raw: '0x1' } }],
    [
      { includes: ['*.num'], excludes: [] },
      { args: [{ value: { num: null } }, { value: { num: 2 } }], blockNumber: { num: 1 } },
    ],
    [
      { includes: ['args.value.hex', 'args.name'], excludes: ['args.name'] },
      { args: [{ value: { hex: '0x1' } }, { value: { hex: '0x2' } }] },
    ],
    [
      { includes: [], excludes: ['a*', 'topics', 'blockNumber.raw'] },
      { event: 'Transfer', blockNumber: { num: 1 }, uncles: [] },
    ],
    [
      { includes: ['topics', 'uncles'], excludes: [] },
      { topics: ['0xa', '0xb'], uncles: [] },
    ],
    [{ includes: ['uncles.x', 'even', 'event.x', 'blockNumber.'], excludes: [] }, {}],
    [
      { includes: ['blockNumber', 'args'], excludes: ['args.*', 'blockNumber.*'] },
      { args: [], blockNumber: {} },
    ],
    [{ includes: ['accessList.storageKeys'], excludes: [] }, { accessList: [{ storageKeys: [] }] }],
    [{ includes: [''], excludes: [] }, {}],
  ]
  for (const [filter, expected] of cases) assert.deepEqual(shown(filter), expected, JSON.stringify(filter))
})

test('the source stays as it was, and a filter may be used again', () => {
  const before = structuredClone(source)
  const filter = compileSourceFilter({ includes: ['args'], excludes: ['args.value'] })
  const expected = { args: [{ name: 'from' }, { name: 'value' }] }
  assert.deepEqual([filter(source), filter(source)], [expected, expected])
  assert.deepEqual(source, before)
})

test('numbers that are raw JSON are values, not objects', () => {
  const raw = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('9223372036854775807')
  const filter = compileSourceFilter({ includes: ['gas'], excludes: ['gas.raw'] })
  assert.equal(JSON.stringify(filter({ gas: { num: raw, raw: '0x' } })), '{"gas":{"num":9223372036854775807}}')
})
