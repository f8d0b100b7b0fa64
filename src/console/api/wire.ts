import type { Json, JsonObject } from './json.ts'

/** Shapes of the API's answers, as far as the console reads them. */
export type { NetworkStatus, Status } from '../../http/shapes/server.ts'

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
