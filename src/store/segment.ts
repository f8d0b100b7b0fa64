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
  /** Timestamps of the blocks, in seconds. */
  times: Float64Array
}

export const encodeHeader = ({ txEnds, logEnds, times }: SegmentHeader): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(times.length * 16)
  new Float64Array(bytes.buffer, 0, times.length).set(times)
  new Uint32Array(bytes.buffer, times.length * 8, times.length).set(txEnds)
  new Uint32Array(bytes.buffer, times.length * 12, times.length).set(logEnds)
  return bytes
}

export const decodeHeader = (first: number, bytes: Uint8Array): SegmentHeader => {
  const { buffer } = new Uint8Array(bytes)
  const blocks = bytes.length / 16
  return {
    first,
    last: first + blocks - 1,
    times: new Float64Array(buffer, 0, blocks),
    txEnds: new Uint32Array(buffer, blocks * 8, blocks),
    logEnds: new Uint32Array(buffer, blocks * 12, blocks),
  }
}
