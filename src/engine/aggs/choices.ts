import { overLimit } from '../../limits/index.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import { rangeKey } from '../../query/aggs/buckets.ts'
import type { Bucket, Buckets, SingleBucket } from '../../query/aggs/result.ts'
import { complement, type OrdinalSet, or } from '../query/match/ordinal-set.ts'
import {
  type AggregationContext,
  type AggregationState,
  type Aggregator,
  bytesOfAll,
  bytesOfStates,
  collectAll,
  createNumbers,
  finishAll,
  type InnerAggregators,
  lengthFor,
  mergeAll,
  numberAtPath,
  resultsOf,
  shrinkAll,
} from './aggregator.ts'
import { type Batch, type BatchView, countsByBucket, filterBatch, maskBatch, ordinalAt } from './batch.ts'
import { createSource } from './value-source.ts'
import { eachValue, gathered } from './values.ts'

interface SlotState extends AggregationState {
  counts: Float64Array
  inner: AggregationState[]
}

/** Documents in slots; `counts` replaces those of the batch. */
interface Slotted {
  at: BatchView
  batch: Batch
  counts?: Float64Array
}

/** Collects documents in a fixed number of slots for each bucket above. */
const createSlots = (size: number, inner: InnerAggregators, slot: (at: BatchView, batch: Batch) => Slotted) => {
  const counts = createNumbers()
  const slotsOf = (owners: Uint32Array): Uint32Array =>
    size === 1
      ? owners
      : Uint32Array.from({ length: owners.length * size }, (_, i) => owners[Math.floor(i / size)]! * size + (i % size))
  return {
    collect(at: BatchView, batch: Batch): SlotState {
      const slotted = slot(at, batch)
      const states = collectAll(inner, slotted.at, slotted.batch)
      const here = slotted.counts ?? countsByBucket(slotted.batch)
      return { counts: here, inner: states, bytes: bytesOfStates(states, here) }
    },
    shrink(state: AggregationState): SlotState {
      const { counts, inner: states } = state as SlotState
      const shrunk = shrinkAll(inner, states)
      return { counts, inner: shrunk, bytes: bytesOfStates(shrunk, counts) }
    },
    merge(state: AggregationState, owners: Uint32Array) {
      const { counts: more, inner: states } = state as SlotState
      const slots = slotsOf(owners)
      counts.reserve(lengthFor(slots))
      for (let i = 0; i < slots.length; i++) counts.values[slots[i]!]! += more[i]!
      mergeAll(inner, states, slots)
    },
    finish: (owners: number) => finishAll(inner, owners * size),
    /** `owner` -1 is a bucket without documents. */
    contents(owner: number, place: number): Pick<Bucket, 'docCount' | 'results'> {
      const slot = owner < 0 ? -1 : owner * size + place
      return { docCount: counts.values[slot] ?? 0, results: resultsOf(inner, slot) }
    },
    count: (owner: number) => counts.values[owner] ?? 0,
    bytes: () => counts.bytes() + bytesOfAll(inner),
  }
}

/** An aggregation of one bucket: some of the documents, or related ones. */
export const createSingle = (
  type: string,
  inner: InnerAggregators,
  context: AggregationContext,
  lead: (at: BatchView, batch: Batch) => Slotted,
): Aggregator => {
  const slots = createSlots(1, inner, lead)
  return {
    ...slots,
    result(owner): SingleBucket {
      context.count(1)
      return { is: 'bucket', type, ...slots.contents(owner, 0) }
    },
    number(owner, steps, rest) {
      if (steps.length === 0 || (steps.length === 1 && steps[0] === '_count')) return slots.count(owner)
      return numberAtPath(inner, owner, steps, rest)
    },
  }
}

interface Choosing<T> {
  type: string
  isNamed: boolean
  /** Selects the documents of one choice after the other. */
  choose(at: BatchView, batch: Batch): (one: T) => Batch
  describe(one: T): Pick<Bucket, 'name' | 'key' | 'number'>
}

