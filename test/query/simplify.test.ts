import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lookup } from '../../src/mapping/index.ts'
import { ALL_NODE, type Bounds, compareValues, NONE_NODE, type Node } from '../../src/query/ast.ts'
import { compilePredicate } from '../../src/query/predicate.ts'
import {
  andNode,
  atLeastNode,
  childNode,
  existsNode,
  idsNode,
  inNode,
  mapChildren,
  nestedNode,
  notNode,
  orNode,
  parentNode,
  rangeNode,
} from '../../src/query/simplify.ts'

const gas = lookup('tx', 'gas.num')!
const from = lookup('tx', 'from')!
const hash = lookup('tx', 'hash')!
const status = lookup('tx', 'status')!
const coin = lookup('tx', 'value.coin')!
const time = lookup('tx', 'timestamp')!
const topics = lookup('log', 'topics')!

const a = inNode(from, ['0xa'])
const b = inNode(from, ['0xb'])
const c = existsNode(hash)
const d = rangeNode(coin, { gt: 1 })

test('constants vanish', () => {
  assert.equal(andNode([]), ALL_NODE)
  assert.equal(orNode([]), NONE_NODE)
  assert.equal(andNode([ALL_NODE, ALL_NODE]), ALL_NODE)
  assert.equal(andNode([a, NONE_NODE]), NONE_NODE)
  assert.equal(orNode([a, ALL_NODE]), ALL_NODE)
  assert.equal(orNode([NONE_NODE]), NONE_NODE)
  assert.equal(andNode([ALL_NODE, a]), a)
  assert.equal(orNode([NONE_NODE, c]), c)
  assert.equal(notNode(ALL_NODE), NONE_NODE)
  assert.equal(notNode(NONE_NODE), ALL_NODE)
  assert.equal(notNode(notNode(a)), a)
  assert.equal(nestedNode('args', NONE_NODE), NONE_NODE)
  assert.deepEqual(nestedNode('args', ALL_NODE), { op: 'nested', path: 'args', of: ALL_NODE })
  assert.equal(inNode(gas, []), NONE_NODE)
  assert.equal(idsNode([]), NONE_NODE)
})

test('and and or are flat, and values are distinct', () => {
  assert.deepEqual(andNode([andNode([a, c]), d]), { op: 'and', of: [a, c, d] })
  assert.deepEqual(orNode([orNode([c, d]), notNode(a)]), { op: 'or', of: [c, d, notNode(a)] })
  assert.deepEqual(orNode([a, c, b, a]), { op: 'or', of: [inNode(from, ['0xa', '0xb']), c] })
  assert.deepEqual(inNode(gas, [1n, 1n, 2n]), { op: 'in', field: gas, values: [1n, 2n] })
  assert.deepEqual(orNode([idsNode(['x']), idsNode(['y', 'x'])]), { op: 'ids', values: ['x', 'y'] })
})

test('atLeast becomes something simpler where it can', () => {
  assert.equal(atLeastNode(0, [a]), ALL_NODE)
  assert.equal(atLeastNode(3, [a, c]), NONE_NODE)
  assert.deepEqual(atLeastNode(1, [c, d]), orNode([c, d]))
  assert.deepEqual(atLeastNode(2, [c, d]), andNode([c, d]))
  assert.deepEqual(atLeastNode(2, [ALL_NODE, c, NONE_NODE, d]), orNode([c, d]))
  assert.deepEqual(atLeastNode(2, [a, a, c]), { op: 'atLeast', count: 2, of: [a, a, c] })
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
  for (const [given, bounds] of cases) assert.deepEqual(rangeNode(gas, given), { op: 'range', field: gas, bounds })
  assert.deepEqual(rangeNode(time, { gt: 1000, lt: 9500 }), {
    op: 'range',
    field: time,
    bounds: { gte: 2000, lte: 9000 },
  })
})

