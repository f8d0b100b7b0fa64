import type { ByteWriter } from '../lib/bytes.ts'

/** Makes the bytes of a file of hits, part by part. */
export interface Encoder {
  /** Takes the hits of a page. */
  add(hits: readonly Buffer[], signal: AbortSignal): void | Promise<void>
  /** Whether what was added is enough for a part. */
  isFull(): boolean
  /** Forgets what was added since the last part. */
  clear(): void
  /** The bytes of a part, and what `tail` is to know of it. `at`: its place in the file. */
  take(at: number): Taken | Promise<Taken>
  /** What ends the file, given what was noted of its parts. */
  tail?(notes: readonly unknown[], at: number): Promise<Uint8Array>
}

export interface Taken {
  part: Uint8Array
  note?: unknown
}

/** What was written, which is then forgotten. */
export const taken = (out: ByteWriter): Uint8Array => {
  const part = out.take()
  out.clear()
  return part
}

export const FORMATS = ['ndjson', 'csv', 'raw-csv', 'parquet'] as const
export type ExportFormat = (typeof FORMATS)[number]