/** Buckets of fixed choices, shown in their order even if empty. */
const createChoices = <T>(
  all: readonly T[],
  { type, isNamed, choose, describe }: Choosing<T>,
  inner: InnerAggregators,
  context: AggregationContext,
): Aggregator => {
  const { reader, limits } = context
  const slots = createSlots(all.length, inner, (at, batch) => {
    // Documents that many choices let through multiply from level to level.
    let bytes = all.length * batch.buckets * SLOT_BYTES
    const chooseOne = choose(at, batch)
    const chosen = all.map(one => {
      reader.check()
      if (bytes > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
      const own = chooseOne(one)
      bytes += own.count * DOCUMENT_BYTES
      return own
    })
    return { at, ...slotted(chosen, batch.buckets, inner.length > 0) }
  })
  return {
    ...slots,
    result(owner): Buckets {
      context.count(all.length)
      const buckets = all.map((one, place): Bucket => ({ ...describe(one), ...slots.contents(owner, place) }))
      return { is: 'buckets', type, members: [], keyed: isNamed, buckets }
    },
    number: () => null,
  }
}

/** Bytes of a slot, and of a document in one. */
const [SLOT_BYTES, DOCUMENT_BYTES] = [12, 16]

/** The documents of all choices; a document may occur in several. */
const slotted = (
  chosen: readonly Batch[],
  above: number,
  wantsInner: boolean,
): { batch: Batch; counts: Float64Array } => {
  const buckets = chosen.length * above
  const counts = new Float64Array(buckets)
  for (const [choice, one] of chosen.entries())
    for (const [owner, count] of countsByBucket(one).entries()) counts[owner * chosen.length + choice] = count
  const count = wantsInner ? chosen.reduce((sum, { count }) => sum + count, 0) : 0
  const [list, owners] = [new Uint32Array(count), new Uint32Array(count)]
  let size = 0
  for (const [choice, one] of wantsInner ? chosen.entries() : [])
    for (let i = 0; i < one.count; i++) {
      list[size] = ordinalAt(one, i)
      owners[size++] = (one.owners ? one.owners[i]! : 0) * chosen.length + choice
    }
  return { batch: { count, list, from: 0, owners, buckets }, counts }
}

export const createRange = (
  spec: SpecOf<'range' | 'date_range'>,
  inner: InnerAggregators,
  context: AggregationContext,
): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  return createChoices(
    spec.ranges,
    {
      ...{ type: spec.kind, isNamed: spec.keyed },
      choose(at, batch) {
        const found = source.read(at, batch)
        const values = found.form === 'several' ? undefined : gathered(found, batch)
        return ({ from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }) => {
          if (values) return filterBatch(batch, (_, i) => values[i]! >= from && values[i]! < to)
          const inside = new Uint8Array(batch.count)
          eachValue(found, batch, (i, value) => {
            if (value >= from && value < to) inside[i] = 1
          })
          return filterBatch(batch, (_, i) => inside[i] === 1)
        }
      },
      describe: range => rangeKey(range, spec),
    },
    inner,
    context,
  )
}

export const createFilters = (
  { filters, other }: SpecOf<'filters'>,
  inner: InnerAggregators,
  context: AggregationContext,
): Aggregator => {
  const isNamed = filters[0]!.name !== undefined
  const rest = other === undefined ? [] : [{ name: other, query: undefined }]
  return createChoices(
    [...filters, ...rest],
    {
      ...{ type: 'filters', isNamed },
      choose(at, batch) {
        const size = at.elements ? at.elements.size : at.size
        const masks: OrdinalSet[] = []
        return ({ query }) => {
          if (!query) return maskBatch(batch, complement(or(masks, size), size), at)
          const mask = context.matching.mask(query, at, batch)
          masks.push(mask)
          return maskBatch(batch, mask, at)
        }
      },
      describe: ({ name }) => ({ ...(isNamed && { name: name! }), key: [] }),
    },
    inner,
    context,
  )
}
