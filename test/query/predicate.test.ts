import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Kind, lookup } from '../../src/mapping/index.ts'
import { ALL_NODE, type Node } from '../../src/query/ast.ts'
import { compilePredicate, indexedValuesOf, type Relatives } from '../../src/query/predicate.ts'
import {
  childNode,
  existsNode,
  idsNode,
  inNode,
  nestedNode,
  notNode,
  parentNode,
  rangeNode,
} from '../../src/query/simplify.ts'

const raw = (text: string) => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text)

const values = (kind: Kind, path: string, source: Record<string, unknown>) =>
  indexedValuesOf(lookup(kind, path)!, source)

test('the values of each kind of field, canonical', () => {
  const from = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'
  assert.deepEqual(values('tx', 'from', { from }), [from.toLowerCase()])
  assert.deepEqual(values('tx', 'from.raw', { from }), [from])
  assert.deepEqual(values('tx', 'hash', { hash: '0xAB' }), ['0xab'])
  assert.deepEqual(values('tx', 'r', { r: '0xA' }), ['0xa'])
  assert.deepEqual(values('log', 'topics', { topics: ['0xA', '0xB'] }), ['0xa', '0xb'])
  assert.deepEqual(values('tx', 'value.num', { value: { num: 5 } }), [5n])
  assert.deepEqual(values('tx', 'value.num', { value: { num: 2n ** 63n - 1n } }), [2n ** 63n - 1n])
  assert.deepEqual(values('tx', 'value.num', { value: { num: raw('9223372036854775807') } }), [2n ** 63n - 1n])
  assert.deepEqual(values('tx', 'value.num', { value: { num: null } }), [])
  assert.deepEqual(values('tx', 'value.coin', { value: { coin: 1.5 } }), [1.5])
  assert.deepEqual(values('tx', 'value.padded', { value: { padded: '0x0A' } }), ['0x0a'])
  assert.deepEqual(values('block', 'difficulty.raw', { difficulty: { raw: '0x1' } }), ['0x1'])
  assert.deepEqual(values('tx', 'status', { status: false }), [false])
  assert.deepEqual(values('tx', 'timestamp', { timestamp: 1583971200 }), [1583971200000])
  assert.deepEqual(values('log', 'timestamp', { timestamp: '2020-03-12T00:00:00' }), [1583971200000])
  assert.deepEqual(values('event', 'event', { event: 'ApprovalForAll' }), ['approvalforall'])
  assert.deepEqual(values('event', 'event', { event: 'two Words' }), ['two', 'words'])
  assert.deepEqual(values('event', 'event.raw', { event: 'two Words' }), ['two Words'])
  assert.deepEqual(values('event', 'probability', { probability: 0.5 }), [0.5])
  assert.deepEqual(values('event', 'args.pos', { args: [{ pos: 0 }, { pos: 1 }] }), [0n, 1n])
  assert.deepEqual(
    values('event', 'args.value.scaled', { args: [{ value: { scaled: 0.5 } }, { value: { scaled: null } }] }),
    [0.5],
  )
  assert.deepEqual(
    values('tx', 'accessList.storageKeys', { accessList: [{ storageKeys: ['0xA'] }, { storageKeys: [] }] }),
    ['0xa'],
  )
  assert.deepEqual(values('tx', 'to', { to: null }), [])
  assert.deepEqual(values('tx', 'to', {}), [])
})

test('texts of more than 256 characters have no value as a keyword', () => {
  const input = `0x${'ab'.repeat(127)}`
  assert.deepEqual(values('tx', 'input', { input }), [input])
  assert.deepEqual(values('tx', 'input', { input: `${input}c` }), [])
  assert.deepEqual(values('event', 'str', { str: 'x'.repeat(257) }), [])
  const has = compilePredicate('tx', existsNode(lookup('tx', 'input')!))
  assert.deepEqual(
    [input, `${input}c`].map(it => has({ _id: '', _source: { input: it } })),
    [true, false],
  )
})

test('nested looks at one element at a time, and at nothing else', () => {
  const name = lookup('event', 'args.name')!
  const num = lookup('event', 'args.value.num')!
  const document = (args: unknown) => ({ _id: '0x1', _source: { args } })
  const args = [
    { name: 'a', value: { num: 1 } },
    { name: 'b', value: { num: 2 } },
  ]
  const both = { op: 'and' as const, of: [inNode(name, ['a']), rangeNode(num, { gte: 2n })] }
  assert.equal(compilePredicate('event', { op: 'nested', path: 'args', of: both })(document(args)), false)
  assert.equal(
    compilePredicate('event', { op: 'nested', path: 'args', of: { ...both, op: 'or' } })(document(args)),
    true,
  )
  assert.equal(compilePredicate('event', nestedNode('args', notNode(inNode(name, ['a']))))(document(args)), true)
  assert.equal(compilePredicate('event', notNode(nestedNode('args', inNode(name, ['a']))))(document(args)), false)
  assert.deepEqual(
    [args, [], null, undefined].map(it => compilePredicate('event', nestedNode('args', ALL_NODE))(document(it))),
    [true, false, false, false],
  )
})

test('ids are compared with their hash in lower case', () => {
  const test = compilePredicate('log', idsNode(['0xab_l_1']))
  assert.deepEqual(
    ['0xab_l_1', '0xAB_l_1', '0xab_L_1', '0xab'].map(_id => test({ _id, _source: {} })),
    [true, true, false, false],
  )
})

test('a condition on parents or children needs them', () => {
  const children = { _id: '0x1_l_0', _source: { logIndex: { num: 0 } } }
  const relatives: Relatives = {
    childrenOf: ({ _id }, kind) => (_id === '0x1' && kind === 'log' ? [children, children] : []),
    parentOf: ({ _id }, kind) => (_id === '0x1_l_0' && kind === 'tx' ? { _id: '0x1', _source: {} } : undefined),
  }
  const has = (node: Node, _id: string) => compilePredicate('tx', node, relatives)({ _id, _source: {} })
  assert.deepEqual(
    [
      childNode('log', ALL_NODE),
      childNode('log', ALL_NODE, 2, 2),
      childNode('log', ALL_NODE, 3),
      childNode('event', ALL_NODE),
    ].map(node => has(node, '0x1')),
    [true, true, false, false],
  )
  assert.deepEqual(
    [
      parentNode('tx', ALL_NODE),
      parentNode('tx', idsNode(['0x1'])),
      parentNode('tx', idsNode(['0x2'])),
      parentNode('block', ALL_NODE),
    ].map(node => has(node, '0x1_l_0')),
    [true, true, false, false],
  )
  for (const node of [childNode('log', ALL_NODE), notNode(parentNode('tx', ALL_NODE))])
    assert.throws(() => compilePredicate('tx', node), { next: 'stop', code: 'relatives_unknown' })
})
