import type { Abi, Redecoding } from '../../../http/shapes/management.ts'
import type { JsonObject } from '../../api/json.ts'

export type { Abi, Redecoding } from '../../../http/shapes/management.ts'
export type WholeAbi = Abi & { abi: JsonObject[] }

export interface Added {
  abis: Abi[]
  redecodings: Redecoding[]
}
