import { parentsOf } from '../../mapping/index.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import { numberedAs, viewOf } from '../query/fields/ordinals.ts'
import { evaluate } from '../query/match/evaluate.ts'
import { linkOf, NO_PARENT } from '../query/match/joins.ts'
import { and, collected, type OrdinalSet, run, toArray } from '../query/match/ordinal-set.ts'
import { EVERYTHING } from '../query/plan/plan.ts'
import { ofParent } from '../query/plan/planner.ts'
import type { Context } from './aggregator.ts'
import { type At, type Batch, ordinalAt } from './batch.ts'

type Lead = (at: At, batch: Batch) => { at: At; batch: Batch }

/** From documents to those of their children that are of one kind, each in the buckets of its parent. */
export const toChildren = ({ child }: SpecOf<'children'>, context: Context): Lead => {
  const { reader } = context
  return (at, batch) => {
    const there = viewAt(at, child, context)
    if (at.elements || batch.count === 0 || !parentsOf(child).includes(at.kind)) return nothing(there, batch)
    const link = linkOf(numberedAs(child), numberedAs(at.kind), reader)
    const parents = distinct(batch, at.size)
    const found = and(link.down(at, parents), ofKind(child, at.kind, there, context), there.size)
    const children = toArray(found)
    const above = link.up(at, found)
    const buckets = bucketsOf(batch, at.size)
    const pairs = createPairs(batch)
    for (const [i, ordinal] of children.entries()) {
      if ((i & SOME) === 0) reader.check()
      const parent = above[i]!
      if (parent !== NO_PARENT) for (const bucket of buckets(parent)) pairs.add(ordinal, bucket)
    }
    return { at: there, batch: pairs.batch() }
  }
}

/** From documents of one kind to their parents. */
export const toParents = ({ child, of }: SpecOf<'parent'>, context: Context): Lead => {
  const { reader } = context
  return (at, batch) => {
    const there = viewAt(at, of, context)
    if (at.elements || batch.count === 0 || at.kind !== child) return nothing(there, batch)
    const link = linkOf(numberedAs(child), numberedAs(of), reader)
    const children = distinct(batch, at.size)
    const buckets = bucketsOf(batch, at.size)
    const above = link.up(at, children)
    const found: { parent: number; bucket: number }[] = []
    const seen = new Set<number>()
    for (const [i, ordinal] of toArray(children).entries()) {
      if ((i & SOME) === 0) reader.check()
      const parent = above[i]!
      if (parent === NO_PARENT) continue
      for (const bucket of buckets(ordinal)) {
        const key = parent * batch.buckets + bucket
        if (seen.has(key)) continue
        seen.add(key)
        found.push({ parent, bucket })
      }
    }
    const pairs = createPairs(batch)
    for (const { parent, bucket } of found.sort((a, b) => a.parent - b.parent)) pairs.add(parent, bucket)
    return { at: there, batch: pairs.batch() }
  }
}

/** Between two looks at whether to go on. */
const SOME = 0xfff

const viewAt = ({ segment }: At, kind: At['kind'], { reader }: Context): At => ({
  ...viewOf(segment, numberedAs(kind), reader),
  kind,
  elements: undefined,
})

const nothing = (at: At, { buckets, owners }: Batch): { at: At; batch: Batch } => ({
  at,
  batch: { count: 0, list: new Uint32Array(0), from: 0, owners: owners && new Uint32Array(0), buckets },
})

const distinct = (batch: Batch, size: number): OrdinalSet =>
  batch.list
    ? collected(Uint32Array.from(batch.list.subarray(0, batch.count)), size)
    : run(batch.from, batch.from + batch.count)

/** Those that have parents of this kind. */
const ofKind = (child: At['kind'], parent: At['kind'], at: At, { reader, ask }: Context): OrdinalSet => {
  const plan = ofParent(child, parent, EVERYTHING, reader)
  return evaluate({ kind: child, plan, reader, ask }).matches(at.segment)
}

const ONLY: readonly number[] = [0]

/** The buckets that a document of a batch lies in. */
const bucketsOf = (batch: Batch, size: number): ((ordinal: number) => readonly number[]) => {
  const { owners, count } = batch
  if (!owners) return () => ONLY
  const heads = new Int32Array(size).fill(-1)
  const next = new Int32Array(count)
  for (let i = count - 1; i >= 0; i--) {
    const ordinal = ordinalAt(batch, i)
    next[i] = heads[ordinal]!
    heads[ordinal] = i
  }
  return ordinal => {
    const found: number[] = []
    for (let i = heads[ordinal]!; i >= 0; i = next[i]!) found.push(owners[i]!)
    return found
  }
}

/** A batch that grows. */
const createPairs = ({ owners, buckets }: Batch) => {
  const list: number[] = []
  const own: number[] = []
  return {
    add(ordinal: number, bucket: number) {
      list.push(ordinal)
      own.push(bucket)
    },
    batch: (): Batch => ({
      ...{ count: list.length, list: Uint32Array.from(list), from: 0, buckets },
      owners: owners && Uint32Array.from(own),
    }),
  }
}
