import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Json, type JsonObject, ownEntry } from '../../src/console/api/json.ts'
import {
  hasLogic,
  listNamed,
  toRuleLines,
  toTargetMap,
  withOperator,
} from '../../src/console/pages/rules/condition-rows.ts'
import { readConditions } from '../../src/console/pages/rules/from-query.ts'
import { mergedOf, payloadOf, ruleDifferences, toggleWay, waysOf } from '../../src/console/pages/rules/model.ts'
import { measureWords } from '../../src/console/pages/rules/window-words.ts'
import { lowerConditions } from '../../src/rules/lower.ts'

const said = (query: unknown) => readConditions(typeof query === 'string' ? query : JSON.stringify(query))

test('a query becomes conditions with all of its digits', () => {
  assert.deepEqual(said('event:Transfer AND blockNumber.num:>=400 AND from:"0xab"'), {
    conditions: [
      { name: 'event', operator: 'Equals (ignore case)', value: 'Transfer' },
      { name: 'blockNumber.num', operator: 'Greater or Equal', value: '400' },
      { name: 'from', operator: 'Equals (ignore case)', value: '0xab' },
    ],
    left: [],
    words: [],
  })
  assert.deepEqual(said('{"range":{"value.dec":{"gt":9007199254740993,"boost":1}}}'), {
    conditions: [{ name: 'value.dec', operator: 'Greater', value: '9007199254740993' }],
    left: [],
    words: [],
  })
  const scaled = { bool: { must: [{ term: { 'args.name': 'value' } }, { range: { 'args.value.scaled': { gt: 5 } } }] } }
  assert.deepEqual(said({ query: { nested: { path: 'args', query: scaled } } }), {
    conditions: [
      {
        ...{ name: 'args', operator: 'Inspect' },
        operatorParameters: [{ name: 'value', operator: 'Greater', value: '5', useScaledValue: true }],
      },
    ],
    left: [],
    words: [],
  })
  assert.deepEqual(said({ terms: { method: ['a', 'b'] } }).conditions, [
    { name: 'method', operator: 'Equals any', value: ['a', 'b'] },
  ])
  assert.deepEqual(said('Transfer AND event:(Swap OR Sync)'), {
    conditions: [{ name: 'event', operator: 'Equals any (ignore case)', value: ['Swap', 'Sync'] }],
    left: [],
    words: ['Transfer'],
  })
})

test('what a rule cannot say is named, and nothing stands in its place', () => {
  const queries: readonly unknown[] = [
    ...['a OR b', 'event:Tra*', '(a:b)', '{"term":', { wildcard: { from: '0x*' } }, { match: { str: 'two words' } }],
    ...[{ bool: { must_not: { term: { a: 1 } } } }, { bool: { should: [{ term: { a: 1 } }, { term: { b: 1 } }] } }],
    ...[{ range: { timestamp: { gte: 1 } } }, { range: { a: { format: 'x' } } }, { exists: { field: 'a' } }],
    ...[{ nested: { path: 'args', query: { term: { 'args.value.hex': '0x' } } } }, { term: 5 }],
  ]
  for (const query of queries) {
    const { conditions, left, words } = said(query)
    assert.deepEqual([conditions, left.length, words], [[], 1, []], JSON.stringify(query))
  }
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      said(value)
    }),
  )
})

test('lines of the form mean what the conditions mean', () => {
  const name = fc.constantFrom('event', 'address', 'args', 'value', 'to')
  const leaf = fc.record({ name, operator: fc.constantFrom('Equals', 'Greater'), value: fc.constantFrom('1', '0x2') })
  const units = fc.record({ useScaledValue: fc.constant(true) }, { requiredKeys: [] })
  const inspect = (inner: fc.Arbitrary<object>) =>
    fc
      .tuple(name, units, fc.array(inner, { minLength: 1, maxLength: 3 }))
      .map(([name, more, operatorParameters]) => ({ name, operator: 'Inspect', ...more, operatorParameters }))
  const second = fc.oneof(
    fc.tuple(leaf, units).map(([it, more]) => ({ ...it, ...more })),
    inspect(leaf),
  )
  const first = fc.oneof(
    leaf,
    fc
      .tuple(name, fc.array(second, { minLength: 1, maxLength: 3 }))
      .map(([name, operatorParameters]) => ({ name, operator: 'Inspect', operatorParameters })),
  )
  fc.assert(
    fc.property(fc.array(first, { maxLength: 6 }), conditions => {
      const meaning = (targetMap: unknown) =>
        lowerConditions({ targetType: 'Event', targetMap } as Parameters<typeof lowerConditions>[0])
      const rows = toRuleLines(conditions as Json[])
      const again = toTargetMap(rows)
      assert.deepEqual(meaning(again), meaning(conditions))
      assert.deepEqual(
        toRuleLines(again).map(({ names, rest }) => ({ names, rest })),
        rows.map(({ names, rest }) => ({ names, rest })),
      )
      assert.ok(again.length <= rows.length)
    }),
  )
})

