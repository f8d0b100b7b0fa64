import { doubled } from '../lib/arrays.ts'
import type { Exact } from '../query/ast.ts'
import { compareExact } from '../query/exact.ts'
import { type EntryPart, MAX_NAMED, type WindowEntry } from './entries.ts'
import { idsOfRow, type PackedRows, packRows, type RowParts } from './rows.ts'
import type { WindowMeasure } from './spec.ts'
import { rescale } from './sums.ts'
import type { WindowBlock, WindowLimits } from './window.ts'

export type PartState =
  /** `signed`: rows whose values may be negative. */
  | { kind: 'sum'; sum: Exact; values: number; signed: number }
  /** Values that may become the bound, the bound first. */
  | { kind: 'least' | 'greatest'; queue: readonly { block: number; value: Exact }[] }
  | { kind: 'distinct'; texts: ReadonlyMap<string, number> }

export interface KeyState {
  count: number
  entries: number
  parts: PartState[]
}

/**
 * What lies in the windows of a rule at a block: rows in the order of their blocks, and what they make of
 * each key. `isOut`: whether a block is no longer in the window at another one.
 */
export const createKeyStates = (
  measures: readonly WindowMeasure[],
  limits: WindowLimits,
  isOut: (block: WindowBlock, now: WindowBlock) => boolean,
) => {
  const places = new Map<string, number>()
  /** Keys by their places, of which some are free. */
  const names: string[] = []
  const free: number[] = []
  const counts = createKeyNumbers()
  const entriesOf = createKeyNumbers()
  const sums = measures.map(createPartStates)
  let blocks: PackedRows[] = []
  let head = 0
  let rows = 0

  const placeFor = (key: string, mayRefuse: boolean): number | undefined => {
    const known = places.get(key)
    if (mayRefuse && rows >= limits.rows) return undefined
    if (known !== undefined || (mayRefuse && places.size >= limits.keys)) return known
    const place = free.pop() ?? names.length
    names[place] = key
    places.set(key, place)
    return place
  }

  const stateAt = (place: number): KeyState => ({
    count: counts.at(place),
    entries: entriesOf.at(place),
    parts: sums.map(part => part.at(place)),
  })

  return {
    has: (key: string): boolean => places.has(key),
    get(key: string): KeyState | undefined {
      const place = places.get(key)
      return place === undefined ? undefined : stateAt(place)
    },
    keys: (): Iterable<string> => places.keys(),
    get size() {
      return { keys: places.size, rows }
    },
    /** The first block with a row. */
    oldest: (): number | undefined => blocks[head]?.block.number,
    /** Returns the entries that had room: the same list, where all had. */
    put(block: WindowBlock, entries: readonly WindowEntry[], mayRefuse: boolean): readonly WindowEntry[] {
      const left: WindowEntry[] = []
      const at = new Int32Array(entries.length)
      let count = 0
      for (const entry of entries) {
        const place = placeFor(entry.key, mayRefuse)
        if (place === undefined) {
          left.push(entry)
          continue
        }
        rows++
        counts.add(place, entry.count)
        entriesOf.add(place, 1)
        at[count++] = place
      }
      if (count === 0) return NO_ENTRIES
      const refused = new Set(left)
      const taken = left.length === 0 ? entries : entries.filter(entry => !refused.has(entry))
      const packed = { block, places: at.slice(0, count), ...packRows(taken, measures) }
      blocks.push(packed)
      for (let i = 0; i < measures.length; i++) sums[i]!.put(packed, packed.parts[i]!, taken, i)
      return taken
    },
    /** Removes rows that are out of the window, and adds their keys to `touched`. */
    leave(now: WindowBlock, touched: Set<string>) {
      for (; head < blocks.length && isOut(blocks[head]!.block, now); head++) {
        const packed = blocks[head]!
        rows -= packed.places.length
        for (let row = 0; row < packed.places.length; row++) {
          const place = packed.places[row]!
          touched.add(names[place]!)
          counts.add(place, -packed.counts[row]!)
          entriesOf.add(place, -1)
        }
        for (let i = 0; i < measures.length; i++) sums[i]!.leave(packed, packed.parts[i]!)
      }
      if (head > 1_000 && head * 2 > blocks.length) {
        blocks = blocks.slice(head)
        head = 0
      }
    },
    /** Forgets a key of which no row is left. */
    dropEmpty(key: string) {
      const place = places.get(key)
      if (place === undefined || entriesOf.at(place) > 0) return
      places.delete(key)
      names[place] = ''
      for (const part of sums) part.clear(place)
      free.push(place)
    },

    /** The first matches of keys, and the block of the first: one look at all rows. */
    named(wanted: Iterable<string>): Map<string, { ids: string[]; from: number | undefined }> {
      const found = new Map<string, { ids: string[]; from: number | undefined }>()
      const byPlace = new Map<number, { ids: string[]; from: number | undefined; left: number }>()
      for (const key of wanted) {
        const place = places.get(key)
        const one = { ids: [], from: undefined, left: place === undefined ? 0 : entriesOf.at(place) }
        found.set(key, one)
        if (one.left > 0) byPlace.set(place!, one)
      }
      for (let i = head; i < blocks.length && byPlace.size > 0; i++) {
        const packed = blocks[i]!
        for (let row = 0; row < packed.places.length; row++) {
          const one = byPlace.get(packed.places[row]!)
          if (one === undefined) continue
          one.from ??= packed.block.number
          one.ids.push(...idsOfRow(packed, row).slice(0, MAX_NAMED - one.ids.length))
          one.left--
          if (one.left === 0 || one.ids.length === MAX_NAMED) byPlace.delete(packed.places[row]!)
        }
      }
      return found
    },
  }
}

