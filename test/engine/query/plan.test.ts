import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Kind, queryPaths } from '../../../src/mapping/index.ts'
import type { Node, QueryValue } from '../../../src/query/ast.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { indexedValuesOf } from '../../../src/query/predicate.ts'
import { andNode, idsNode, inNode, nestedNode } from '../../../src/query/simplify.ts'
import { type Chain, chainOf, checkFound } from '../../support/chain.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { createTestStore, demoBlocks, demoEvents, type TestStore } from '../../support/store.ts'

const field = (kind: Kind, path: string) => queryPaths(kind).get(path)!

describe('a plan', () => {
  let store: TestStore
  let chain: Chain
  before(() => {
    store = createTestStore([...demoBlocks().slice(0, 60), ...oddBlocks(8, 1000)], {
      events: [...demoEvents(), ...oddEvents],
      run: [2, 5],
    })
    chain = chainOf(store)
  })
  after(() => store.close())

  const check = (kind: Kind, node: Node): number => checkFound(chain, kind, node).count

  const query = (kind: Kind, body: unknown): Node =>
    parseSearch(JSON.stringify({ query: body }), [kind], Date.now()).parts[0]!.query

  it('finds names that are near, or begin with a text, by the dictionaries', () => {
    const plans = [
      { match: { method: { query: 'trasfer', fuzziness: 1 } } },
      { prefix: { method: 'trans' } },
      { range: { method: { gte: 'transfer', lt: 'transfes' } } },
      { prefix: { 'method.keyword': 'no such name' } },
      { match: { method: { query: 'no such name', fuzziness: 2 } } },
    ].map(body => ({ node: query('tx', body), plan: store.plan('tx', query('tx', body)) }))
    assert.deepEqual(
      plans.map(({ plan }) => plan.by),
      ['terms', 'terms', 'terms', 'none', 'none'],
    )
    assert.deepEqual(
      plans.map(({ node }) => check('tx', node) > 0),
      [true, true, true, false, false],
    )
    const events = [{ match: { event: { query: 'tranfser', fuzziness: 'AUTO' } } }, { prefix: { event: 'trans' } }]
    for (const body of events) {
      assert.equal(store.plan('event', query('event', body)).by, 'signatures')
      assert.ok(check('event', query('event', body)) > 0)
    }
  })

  it('knows names that came since', () => {
    const more = createTestStore([], { events: demoEvents() })
    const swap = query('tx', { match: { method: { query: 'trasfer', fuzziness: 1 } } })
    assert.equal(more.plan('tx', swap).by, 'none')
    more.add(demoBlocks().slice(0, 60))
    assert.equal(more.plan('tx', swap).by, 'terms')
    more.close()
  })

  it('takes as many values as a query may have, on whatever they are stored as', () => {
    // More than SQLite takes in one statement, or in one expression without brackets.
    const many = <T extends QueryValue>(make: (i: number) => T, found: QueryValue[]): QueryValue[] => [
      ...Array.from({ length: 40_000 }, (_, i) => make(i)),
      ...found,
    ]
    const hash = (i: number) => `0x${(i + 1).toString(16).padStart(64, 'e')}`
    const some = (kind: Kind, path: string): QueryValue[] =>
      [...new Set(store.all(kind).flatMap(({ _source }) => indexedValuesOf(field(kind, path), _source)))].slice(0, 5)
    for (const [kind, path, make] of [
      ['tx', 'value.coin', (i: number) => i + 0.5],
      ['tx', 'value.coin', (i: number) => i * 1e-7],
      ['tx', 'value.padded', hash],
      ['tx', 'gas.num', (i: number) => BigInt(i)],
      ['tx', 'input', hash],
      ['tx', 'r', hash],
      ['tx', 'hash', hash],
      ['tx', 'from', (i: number) => hash(i).slice(0, 42)],
      ['tx', 'blobVersionedHashes', hash],
      ['tx', 'blockHash', hash],
      ['log', 'data', hash],
      ['block', 'number.raw', (i: number) => `0x${(i + 5000).toString(16)}`],
      ['block', 'stateRoot', hash],
    ] as const) {
      const values = many<QueryValue>(make, some(kind, path))
      assert.ok(check(kind, inNode(field(kind, path), values)) > 0, path)
    }
    assert.ok(
      check(
        'event',
        nestedNode('args', inNode(field('event', 'args.value.hex'), many(hash, some('event', 'args.value.hex')))),
      ) > 0,
    )
    const _id = store.all('event').map(({ _id }) => _id)
    assert.equal(
      check('event', idsNode([...Array.from({ length: 40_000 }, (_, i) => `${hash(i)}_e_0`), ..._id.slice(0, 5)])),
      5,
    )
  })

  it('joins conditions on the name of an event that hold together', () => {
    const [transfer, approval] = ['transfer', 'approval'].map(event => query('event', { term: { event } }))
    const emitter = store.all('event').find(({ _source }) => _source.event === 'Transfer')!._source.address
    const from = query('event', { term: { address: emitter } })
    const argument = query('event', { nested: { path: 'args', query: { term: { 'args.name': 'value' } } } })
    for (const condition of [from, argument]) {
      assert.ok(check('event', andNode([transfer!, condition])) > 0)
      // What is never found leaves the other branch alone, whose own name must still hold.
      const branch: Node = { op: 'or', of: [idsNode(['0x00']), andNode([approval!, condition])] }
      const never: Node = {
        op: 'or',
        of: [inNode(field('event', 'address'), ['0xdeadbeef']), andNode([approval!, condition])],
      }
      for (const other of [branch, never]) assert.equal(check('event', { op: 'and', of: [transfer!, other] }), 0)
    }
  })

  it('asks only events of the name that their text begins with', () => {
    const { _source } = store.all('event').find(({ _source }) => _source.event === 'Transfer')!
    const all = store.all('event').length
    const one = store.evaluate('event', query('event', { term: { str: _source.str } }))
    assert.ok(one.counted > 0 && one.asked < all, `${one.asked} of ${all}`)
    const some = query('event', { prefix: { str: 'Transfer(from=0x' } })
    assert.ok(check('event', some) > 0)
    assert.ok(store.evaluate('event', some).asked < all)
    assert.equal(store.evaluate('event', query('event', { term: { str: 'no event' } })).asked, 0)
    check('event', query('event', { range: { str: { gte: 'Approval', lt: 'Transfer(x' } } }))
  })
})
