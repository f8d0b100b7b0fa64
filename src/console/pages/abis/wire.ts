import type { JsonObject } from '../../api/json.ts'

export interface Abi {
  id: string
  name: string | null
  network: string | null
  address: string | null
  codeHash: string | null
  events: number
  functions: number
  errors: number
  bytes: number
  addedAt: string
}

/** One with its declarations. */
export interface WholeAbi extends Abi {
  abi: JsonObject[]
}

export interface Redecoding {
  id: string
  network: string
  abi: string
  name: string | null
  askedAt: string
  state: 'waiting' | 'running' | 'stopping'
  nextBlock: number | null
  blocksLeft: number | null
}

export interface Added {
  abis: Abi[]
  redecodings: Redecoding[]
}