const NO_ENTRIES: readonly WindowEntry[] = []

/** A number for each place, 0 at first. */
const createKeyNumbers = () => {
  let numbers = new Float64Array(16)
  return {
    at: (place: number): number => numbers[place] ?? 0,
    add(place: number, by: number) {
      while (place >= numbers.length) numbers = doubled(numbers)
      numbers[place]! += by
    },
  }
}

/** The values of one measure that lie in the windows of each key. */
interface PartStates {
  at(place: number): PartState
  put(rows: PackedRows, parts: RowParts, entries: readonly WindowEntry[], measure: number): void
  leave(rows: PackedRows, parts: RowParts): void
  clear(place: number): void
}

const createPartStates = ({ kind }: WindowMeasure): PartStates => {
  if (kind === 'sum') return createKeySums()
  return kind === 'distinct' ? createKeyTexts() : createKeyBounds(kind)
}

type PartsOf<Kind> = Extract<RowParts, { kind: Kind }>

/** All sums have one scale. */
const createKeySums = (): PartStates => {
  const digits: bigint[] = []
  const values = createKeyNumbers()
  const signed = createKeyNumbers()
  let scale = 0
  const add = ({ places }: PackedRows, parts: PartsOf<'sum'>, sign: 1 | -1) => {
    if (parts.scale > scale) {
      for (let place = 0; place < digits.length; place++)
        digits[place] = rescale(digits[place] ?? 0n, parts.scale - scale)
      scale = parts.scale
    }
    for (let row = 0; row < places.length; row++) {
      const place = places[row]!
      const own = rescale(parts.digits[row]!, scale - parts.scale)
      const before = digits[place]
      // One row alone shares its digits.
      digits[place] = !before && sign === 1 ? own : (before ?? 0n) + BigInt(sign) * own
      values.add(place, sign * parts.values[row]!)
      signed.add(place, sign * parts.signed[row]!)
    }
  }
  return {
    at: place => ({
      ...{ kind: 'sum', sum: { digits: digits[place] ?? 0n, scale } },
      ...{ values: values.at(place), signed: signed.at(place) },
    }),
    put: (rows, parts) => add(rows, parts as PartsOf<'sum'>, 1),
    leave: (rows, parts) => add(rows, parts as PartsOf<'sum'>, -1),
    clear(place) {
      digits[place] = 0n
    },
  }
}

const NO_TEXTS: ReadonlyMap<string, number> = new Map()

const createKeyTexts = (): PartStates => {
  const texts: (Map<string, number> | undefined)[] = []
  const add = ({ places }: PackedRows, parts: PartsOf<'distinct'>, by: 1 | -1) => {
    for (let row = 0; row < places.length; row++) {
      const place = places[row]!
      const known = texts[place] ?? new Map<string, number>()
      texts[place] = known
      for (const text of parts.texts[row]!) {
        const count = (known.get(text) ?? 0) + by
        if (count === 0) known.delete(text)
        else known.set(text, count)
      }
    }
  }
  return {
    at: place => ({ kind: 'distinct', texts: texts[place] ?? NO_TEXTS }),
    put: (rows, parts) => add(rows, parts as PartsOf<'distinct'>, 1),
    leave: (rows, parts) => add(rows, parts as PartsOf<'distinct'>, -1),
    clear(place) {
      texts[place] = undefined
    },
  }
}

const createKeyBounds = (kind: 'least' | 'greatest'): PartStates => {
  const queues: ({ block: number; value: Exact }[] | undefined)[] = []
  const sign = kind === 'least' ? -1 : 1
  return {
    at: place => ({ kind, queue: queues[place] ?? [] }),
    put({ block, places }, _, entries, measure) {
      for (let row = 0; row < places.length; row++) {
        const value = exactIn(entries[row]!.parts[measure]!)
        if (value === undefined) continue
        const queue = queues[places[row]!] ?? []
        queues[places[row]!] = queue
        while (queue.length > 0 && compareExact(value, queue.at(-1)!.value) * sign >= 0) queue.pop()
        queue.push({ block: block.number, value })
      }
    },
    leave({ block, places }) {
      for (const place of places) if (queues[place]?.[0]?.block === block.number) queues[place].shift()
    },
    clear(place) {
      queues[place] = undefined
    },
  }
}

const exactIn = (part: EntryPart): Exact | undefined => {
  if (part === null || !Array.isArray(part)) return undefined
  const [digits, scale] = part
  return { digits: BigInt(digits), scale }
}

/** The state of a key without matches. */
export const emptyKeyState = (measures: readonly WindowMeasure[]): KeyState => ({
  count: 0,
  entries: 0,
  parts: measures.map(({ kind }) =>
    kind === 'sum'
      ? { kind, sum: { digits: 0n, scale: 0 }, values: 0, signed: 0 }
      : kind === 'distinct'
        ? { kind, texts: NO_TEXTS }
        : { kind, queue: [] },
  ),
})