test('a range of one value, of none and without bounds', () => {
  assert.deepEqual(rangeNode(gas, { gt: 1n, lt: 3n }), inNode(gas, [2n]))
  assert.deepEqual(rangeNode(time, { gte: 5000, lte: 5999 }), inNode(time, [5000]))
  assert.deepEqual(rangeNode(hash, { gte: '0x1', lte: '0x1' }), inNode(hash, ['0x1']))
  assert.equal(rangeNode(hash, { gte: 'f'.repeat(257), lte: 'f'.repeat(257) }), NONE_NODE)
  assert.equal(rangeNode(gas, { gt: 1n, lt: 2n }), NONE_NODE)
  assert.equal(rangeNode(gas, { gte: 2n, lte: 1n }), NONE_NODE)
  assert.equal(rangeNode(coin, { gt: 1, lte: 1 }), NONE_NODE)
  assert.equal(rangeNode(gas, { gt: 2n ** 63n - 1n }), NONE_NODE)
  assert.equal(rangeNode(gas, { lt: -(2n ** 63n) }), NONE_NODE)
  assert.deepEqual(rangeNode(gas, {}), existsNode(gas))
})

test('a range of booleans is a set of them', () => {
  assert.deepEqual(rangeNode(status, { gte: false }), inNode(status, [false, true]))
  assert.deepEqual(rangeNode(status, { gt: false }), inNode(status, [true]))
  assert.equal(rangeNode(status, { gt: true }), NONE_NODE)
})

test('two ranges of one integer are one, those of a list are two', () => {
  assert.deepEqual(
    andNode([rangeNode(gas, { gte: 1n }), c, rangeNode(gas, { lt: 9n })]),
    andNode([c, rangeNode(gas, { gte: 1n, lte: 8n })]),
  )
  assert.equal(andNode([rangeNode(gas, { gte: 9n }), rangeNode(gas, { lt: 9n })]), NONE_NODE)
  assert.deepEqual(andNode([rangeNode(gas, { gte: 8n }), rangeNode(gas, { lt: 9n })]), inNode(gas, [8n]))
  const [low, high] = [rangeNode(topics, { gte: '0x1' }), rangeNode(topics, { lte: '0x0' })]
  assert.deepEqual(andNode([low, high]), { op: 'and', of: [low, high] })
})

test('nodes are frozen', () => {
  const check = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || 'declaration' in value) return
    assert.ok(Object.isFrozen(value), JSON.stringify(Object.keys(value)))
    for (const inner of Object.values(value)) check(inner)
  }
  check(
    andNode([
      orNode([a, c, notNode(d)]),
      nestedNode('args', rangeNode(gas, { gt: 1n })),
      atLeastNode(2, [a, c, d]),
      idsNode(['0x1']),
    ]),
  )
})

test('text is ordered by code point', () => {
  const sorted = ['', 'A', 'a', 'aa', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}']
  assert.deepEqual([...sorted].reverse().toSorted(compareValues), sorted)
})

/** As the makers would have made it. */
const simplify = (node: Node): Node => {
  switch (node.op) {
    case 'in':
      return inNode(node.field, node.values)
    case 'range':
      return rangeNode(node.field, node.bounds)
    case 'ids':
      return idsNode(node.values)
    default:
      return mapChildren(node, simplify)
  }
}

test('inner nodes are changed wherever they stand, and what comes of it is folded', () => {
  const change = (node: Node, kind?: string): Node =>
    node.op === 'in' ? (kind === undefined ? b : c) : node.op === 'range' ? NONE_NODE : mapChildren(node, change)
  const cases: [Node, Node][] = [
    [andNode([a, c]), andNode([b, c])],
    [orNode([a, c, d]), orNode([b, c])],
    [andNode([c, d]), NONE_NODE],
    [atLeastNode(2, [a, c, d]), andNode([b, c])],
    [notNode(a), notNode(b)],
    [notNode(d), ALL_NODE],
    [nestedNode('args', a), nestedNode('args', b)],
    [nestedNode('args', d), NONE_NODE],
    [childNode('tx', andNode([a, c]), 2), childNode('tx', andNode([b, c]), 2)],
    [childNode('tx', a), childNode('tx', c)],
    [parentNode('block', a), parentNode('block', c)],
    [parentNode('block', notNode(orNode([c, d]))), parentNode('block', notNode(c))],
  ]
  for (const [node, changed] of cases) assert.deepEqual(mapChildren(node, change), changed)
  for (const leaf of [ALL_NODE, NONE_NODE, a, c, d, idsNode(['x'])])
    assert.equal(
      mapChildren(leaf, () => NONE_NODE),
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
      const [plain, simple] = [compilePredicate('tx', node), compilePredicate('tx', simplify(node))]
      for (const document of documents) assert.equal(simple(document), plain(document))
      assert.deepEqual(simplify(simplify(node)), simplify(node))
    }),
    { numRuns: 1000 },
  )
})
