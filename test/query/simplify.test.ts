import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lookup } from '../../src/mapping/index.ts'
import { ALL, type Bounds, compareValues, NONE, type Node } from '../../src/query/ast.ts'
import { compile } from '../../src/query/predicate.ts'
import {
  and,
  atLeast,
  child,
  exists,
  ids,
  isIn,
  mapChildren,
  nested,
  not,
  or,
  parent,
  range,
} from '../../src/query/simplify.ts'

const gas = lookup('tx', 'gas.num')!
const from = lookup('tx', 'from')!
const hash = lookup('tx', 'hash')!
const status = lookup('tx', 'status')!
const coin = lookup('tx', 'value.coin')!
const time = lookup('tx', 'timestamp')!
const topics = lookup('log', 'topics')!

const a = isIn(from, ['0xa'])
const b = isIn(from, ['0xb'])
const c = exists(hash)
const d = range(coin, { gt: 1 })

test('constants vanish', () => {
  assert.equal(and([]), ALL)
  assert.equal(or([]), NONE)
  assert.equal(and([ALL, ALL]), ALL)
  assert.equal(and([a, NONE]), NONE)
  assert.equal(or([a, ALL]), ALL)
  assert.equal(or([NONE]), NONE)
  assert.equal(and([ALL, a]), a)
  assert.equal(or([NONE, c]), c)
  assert.equal(not(ALL), NONE)
  assert.equal(not(NONE), ALL)
  assert.equal(not(not(a)), a)
  assert.equal(nested('args', NONE), NONE)
  assert.deepEqual(nested('args', ALL), { op: 'nested', path: 'args', of: ALL })
  assert.equal(isIn(gas, []), NONE)
  assert.equal(ids([]), NONE)
})

test('and and or are flat, and values are distinct', () => {
  assert.deepEqual(and([and([a, c]), d]), { op: 'and', of: [a, c, d] })
  assert.deepEqual(or([or([c, d]), not(a)]), { op: 'or', of: [c, d, not(a)] })
  assert.deepEqual(or([a, c, b, a]), { op: 'or', of: [isIn(from, ['0xa', '0xb']), c] })
  assert.deepEqual(isIn(gas, [1n, 1n, 2n]), { op: 'in', field: gas, values: [1n, 2n] })
  assert.deepEqual(or([ids(['x']), ids(['y', 'x'])]), { op: 'ids', values: ['x', 'y'] })
})

test('atLeast becomes something simpler where it can', () => {
  assert.equal(atLeast(0, [a]), ALL)
  assert.equal(atLeast(3, [a, c]), NONE)
  assert.deepEqual(atLeast(1, [c, d]), or([c, d]))
  assert.deepEqual(atLeast(2, [c, d]), and([c, d]))
  assert.deepEqual(atLeast(2, [ALL, c, NONE, d]), or([c, d]))
  assert.deepEqual(atLeast(2, [a, a, c]), { op: 'atLeast', count: 2, of: [a, a, c] })
})

test('bounds of integers and dates are inclusive', () => {
  const cases: [Bounds, Bounds][] = [
    [
      { gt: 1n, lt: 9n },
      { gte: 2n, lte: 8n },
    ],
    [{ gte: 1n }, { gte: 1n }],
    [{ lt: -5n }, { lte: -6n }],
  ]
  for (const [given, bounds] of cases) assert.deepEqual(range(gas, given), { op: 'range', field: gas, bounds })
  assert.deepEqual(range(time, { gt: 1000, lt: 9500 }), { op: 'range', field: time, bounds: { gte: 2000, lte: 9000 } })
})

test('a range of one value, of none and without bounds', () => {
  assert.deepEqual(range(gas, { gt: 1n, lt: 3n }), isIn(gas, [2n]))
  assert.deepEqual(range(time, { gte: 5000, lte: 5999 }), isIn(time, [5000]))
  assert.deepEqual(range(hash, { gte: '0x1', lte: '0x1' }), isIn(hash, ['0x1']))
  assert.equal(range(hash, { gte: 'f'.repeat(257), lte: 'f'.repeat(257) }), NONE)
  assert.equal(range(gas, { gt: 1n, lt: 2n }), NONE)
  assert.equal(range(gas, { gte: 2n, lte: 1n }), NONE)
  assert.equal(range(coin, { gt: 1, lte: 1 }), NONE)
  assert.equal(range(gas, { gt: 2n ** 63n - 1n }), NONE)
  assert.equal(range(gas, { lt: -(2n ** 63n) }), NONE)
  assert.deepEqual(range(gas, {}), exists(gas))
})

test('a range of booleans is a set of them', () => {
  assert.deepEqual(range(status, { gte: false }), isIn(status, [false, true]))
  assert.deepEqual(range(status, { gt: false }), isIn(status, [true]))
  assert.equal(range(status, { gt: true }), NONE)
})

