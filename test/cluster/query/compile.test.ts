import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { clusterId, shownId } from '../../../src/cluster/indices/names.ts'
import { supersetOf } from '../../../src/cluster/post-filter.ts'
import { MOST_CLAUSES } from '../../../src/cluster/query/dsl.ts'
import { regexpOf } from '../../../src/cluster/query/leaf.ts'
import { compileNode, NO_JOINS } from '../../../src/cluster/query/node.ts'
import { prepareSearch } from '../../../src/cluster/query/search.ts'
import type { Kind } from '../../../src/mapping/index.ts'
import { ALL_NODE, type CompareNode } from '../../../src/query/ast.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import * as make from '../../../src/query/simplify.ts'
import { expressionOf, type TextPattern } from '../../../src/query/text/pattern.ts'

const compile = (body: object, kinds: Kind[] = ['tx']) =>
  prepareSearch(parseSearch(JSON.stringify(body), kinds, 0), {
    ask: () => Promise.reject(new Error('nothing is looked up')),
    visible: { hidden: [{ batches: { from: 0, to: 7 }, above: 100 }] },
  })

describe('searches in the language of a cluster', () => {
  it('are one filter where scores do not differ, in the order of the chain', async () => {
    const { body, kinds, uniform } = await compile({
      query: { bool: { filter: { term: { from: '0xAB' } }, must_not: { exists: { field: 'error' } } } },
      size: 3,
    })
    assert.deepEqual({ kinds, uniform }, { kinds: ['tx'], uniform: 1 })
    assert.deepEqual(body, {
      query: {
        bool: {
          filter: [
            { bool: { filter: [{ term: { from: { value: '0xab' } } }], must_not: [{ exists: { field: 'error' } }] } },
          ],
          must_not: [
            {
              bool: {
                filter: [
                  { range: { 'chainsieve.batch': { gte: 0, lte: 7 } } },
                  { range: { 'chainsieve.block': { gt: 100 } } },
                ],
              },
            },
          ],
        },
      },
      sort: [{ 'chainsieve.position': 'desc' }, { 'chainsieve.kind': 'desc' }],
      from: 0,
      size: 3,
      track_total_hits: true,
    })
  })

  it('go on behind a hit by all that it is sorted by, and by its place', async () => {
    const request = parseSearch('{"sort":[{"value.dec":"asc"},{"status":"desc"}]}', ['tx'], 0)
    const { body } = await prepareSearch(
      { ...request, after: { values: [10n ** 20n, null], place: { kind: 'tx', position: 5 } } },
      { ask: () => Promise.reject(new Error('nothing is looked up')), visible: { hidden: [] } },
    )
    assert.deepEqual(Object.keys((body.sort as object[])[0]!), ['value.padded'])
    assert.deepEqual(body.search_after, [`0x${(10n ** 20n).toString(16).padStart(64, '0')}`, -(2 ** 31), 5, 1])
  })

  it('are refused by name', async () => {
    const cases: [body: object, kinds: Kind[], named: RegExp][] = [
      [{ sort: '_id' }, ['call'], /^\[sort by _id\] does not work .*_doc/],
      [{ sort: 'gas.dec' }, ['tx'], /^\[order by gas.dec\] does not work .*gas.num/],
      [{ query: { term: { 'extra.a': 'b' } }, sort: '_doc' }, ['tx'], /^\[extra.a\] does not work/],
      [{ collapse: { field: 'from.raw' } }, ['tx', 'log'], /^\[collapse by from.raw of several kinds\]/],
      [{ query: { regexp: { 'from.raw': '0x~(1)' } }, sort: '_doc' }, ['tx'], /^\[regexp with ~ or &\]/],
      [
        {
          query: {
            bool: {
              should: Array.from({ length: MOST_CLAUSES + 1 }, (_, i) => ({
                range: { 'gas.num': { gte: 10 * i, lte: 10 * i + 5 } },
              })),
            },
          },
          sort: '_doc',
        },
        ['tx'],
        /^the query has 1003 conditions as the cluster counts them/,
      ],
    ]
    for (const [body, kinds, named] of cases)
      await assert.rejects(compile(body, kinds), (error: { next: string; message: string }) => {
        assert.equal(error.next, 'refuse')
        assert.match(error.message, named)
        return true
      })
  })

  it('count nothing where no scores are seen', async () => {
    const { uniform } = await compile({ query: { match: { from: `0x${'1'.repeat(40)}` } }, sort: '_doc' })
    assert.equal(uniform, 1)
  })
})

/** Expressions that mean the same are one object. */
it('a regular expression means the same when it is read again', () => {
  const part = fc.letrec<{ source: string }>(tie => ({
    source: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('a', 'B', '0', '.', '[ab]', '[^a]', '[!-~]', '()', '\\"', '\\\\', '\\.', 'é', '-', '^', '@', '#'),
      fc.tuple(tie('source'), tie('source')).map(([x, y]) => `${x}${y}`),
      fc.tuple(tie('source'), tie('source')).map(([x, y]) => `(${x}|${y})`),
      fc.tuple(tie('source'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,}')).map(([x, y]) => `(${x})${y}`),
    ),
  })).source
  fc.assert(
    fc.property(part, fc.boolean(), (text, ignoreCase) => {
      const read = (text: string, ignoreCase: boolean) =>
        expressionOf({ how: 'regexp', text, ignoreCase, operators: [] } satisfies TextPattern)
      const expression = read(text, ignoreCase)
      const written = regexpOf(expression)
      assert.equal(read(written!, false), expression, `${text} as ${written}`)
    }),
    { numRuns: 1000, seed: 3 },
  )
})

it('a contract that was created twice is two documents with one id', () => {
  assert.equal(clusterId('contract', '0xab', 7), '0xab@7')
  assert.equal(shownId('0xab@7'), '0xab')
  assert.equal(shownId(clusterId('log', '0xab_l_1', 7)), '0xab_l_1')
})

it('conditions of rules that no index answers find everything, negated or not', () => {
  const compare: CompareNode = {
    op: 'compare',
    kind: 'tx',
    steps: ['from'],
    how: 'greater',
    operands: [{ text: 'x', number: undefined }],
    ignoreCase: false,
    scaled: false,
  }
  const ids = make.idsNode(['0x00'])
  assert.deepEqual(supersetOf(make.andNode([compare, ids])), { node: ids, exact: false })
  assert.deepEqual(supersetOf(make.notNode(compare)), { node: ALL_NODE, exact: false })
  assert.deepEqual(supersetOf(make.notNode(make.orNode([compare, ids]))), { node: make.notNode(ids), exact: false })
  assert.deepEqual(supersetOf(make.notNode(ids)), { node: make.notNode(ids), exact: true })
  assert.throws(() => compileNode(compare, 'tx', NO_JOINS), /compare from/)
})
