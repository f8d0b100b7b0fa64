import type { Json, JsonObject } from './json.ts'

/** Shapes of the API's answers, as far as the console reads them; `GET /openapi.json` describes all of them. */
export interface Status {
  version: string
  networks: NetworkStatus[]
  /** Why the server is not ready. */
  reasons?: Reason[]
  /** The receivers of the account whose last delivery failed. */
  deliveries?: { failing: { since: string }[] }
}

export interface Reason {
  type: string
  network?: string
  since?: string
  reason: string
}

export interface NetworkStatus {
  /** `technology/blockchain/network` */
  network: string
  state: string
  ranges: { from: number; to: number }[]
  head: number | null
  lag: number | null
  lastBlock: { number: number; time: string; receivedAt: string | null } | null
  error: string | null
}

export interface Hit {
  _index: string
  /** The entity. */
  _type: string
  _id: string
  _source: JsonObject
  sort?: Json[]
}

export interface SearchAnswer {
  took: number
  hits: { total: number; hits: Hit[] }
  aggregations?: JsonObject
}

export const KINDS = ['block', 'tx', 'event', 'log', 'call', 'trace', 'contract', 'token'] as const
export type Kind = (typeof KINDS)[number]
