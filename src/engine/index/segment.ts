import { lowerBound } from '../../lib/arrays.ts'
import { byKind, RECORD_KINDS, type RecordKind } from '../../mapping/index.ts'
import { damagedValue } from '../../sqlite/damage.ts'

/**
 * A segment: a run of blocks whose documents are numbered from 0 by kind, in chain order. Its
 * header maps these ordinals to positions. Blocks of scopes may have gaps between them.
 */
export interface SegmentHeader {
  /** Number of the first block. */
  first: number
  last: number
  /** Numbers of the blocks, ascending; undefined if they are consecutive. */
  numbers: Uint32Array | undefined
  /** By kind: for each block, the number of documents up to and including it. */
  ends: Readonly<Record<RecordKind, Uint32Array>>
  /** Timestamps of the blocks, in seconds. */
  times: Float64Array
  /** Places in partial blocks, by the block's index; places in complete blocks are 0, 1, 2, … */
  partials: Map<number, PartialBlock>
}

export interface PartialBlock {
  txs: Uint32Array
  logs: Uint32Array
}

/** Bytes before the times, which begin at a multiple of their size. */
const HEADER_HEAD_BYTES = 16

/**
 * Little-endian. u32: number of blocks; number of partial blocks; bit set of the `RECORD_KINDS`
 * that have documents; 1 if block numbers follow, else 0. Then: times; block numbers unless
 * consecutive; ends of each of those kinds; for each partial block: index, number of transactions,
 * number of logs, and the places of both.
 */
export const encodeSegmentHeader = ({
  ends,
  times,
  numbers,
  partials,
}: Pick<SegmentHeader, 'ends' | 'times' | 'numbers' | 'partials'>): Uint8Array<ArrayBuffer> => {
  const blocks = times.length
  const held = RECORD_KINDS.filter(kind => (ends[kind].at(-1) ?? 0) > 0)
  const bits = held.reduce((sum, kind) => sum | (1 << RECORD_KINDS.indexOf(kind)), 0)
  const tail = [...partials].flatMap(([index, { txs, logs }]) => [index, txs.length, logs.length, ...txs, ...logs])
  const endsStart = HEADER_HEAD_BYTES + blocks * (numbers ? 12 : 8)
  const tailStart = endsStart + blocks * held.length * 4
  const bytes = new Uint8Array(tailStart + tail.length * 4)
  new Uint32Array(bytes.buffer, 0, 4).set([blocks, partials.size, bits, numbers ? 1 : 0])
  new Float64Array(bytes.buffer, HEADER_HEAD_BYTES, blocks).set(times)
  if (numbers) new Uint32Array(bytes.buffer, HEADER_HEAD_BYTES + blocks * 8, blocks).set(numbers)
  for (const [i, kind] of held.entries())
    new Uint32Array(bytes.buffer, endsStart + blocks * i * 4, blocks).set(ends[kind])
  new Uint32Array(bytes.buffer, tailStart, tail.length).set(tail)
  return bytes
}

export const decodeSegmentHeader = (first: number, bytes: Uint8Array): SegmentHeader => {
  const { buffer } = new Uint8Array(bytes)
  if (buffer.byteLength < HEADER_HEAD_BYTES || buffer.byteLength % 4 !== 0) throw damagedValue('the head of a segment')
  const [blocks, partialCount, bits, isSparse] = new Uint32Array(buffer, 0, 4) as unknown as [
    number,
    number,
    number,
    number,
  ]
  const held = RECORD_KINDS.filter((_, i) => (bits & (1 << i)) !== 0)
  const endsStart = HEADER_HEAD_BYTES + blocks * (isSparse ? 12 : 8)
  const tailStart = endsStart + blocks * held.length * 4
  if (tailStart + partialCount * 12 > buffer.byteLength) throw damagedValue('the head of a segment')
  const numbers = isSparse ? new Uint32Array(buffer, HEADER_HEAD_BYTES + blocks * 8, blocks) : undefined
  return {
    first,
    last: numbers ? numbers.at(-1)! : first + blocks - 1,
    numbers,
    times: new Float64Array(buffer, HEADER_HEAD_BYTES, blocks),
    ends: byKind(RECORD_KINDS, kind => {
      const i = held.indexOf(kind)
      return i < 0 ? new Uint32Array(blocks) : new Uint32Array(buffer, endsStart + blocks * i * 4, blocks)
    }),
    partials: partialsIn(new Uint32Array(buffer, tailStart), partialCount),
  }
}

const partialsIn = (tail: Uint32Array, count: number): SegmentHeader['partials'] => {
  const partials: SegmentHeader['partials'] = new Map()
  for (let at = 0, seen = 0; seen < count; seen++) {
    const [index, txs, logs] = [tail[at]!, tail[at + 1]!, tail[at + 2]!]
    const start = at + 3
    at = start + txs + logs
    if (!(at <= tail.length)) throw damagedValue('the head of a segment')
    partials.set(index, { txs: tail.slice(start, start + txs), logs: tail.slice(start + txs, at) })
  }
  return partials
}

/** The header of the first blocks of a segment. */
export const headOfHeader = (header: SegmentHeader, blocks: number): SegmentHeader => ({
  first: header.first,
  last: blockAt(header, blocks - 1),
  numbers: header.numbers?.slice(0, blocks),
  ends: byKind(RECORD_KINDS, kind => header.ends[kind].slice(0, blocks)),
  times: header.times.slice(0, blocks),
  partials: new Map([...header.partials].filter(([index]) => index < blocks)),
})

/** The number of the block with this index. */
export const blockAt = ({ first, numbers }: Pick<SegmentHeader, 'first' | 'numbers'>, index: number): number =>
  numbers ? numbers[index]! : first + index

/** Index of the first block at or above a number; may be outside if blocks are consecutive. */
export const indexFrom = ({ first, numbers }: Pick<SegmentHeader, 'first' | 'numbers'>, block: number): number =>
  numbers ? lowerBound(numbers, block) : block - first

const numbersOf = (header: SegmentHeader): number[] => Array.from(header.times, (_, index) => blockAt(header, index))

/** The header of neighbouring segments as one. */
export const joinHeaders = (headers: readonly SegmentHeader[]): SegmentHeader => {
  const times: number[] = []
  const partials: SegmentHeader['partials'] = new Map()
  for (const header of headers) {
    for (const [index, partial] of header.partials) partials.set(times.length + index, partial)
    for (const time of header.times) times.push(time)
  }
  return {
    first: headers[0]!.first,
    last: headers.at(-1)!.last,
    numbers: headers.every((header, i) => !header.numbers && (i === 0 || headers[i - 1]!.last === header.first - 1))
      ? undefined
      : Uint32Array.from(headers.flatMap(numbersOf)),
    ends: byKind(RECORD_KINDS, kind => joinEnds(headers.map(({ ends }) => ends[kind]))),
    times: Float64Array.from(times),
    partials,
  }
}

const joinEnds = (parts: readonly Uint32Array[]): Uint32Array => {
  const ends: number[] = []
  for (const part of parts) {
    const before = ends.at(-1) ?? 0
    for (const end of part) ends.push(before + end)
  }
  return Uint32Array.from(ends)
}
