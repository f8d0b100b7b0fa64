import { parentKindsOf } from '../../mapping/index.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import { numberedAs, viewOf } from '../query/fields/ordinals.ts'
import { evaluatePlan } from '../query/match/evaluate.ts'
import { linkOf, NO_PARENT } from '../query/match/joins.ts'
import { and, collected, type OrdinalSet, run, toArray } from '../query/match/ordinal-set.ts'
import { EVERYTHING } from '../query/plan/plan.ts'
import { ofParent } from '../query/plan/planner.ts'
import type { AggregationContext } from './aggregator.ts'
import { type Batch, type BatchView, emptyBatch, ordinalAt } from './batch.ts'

type Lead = (at: BatchView, batch: Batch) => { at: BatchView; batch: Batch }

/** From documents to their children of one kind, in the buckets of the parents. */
export const toChildren = ({ child }: SpecOf<'children'>, context: AggregationContext): Lead =>
  toRelatives(child, context, (at, batch, there) => {
    if (!parentKindsOf(child).includes(at.kind)) return undefined
    const link = linkOf(numberedAs(child), numberedAs(at.kind), context.reader)
    const parents = distinct(batch, at.size)
    const children = and(link.down(at, parents), childrenOfParent(child, at.kind, there, context), there.size)
    return { found: toArray(children), from: link.up(at, children) }
  })

/** From documents of one kind to their parents, each once in each bucket. */
export const toParents = ({ child, of }: SpecOf<'parent'>, context: AggregationContext): Lead =>
  toRelatives(of, context, (at, batch) => {
    if (at.kind !== child) return undefined
    const link = linkOf(numberedAs(child), numberedAs(of), context.reader)
    const children = distinct(batch, at.size)
    return { found: link.up(at, children), from: toArray(children) }
  })

/** Pairs of a related document and a batch document; either may be `NO_PARENT`. */
interface Links {
  found: ArrayLike<number>
  from: ArrayLike<number>
}

const toRelatives =
  (
    kind: BatchView['kind'],
    context: AggregationContext,
    find: (at: BatchView, batch: Batch, there: BatchView) => Links | undefined,
  ): Lead =>
  (at, batch) => {
    const there = { ...viewOf(at.segment, numberedAs(kind), context.reader), kind, elements: undefined }
    const links = at.elements || batch.count === 0 ? undefined : find(at, batch, there)
    if (!links) return { at: there, batch: emptyBatch(batch) }
    const { buckets, owners } = batch
    const bucketsIn = bucketsByDocument(batch, at.size)
    /** Related document × buckets + bucket. */
    const all: number[] = []
    for (let i = 0; i < links.found.length; i++) {
      if ((i & LINK_CHECK_MASK) === 0) context.reader.check()
      const [found, from] = [links.found[i]!, links.from[i]!]
      if (found === NO_PARENT || from === NO_PARENT) continue
      for (const bucket of bucketsIn(from)) all.push(found * buckets + bucket)
    }
    const places = Float64Array.from(all)
      .sort()
      .filter((place, i, sorted) => place !== sorted[i - 1])
    return {
      at: there,
      batch: {
        ...{ count: places.length, from: 0, buckets },
        list: Uint32Array.from(places, place => Math.floor(place / buckets)),
        owners: owners && Uint32Array.from(places, place => place % buckets),
      },
    }
  }

/** `check` is called once per 4,096 links. */
const LINK_CHECK_MASK = 0xfff

const distinct = (batch: Batch, size: number): OrdinalSet =>
  batch.list
    ? collected(Uint32Array.from(batch.list.subarray(0, batch.count)), size)
    : run(batch.from, batch.from + batch.count)

const childrenOfParent = (
  child: BatchView['kind'],
  parent: BatchView['kind'],
  at: BatchView,
  { reader, ask }: AggregationContext,
): OrdinalSet => {
  const plan = ofParent(child, parent, EVERYTHING, reader)
  return evaluatePlan({ kind: child, plan, reader, ask }).matches(at.segment)
}

const FIRST_BUCKET: readonly number[] = [0]

const bucketsByDocument = (batch: Batch, size: number): ((ordinal: number) => readonly number[]) => {
  const { owners, count } = batch
  if (!owners) return () => FIRST_BUCKET
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
