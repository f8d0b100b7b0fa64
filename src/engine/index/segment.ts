import { impossible } from '../../sqlite/damage.ts'

/**
 * A segment: a run of neighbouring blocks whose documents are numbered from 0 by kind, in chain order. Its header translates these
 * ordinals into positions and back.
 */
export interface SegmentHeader {
  /** Number of the first block. */
  first: number
  last: number
  /** For each block, how many transactions the segment holds up to and with it. */
  txEnds: Uint32Array
  logEnds: Uint32Array
  /** All zero where the blocks came without traces. */
  traceEnds: Uint32Array
  callEnds: Uint32Array
  /** Timestamps of the blocks, in seconds. */
  times: Float64Array
  /**
   * Places of the transactions and logs of blocks that are excerpts, by the block's index: all other blocks are complete, and
   * what they hold stands at the places 0, 1, 2, …
   */
  excerpts: Map<number, Excerpt>
}

export interface Excerpt {
  txs: Uint32Array
  logs: Uint32Array
}

const HEAD = 8

/**
 * Layout, little-endian: number of blocks, number of excerpts (32 bits each), then times, txEnds, logEnds, then for each excerpt the block's index, the
 * number of transactions and of logs, and their places.
 */
export const encodeHeader = ({
  txEnds,
  logEnds,
  times,
  excerpts,
}: Omit<SegmentHeader, 'traceEnds' | 'callEnds'>): Uint8Array<ArrayBuffer> => {
  const blocks = times.length
  const tail = [...excerpts].flatMap(([index, { txs, logs }]) => [index, txs.length, logs.length, ...txs, ...logs])
  const bytes = new Uint8Array(HEAD + blocks * 16 + tail.length * 4)
  new Uint32Array(bytes.buffer, 0, 2).set([blocks, excerpts.size])
  new Float64Array(bytes.buffer, HEAD, blocks).set(times)
  new Uint32Array(bytes.buffer, HEAD + blocks * 8, blocks).set(txEnds)
  new Uint32Array(bytes.buffer, HEAD + blocks * 12, blocks).set(logEnds)
  new Uint32Array(bytes.buffer, HEAD + blocks * 16, tail.length).set(tail)
  return bytes
}

/** `traces` and `calls` are their ends, which are kept apart; null where there are none. */
export const decodeHeader = (
  first: number,
  bytes: Uint8Array,
  traces: Uint8Array | null,
  calls: Uint8Array | null,
): SegmentHeader => {
  const { buffer } = new Uint8Array(bytes)
  if (buffer.byteLength < HEAD || buffer.byteLength % 4 !== 0) throw impossible('the head of a segment')
  const [blocks, excerptCount] = new Uint32Array(buffer, 0, 2) as unknown as [number, number]
  if (HEAD + blocks * 16 + excerptCount * 12 > buffer.byteLength) throw impossible('the head of a segment')
  const tail = new Uint32Array(buffer, HEAD + blocks * 16)
  const excerpts = new Map<number, Excerpt>()
  for (let at = 0, seen = 0; seen < excerptCount; seen++) {
    const [index, txs, logs] = [tail[at]!, tail[at + 1]!, tail[at + 2]!]
    const start = at + 3
    at = start + txs + logs
    if (!(at <= tail.length)) throw impossible('the head of a segment')
    excerpts.set(index, { txs: tail.slice(start, start + txs), logs: tail.slice(start + txs, at) })
  }
  return {
    first,
    last: first + blocks - 1,
    times: new Float64Array(buffer, HEAD, blocks),
    txEnds: new Uint32Array(buffer, HEAD + blocks * 8, blocks),
    logEnds: new Uint32Array(buffer, HEAD + blocks * 12, blocks),
    traceEnds: endsOf(traces, blocks),
    callEnds: endsOf(calls, blocks),
    excerpts,
  }
}

const endsOf = (bytes: Uint8Array | null, blocks: number): Uint32Array =>
  bytes ? wordsOf(bytes, blocks) : new Uint32Array(blocks)

const wordsOf = (bytes: Uint8Array, count: number): Uint32Array => {
  if (bytes.length !== count * 4) throw impossible('the head of a segment')
  return new Uint32Array(new Uint8Array(bytes).buffer)
}
