import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { and, collected, count, type OrdinalSet, run, toArray } from '../../../src/engine/query/match/ordinal-set.ts'
import { foldScore, spread, uniformScorer } from '../../../src/engine/query/scores/fold.ts'
import type { Segment } from '../../../src/engine/reader.ts'
import { lookup } from '../../../src/mapping/index.ts'
import { ALL_NODE, type Node } from '../../../src/query/ast.ts'
import type { Score, ScoredQuery } from '../../../src/query/score.ts'
import { idsNode, inNode } from '../../../src/query/simplify.ts'

const SIZE = 200
const SEGMENT = { id: 1 } as Segment
const FROM = lookup('tx', 'from')!

/** Sets that conditions match; those of one value of a field share nothing. */
interface World {
  sets: number[][]
  values: number[]
}

const world = fc.record<World>({
  sets: fc.array(
    fc.oneof(
      fc.array(fc.nat(SIZE - 1), { maxLength: 5 }),
      fc.array(fc.nat(SIZE - 1), { minLength: 100, maxLength: SIZE }),
    ),
    { minLength: 4, maxLength: 4 },
  ),
  values: fc.array(fc.nat(3), { minLength: SIZE, maxLength: SIZE }),
})

const node: fc.Arbitrary<Node> = fc.oneof(
  fc.constant(ALL_NODE),
  fc.nat(3).map(i => idsNode([`${i}`])),
  fc.nat(3).map(i => inNode(FROM, [`${i}`])),
)
const same = fc.constantFrom(0, 0.1, 0.2, 0.3, 1, 1.7).map((value): Score => ({ by: 'same', value }))
const score = (depth: number): fc.Arbitrary<Score> => {
  if (depth === 0) return same
  const of = fc.array(fc.record<ScoredQuery>({ node, score: score(depth - 1) }), { minLength: 1, maxLength: 4 })
  return fc.oneof(
    same,
    of.map((of): Score => ({ by: 'sum', of })),
    fc.tuple(of, fc.constantFrom(0, 0.3, 1, 2)).map(([of, tie]): Score => ({ by: 'best', of, tie })),
    fc
      .tuple(score(depth - 1), node, fc.constantFrom(0, 0.5, 2))
      .map(([of, where, factor]): Score => ({ by: 'lowered', of, where, factor })),
  )
}

describe('folded scores', () => {
  const holds = ({ sets, values }: World, node: Node, ordinal: number): boolean =>
    node.op === 'all' ||
    (node.op === 'ids' && sets[Number(node.values[0])]!.includes(ordinal)) ||
    (node.op === 'in' && node.values.includes(`${values[ordinal]}`))

  const scoreOf = (world: World, score: Score, ordinal: number): number => {
    switch (score.by) {
      case 'same':
        return score.value
      case 'lowered':
        return scoreOf(world, score.of, ordinal) * (holds(world, score.where, ordinal) ? score.factor : 1)
      case 'sum':
      case 'best': {
        const scores = score.of
          .filter(({ node }) => holds(world, node, ordinal))
          .map(({ score }) => scoreOf(world, score!, ordinal))
        const sum = scores.reduce((a, b) => a + b, 0)
        if (score.by === 'sum') return sum
        const most = Math.max(0, ...scores)
        return score.tie === 0 ? most : most + score.tie * (sum - most)
      }
      default:
        throw new Error(score.by)
    }
  }

  it('are those of each document, by sets and one by one, and none is greater than the greatest', () => {
    const matches = fc.oneof(
      fc.constant<OrdinalSet>(run(0, SIZE)),
      fc.array(fc.nat(SIZE - 1)).map(list => collected(Uint32Array.from(list), SIZE)),
    )
    fc.assert(
      fc.property(world, score(3), matches, (world, score, matches) => {
        const setOf = (node: Node) => {
          const ordinals = Array.from({ length: SIZE }, (_, i) => i).filter(i => holds(world, node, i))
          return collected(Uint32Array.from(ordinals), SIZE)
        }
        const scorer = foldScore(score, {
          leaf: score => uniformScorer(score.by === 'same' ? score.value : Number.NaN),
          matchesOf: node => (_, within) => and(setOf(node), within, SIZE),
          sizeOf: () => SIZE,
          isSingle: field => field === FROM,
          check: () => {},
        })
        const groups = scorer.groups!(SEGMENT, matches)
        const due = new Float64Array(SIZE)
        for (const ordinal of toArray(matches)) due[ordinal] = scoreOf(world, score, ordinal)
        assert.deepEqual(spread(groups, SIZE), due)
        const ordinals = toArray(matches)
        assert.deepEqual(
          scorer.scores(SEGMENT, ordinals),
          Float64Array.from(ordinals, ordinal => due[ordinal]!),
        )
        assert.equal(
          groups.reduce((sum, { set }) => sum + count(set), 0),
          count(matches),
        )
        for (const one of due) assert.ok(one <= scorer.greatest, `${one} ${scorer.greatest}`)
      }),
      { numRuns: Number(process.env.CASES ?? 300) },
    )
  })
})
