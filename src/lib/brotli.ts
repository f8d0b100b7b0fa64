import { brotliDecompressSync } from 'node:zlib'

/** Unpacks Brotli; `limit` is the largest size in bytes that the result may have. */
export const unbrotli = (packed: Uint8Array, limit: number): Buffer =>
  brotliDecompressSync(packed, { maxOutputLength: limit })
