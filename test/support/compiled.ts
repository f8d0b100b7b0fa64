import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

export interface Compiled {
  name: string
  by: string
  code: string
  /** Of the functions and events of its ABI; events that the code does not name are left out. */
  selectors: string[]
  topics: string[]
}

/** Contracts that `scripts/contracts/record.ts` compiled. */
export const readCompiled = (): Compiled[] =>
  brotliDecompressSync(readFileSync(new URL('../decode/compiled.ndjson.br', import.meta.url)))
    .toString()
    .split('\n')
    .map(line => JSON.parse(line))