test('two ranges of one integer are one, those of a list are two', () => {
  assert.deepEqual(
    and([range(gas, { gte: 1n }), c, range(gas, { lt: 9n })]),
    and([c, range(gas, { gte: 1n, lte: 8n })]),
  )
  assert.equal(and([range(gas, { gte: 9n }), range(gas, { lt: 9n })]), NONE)
  assert.deepEqual(and([range(gas, { gte: 8n }), range(gas, { lt: 9n })]), isIn(gas, [8n]))
  const [low, high] = [range(topics, { gte: '0x1' }), range(topics, { lte: '0x0' })]
  assert.deepEqual(and([low, high]), { op: 'and', of: [low, high] })
})

test('nodes are frozen', () => {
  const check = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || 'declaration' in value) return
    assert.ok(Object.isFrozen(value), JSON.stringify(Object.keys(value)))
    for (const inner of Object.values(value)) check(inner)
  }
  check(and([or([a, c, not(d)]), nested('args', range(gas, { gt: 1n })), atLeast(2, [a, c, d]), ids(['0x1'])]))
})

test('text is ordered by code point', () => {
  const sorted = ['', 'A', 'a', 'aa', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}']
  assert.deepEqual([...sorted].reverse().toSorted(compareValues), sorted)
})

/** As the makers would have made it. */
const simplify = (node: Node): Node => {
  switch (node.op) {
    case 'in':
      return isIn(node.field, node.values)
    case 'range':
      return range(node.field, node.bounds)
    case 'ids':
      return ids(node.values)
    default:
      return mapChildren(node, simplify)
  }
}

test('inner nodes are changed wherever they stand, and what comes of it is folded', () => {
  const change = (node: Node, kind?: string): Node =>
    node.op === 'in' ? (kind === undefined ? b : c) : node.op === 'range' ? NONE : mapChildren(node, change)
  const cases: [Node, Node][] = [
    [and([a, c]), and([b, c])],
    [or([a, c, d]), or([b, c])],
    [and([c, d]), NONE],
    [atLeast(2, [a, c, d]), and([b, c])],
    [not(a), not(b)],
    [not(d), ALL],
    [nested('args', a), nested('args', b)],
    [nested('args', d), NONE],
    [child('tx', and([a, c]), 2), child('tx', and([b, c]), 2)],
    [child('tx', a), child('tx', c)],
    [parent('block', a), parent('block', c)],
    [parent('block', not(or([c, d]))), parent('block', not(c))],
  ]
  for (const [node, changed] of cases) assert.deepEqual(mapChildren(node, change), changed)
  for (const leaf of [ALL, NONE, a, c, d, ids(['x'])])
    assert.equal(
      mapChildren(leaf, () => NONE),
      leaf,
    )
})

test('simplified or not, a query matches the same documents', () => {
  const long = fc.bigInt(-3n, 3n)
  const bounds = fc
    .record({ gt: long, gte: long, lt: long, lte: long }, { requiredKeys: [] })
    .map(({ gt, gte, lt, lte }) => ({
      ...(gte !== undefined ? { gte } : gt !== undefined && { gt }),
      ...(lte !== undefined ? { lte } : lt !== undefined && { lt }),
    }))
  const { tree } = fc.letrec<{ tree: Node }>(tie => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Node>({ op: 'all' }, { op: 'none' }, { op: 'exists', field: gas }),
      fc.array(long, { minLength: 1, maxLength: 2 }).map((values): Node => ({ op: 'in', field: gas, values })),
      bounds.filter(it => Object.keys(it).length > 0).map((it): Node => ({ op: 'range', field: gas, bounds: it })),
      fc.constantFrom('x', 'y').map((id): Node => ({ op: 'ids', values: [id] })),
      fc.record({
        op: fc.constantFrom('and', 'or'),
        of: fc.array(tie('tree'), { maxLength: 3 }),
      }) as fc.Arbitrary<Node>,
      fc.record({ op: fc.constant('not'), of: tie('tree') }) as fc.Arbitrary<Node>,
      fc.record({
        op: fc.constant('atLeast'),
        count: fc.nat(3),
        of: fc.array(tie('tree'), { maxLength: 4 }),
      }) as fc.Arbitrary<Node>,
    ),
  }))
  const documents = [null, -3, -2, -1, 0, 1, 2, 3].flatMap(num =>
    ['x', 'z'].map(_id => ({ _id, _source: { gas: { num } } })),
  )
  fc.assert(
    fc.property(tree, node => {
      const [plain, simple] = [compile('tx', node), compile('tx', simplify(node))]
      for (const document of documents) assert.equal(simple(document), plain(document))
      assert.deepEqual(simplify(simplify(node)), simplify(node))
    }),
    { numRuns: 1000 },
  )
})