test('a payload is the fields that are ticked', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  fc.assert(
    fc.property(fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { maxLength: 8 }), ways => {
      const chosen = ways.reduce<readonly (readonly string[])[]>((all, way) => {
        const within = all.some(it => it.every((step, i) => way[i] === step))
        return within ? all : toggleWay(all, way, true)
      }, [])
      const sort = (list: readonly (readonly string[])[]) => list.map(way => way.join('.')).sort()
      assert.deepEqual(sort(waysOf(payloadOf(chosen))), sort(chosen))
      assert.deepEqual(
        chosen.reduce<readonly (readonly string[])[]>((all, way) => toggleWay(all, way, false), chosen),
        [],
      )
    }),
  )
})

test('of two changes, each one is kept unless both are of one part', () => {
  const part = fc.record({ name: fc.nat(2), description: fc.nat(2), a: fc.nat(2), b: fc.nat(2) })
  const ruleOf = ({ a, b, ...rest }: { name: number; description: number; a: number; b: number }): JsonObject => ({
    ...rest,
    config: { targetMap: [a], alerts: [b] },
  })
  fc.assert(
    fc.property(part, part, part, (base, mine, theirs) => {
      const differences = ruleDifferences(ruleOf(base), ruleOf(mine), ruleOf(theirs))
      const expected = Object.fromEntries(
        (['name', 'description', 'a', 'b'] as const).map(key => [
          key,
          mine[key] === base[key] ? theirs[key] : mine[key],
        ]),
      )
      assert.deepEqual(mergedOf(ruleOf(theirs), differences), ruleOf(expected as typeof base))
      const both = (['name', 'description', 'a', 'b'] as const).filter(
        key => mine[key] !== base[key] && theirs[key] !== base[key] && mine[key] !== theirs[key],
      )
      assert.equal(differences.filter(it => it.both).length, both.length)
    }),
  )
})

test('a watch list stays where an operator takes several values, and goes with another one', () => {
  const rest = { operator: 'Equals any', value: { list: 'customers' } }
  assert.equal(listNamed(rest), 'customers')
  assert.deepEqual(withOperator(rest, 'Equals any (ignore case)'), { ...rest, operator: 'Equals any (ignore case)' })
  assert.deepEqual(withOperator(rest, 'Equals'), { operator: 'Equals', value: '' })
  assert.deepEqual(withOperator({ operator: 'Equals', value: 'x' }, 'Equals any').value, ['x'])
  assert.deepEqual(withOperator({ operator: 'Equals any', value: ['x', 'y'] }, 'Equals').value, 'x')
})

test('alternatives and exceptions are one line, which the form leaves as it is', () => {
  const inner = { name: 'to', operator: 'Equals', value: '1' }
  const or = { operator: 'Or', operatorParameters: [inner] }
  const targetMap = [
    { name: 'event', operator: 'Equals', value: 'Transfer' },
    or,
    { name: 'args', operator: 'Inspect', operatorParameters: [or, inner] },
  ]
  const lines = toRuleLines(targetMap)
  assert.deepEqual(
    lines.map(({ odd }) => odd !== undefined && hasLogic([odd])),
    [false, true, true],
  )
  assert.deepEqual(toTargetMap(lines), targetMap)
})

test('names that all objects inherit are words like others', () => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    assert.equal(ownEntry({ Sum: 'sum' }, name), undefined)
    assert.equal(measureWords(name, 'value'), `${name} value`)
    assert.match(said(`{"${name}":{"a":"b"}}`).left.join(), new RegExp(`^“${name}” has no counterpart`))
  }
})
