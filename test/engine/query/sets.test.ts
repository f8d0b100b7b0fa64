import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  and,
  atLeast,
  collected,
  complement,
  count,
  eachOrdinal,
  hasOrdinal,
  listed,
  type OrdinalSet,
  or,
  run,
  takeOrdinals,
} from '../../../src/engine/query/match/ordinal-set.ts'

const SIZE = 300

const members = fc.uniqueArray(fc.nat(SIZE - 1), { maxLength: SIZE }).map(list => list.sort((a, b) => a - b))
/** A set in one of its forms beside the plain array it means. */
const sets: fc.Arbitrary<{ set: OrdinalSet; plain: number[] }> = fc.oneof(
  members.map(plain => ({ set: listed(Uint32Array.from(plain)), plain })),
  members.map(plain => ({ set: collected(Uint32Array.from(plain.concat(plain).reverse()), SIZE), plain })),
  members.map(plain => ({ set: complement(complement(listed(Uint32Array.from(plain)), SIZE), SIZE), plain })),
  fc.tuple(fc.nat(SIZE), fc.nat(SIZE)).map(([a, b]) => {
    const [from, to] = [Math.min(a, b), Math.max(a, b)]
    return { set: run(from, to), plain: Array.from({ length: to - from }, (_, i) => from + i) }
  }),
)

const plainOf = (set: OrdinalSet): number[] => {
  const all: number[] = []
  eachOrdinal(set, ordinal => all.push(ordinal))
  assert.equal(count(set), all.length)
  return all
}
const everything = Array.from({ length: SIZE }, (_, i) => i)

describe('sets of ordinals do what sets of numbers do', () => {
  const check = (
    name: string,
    property: (a: { set: OrdinalSet; plain: number[] }, b: { set: OrdinalSet; plain: number[] }) => void,
  ) => test(name, () => fc.assert(fc.property(sets, sets, property), { numRuns: 500 }))

  check('and', (a, b) =>
    assert.deepEqual(
      plainOf(and(a.set, b.set, SIZE)),
      a.plain.filter(o => b.plain.includes(o)),
    ),
  )
  check('or', (a, b) =>
    assert.deepEqual(
      plainOf(or([a.set, b.set], SIZE)),
      everything.filter(o => a.plain.includes(o) || b.plain.includes(o)),
    ),
  )
  check('not', a =>
    assert.deepEqual(
      plainOf(complement(a.set, SIZE)),
      everything.filter(o => !a.plain.includes(o)),
    ),
  )
  check('has', (a, b) =>
    assert.deepEqual(
      b.plain.map(o => hasOrdinal(a.set, o)),
      b.plain.map(o => a.plain.includes(o)),
    ),
  )
  check('some', a => {
    assert.deepEqual(takeOrdinals(a.set, 7, false), a.plain.slice(0, 7))
    assert.deepEqual(takeOrdinals(a.set, 7, true), a.plain.slice(-7).reverse())
  })
  test('or and atLeast of many', () =>
    fc.assert(
      fc.property(fc.array(sets, { maxLength: 6 }), fc.nat(7), (all, least) => {
        const times = everything.map(o => all.filter(({ plain }) => plain.includes(o)).length)
        assert.deepEqual(
          plainOf(
            atLeast(
              all.map(({ set }) => set),
              least,
              SIZE,
            ),
          ),
          everything.filter(o => times[o]! >= least),
        )
        assert.deepEqual(
          plainOf(
            or(
              all.map(({ set }) => set),
              SIZE,
            ),
          ),
          everything.filter(o => times[o]! >= 1),
        )
      }),
    ))
})
