import type { Inner, PackedState, State } from './aggregator.ts'
import type { Rows } from './group.ts'
import { type Leads, placesOf } from './leading.ts'
import { findKeys, type PackedArrays, type PackedKeys, packArrays, packKeys, taken, unpackKeys } from './packed.ts'

/** Buckets by keys in a segment. */
export interface KeyedState extends State, Rows {
  /** Buckets above. */
  above: number
  inner: State[]
}

/** Of one bucket above, where the first few buckets in an order are wanted: most of these are never looked at again. */
export interface LedState extends State {
  leads: Leads
  keys: PackedKeys
  counts: PackedArrays<Pick<Rows, 'counts'>>
  inner: PackedState[]
  /** Bytes of the same as it was. */
  whole: number
}

export const isLed = (state: KeyedState | LedState): state is LedState => 'leads' in state

/** Of all buckets. */
export const rowsIn = (state: KeyedState | LedState): KeyedState => {
  if (!isLed(state)) return state
  const keys = unpackKeys(state.keys)
  return {
    ...{ keys, owners: new Uint32Array(keys.length), counts: state.counts.of().counts },
    inner: state.inner.map(one => one.of()),
    ...{ above: 1, bytes: state.whole },
  }
}

/** Of buckets with some ascending keys. */
export const someRowsIn = (state: KeyedState | LedState, wanted: Float64Array, inner: Inner): KeyedState => {
  const { keys, places } = isLed(state) ? findKeys(state.keys, wanted) : placesOf(wanted, state.keys)
  return {
    ...{ keys, owners: new Uint32Array(keys.length) },
    counts: isLed(state) ? state.counts.of(places).counts : taken(state.counts, places),
    inner: isLed(state)
      ? state.inner.map(one => one.of(places))
      : state.inner.map((one, i) => inner[i]!.aggregator.pick!(one, places)),
    ...{ above: 1, bytes: wholeOf(state) },
  }
}

/** Aggregations inside of these can pack what they found. */
export const ledOf = (state: KeyedState, leads: Leads, inner: Inner): LedState => {
  const { packed: keys, order } = packKeys(state.keys)
  const counts = packArrays({ counts: state.counts }, order)
  const states = inner.map(({ aggregator }, i) => aggregator.pack!(state.inner[i]!, order))
  const own = keys.steps.bytes + leads.keys.byteLength + leads.numbers.byteLength
  const bytes = states.reduce((sum, { bytes }) => sum + bytes, own + counts.bytes)
  return { leads, keys, counts, inner: states, whole: state.bytes, bytes }
}

export const wholeOf = (state: KeyedState | LedState): number => (isLed(state) ? state.whole : state.bytes)

export const sizeOf = (state: KeyedState | LedState): number =>
  isLed(state) ? state.keys.steps.low.length : state.keys.length
