import { rememberedBy } from '../../lib/caches.ts'
import { overLimit } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Aggregation } from '../../query/aggs/ast.ts'
import type { Node } from '../../query/ast.ts'
import { andNode, isWithin } from '../../query/simplify.ts'
import { termOf, UNDECODED } from '../index/terms.ts'
import { isRowKind, numberedAs, viewOf } from '../query/fields/ordinals.ts'
import type { Evaluation } from '../query/match/evaluate.ts'
import { complement, EMPTY_SET, listed, type OrdinalSet, run } from '../query/match/ordinal-set.ts'
import { BLOCK_NUMBERS } from '../query/sort/sort-keys.ts'
import type { ReadHeader, Segment, StoreReader } from '../reader.ts'
import {
  type AggregationContext,
  type AggregationState,
  bytesOfAll,
  collectAll,
  type InnerAggregators,
  mergeAll,
  shrinkAll,
} from './aggregator.ts'
import { type Batch, batchOf } from './batch.ts'

export interface AggregatedPart {
  kind: Kind
  query: Node
  /** Whether no block range limits the matches. */
  isEverywhere: boolean
  evaluation: Evaluation
}

/** Aggregators that collect, and those that merge: perhaps of another store. */
interface Collecting {
  inner: InnerAggregators
  into: InnerAggregators
}

export const collectParts = (
  { inner, into }: Collecting,
  { parts, everything }: { parts: readonly AggregatedPart[]; everything: readonly AggregatedPart[] },
  context: AggregationContext,
): void => {
  const some = (isGlobal: boolean): Collecting => {
    const isOne = ({ aggregation }: { aggregation: Aggregation }) => (aggregation.spec.kind === 'global') === isGlobal
    return { inner: inner.filter(isOne), into: into.filter(isOne) }
  }
  collectSegments(some(false), parts, context)
  collectSegments(some(true), everything, context)
}

const collectSegments = (
  { inner, into }: Collecting,
  parts: readonly AggregatedPart[],
  context: AggregationContext,
) => {
  if (inner.length === 0) return
  const { reader, limits } = context
  for (const segment of reader.segments())
    for (const part of parts) {
      reader.check()
      const states = statesOf(inner, part, segment, context)
      mergeAll(into, states, ROOT_OWNER)
      if (bytesOfAll(into) > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    }
}

const ROOT_OWNER = Uint32Array.of(0)

const statesOf = (
  inner: InnerAggregators,
  part: AggregatedPart,
  segment: Segment,
  context: AggregationContext,
): AggregationState[] => {
  const { kind, query } = part
  const view = viewOf(segment, numberedAs(kind), context.reader)
  // Some row kinds lack the fields.
  const asked = isRowKind(kind) ? query : withoutWideRanges(query, segment, view.header)
  const asks = () => {
    const text = conditionText(asked)
    return text.length > MAX_CONDITION_LENGTH ? undefined : `${inner[0]!.aggregation.spec.kind === 'global'} ${text}`
  }
  const collect = () =>
    collectAll(
      inner,
      { ...view, kind, elements: undefined },
      batchIn({ segment, size: view.size }, part, asked, context.reader),
    )
  return context.kept.states({ segment, kind, query: asks }, collect, states => shrinkAll(inner, states))
}

const batchIn = (
  { segment, size }: { segment: Segment; size: number },
  { kind, isEverywhere, evaluation }: AggregatedPart,
  asked: Node,
  reader: StoreReader,
): Batch => {
  if (asked.op !== 'all' || !isEverywhere) return batchOf(evaluation.matches(segment))
  return batchOf(kind === 'event' ? eventsIn(segment, reader) : run(0, size))
}

/** Results of longer conditions are not cached. */
const MAX_CONDITION_LENGTH = 10_000

/** Drops ranges that contain the whole segment, so states of a moving time window stay cached. */
const withoutWideRanges = (node: Node, segment: Segment, { times }: ReadHeader): Node => {
  const ofOne = (one: Node): Node => {
    if (one.op === 'and') {
      const parts = one.of.map(ofOne)
      return parts.every((part, i) => part === one.of[i]) ? one : andNode(parts)
    }
    if (one.op !== 'range') return one
    const [first, last] =
      one.field.field === 'timestamp'
        ? [Math.min(...times) * 1000, Math.max(...times) * 1000]
        : BLOCK_NUMBERS.has(one.field.path)
          ? [BigInt(segment.first), BigInt(segment.last)]
          : [undefined, undefined]
    if (first === undefined) return one
    // A range contains all values if it contains both ends.
    return isWithin(first, one.bounds) && isWithin(last!, one.bounds) ? { op: 'all' } : one
  }
  return ofOne(node)
}

/** Equal conditions have equal texts. */
export const conditionText = rememberedBy((node: Node): string =>
  JSON.stringify(node, (name, value: unknown) => {
    if (name === 'field') return (value as { path: string }).path
    return typeof value === 'bigint' ? `${value}n` : value
  }),
)

/** Logs with an event. */
const eventsIn = (segment: Segment, reader: StoreReader): OrdinalSet => {
  if (segment.events === segment.log) return run(0, segment.log)
  let known = eventSets.get(reader)
  if (!known || known.version !== reader.version()) {
    const present = new Set(reader.segments().map(({ id }) => id))
    const left = [...(known?.sets ?? [])].filter(([id]) => present.has(id))
    known = { version: reader.version(), sets: new Map(left) }
    eventSets.set(reader, known)
  }
  let found = known.sets.get(segment.id)
  if (found?.revised !== segment.revised) {
    const term = termOf(0, UNDECODED)
    const [posting] = reader.termsBetween(segment.id, term, term)
    const others = posting ? listed(reader.ordinals(posting)) : EMPTY_SET
    found = { revised: segment.revised, events: complement(others, segment.log) }
    known.sets.set(segment.id, found)
  }
  return found.events
}

const eventSets = new WeakMap<
  StoreReader,
  { version: number; sets: Map<number, { revised: number; events: OrdinalSet }> }
>()
