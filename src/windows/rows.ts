import type { EntryPart, WindowEntry } from './entries.ts'
import type { WindowMeasure } from './spec.ts'
import { rescale } from './sums.ts'
import type { WindowBlock } from './window.ts'

/** What the values of one measure add, of each row. */
export type RowParts =
  /** Sums at one scale. */
  | { kind: 'sum'; scale: number; digits: bigint[]; values: Int32Array; signed: Uint8Array }
  | { kind: 'distinct'; texts: readonly (readonly string[])[] }
  /** The state of a key knows from which block its bound is. */
  | { kind: 'least' | 'greatest' }

/** The matches of one block, packed: the windows of a rule may have a million of them. */
export interface PackedRows extends PackedEntries {
  block: WindowBlock
  /** Place of the key of each row. */
  places: Int32Array
}

interface PackedEntries {
  counts: Int32Array
  parts: RowParts[]
  /** Ids of the first matches, and where those of each row end. */
  ids: Buffer
  ends: Int32Array
}

const packedLists = new WeakMap<readonly WindowEntry[], PackedEntries>()

/** Rules that share a list, which have the same measures, share what it is packed to. */
export const packRows = (entries: readonly WindowEntry[], measures: readonly WindowMeasure[]): PackedEntries => {
  const packed = packedLists.get(entries) ?? packEntries(entries, measures)
  packedLists.set(entries, packed)
  return packed
}

const packEntries = (entries: readonly WindowEntry[], measures: readonly WindowMeasure[]): PackedEntries => {
  const counts = Int32Array.from(entries, ({ count }) => count)
  const texts = entries.map(({ ids }) => ids.join(BETWEEN_IDS))
  const ids = Buffer.from(texts.join(''))
  const ends = new Int32Array(entries.length)
  let end = 0
  for (let row = 0; row < texts.length; row++) ends[row] = end += Buffer.byteLength(texts[row]!)
  return { counts, parts: measures.map((measure, i) => packParts(measure, entries, i)), ids, ends }
}

/** Ids of the first matches of a row. */
export const idsOfRow = ({ ids, ends }: PackedRows, row: number): string[] => {
  const text = ids.toString('utf8', ends[row - 1] ?? 0, ends[row])
  return text === '' ? [] : text.split(BETWEEN_IDS)
}

/** No id has it. */
const BETWEEN_IDS = '\n'

type SumPart = [digits: string, scale: number, values: number, signed: 0 | 1]

const packParts = ({ kind }: WindowMeasure, entries: readonly WindowEntry[], measure: number): RowParts => {
  if (kind === 'least' || kind === 'greatest') return { kind }
  if (kind === 'distinct') return { kind, texts: entries.map(({ parts }) => textsOf(parts[measure]!)) }
  const all = entries.map(({ parts }) => parts[measure] as SumPart)
  const scale = all.reduce((most, [, own]) => Math.max(most, own), 0)
  return {
    ...{ kind, scale },
    digits: all.map(([digits, own]) => rescale(BigInt(digits), scale - own)),
    values: Int32Array.from(all, part => part[2]),
    signed: Uint8Array.from(all, part => part[3]),
  }
}

const textsOf = (part: EntryPart): readonly string[] => (part as { of: string[] }).of
