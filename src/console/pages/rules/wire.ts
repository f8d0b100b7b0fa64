import type { Json, JsonObject } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'

/** What the routes below `/alerting` answer, as far as these pages read it. */
export interface Rule extends JsonObject {
  id: number
  name: string
  enabled: boolean
  idle: string | null
  /** Receivers whose last delivery failed; the first warnings say the same. */
  failing: { channel: string; target: string; since: string; status: number | null; error: string }[]
  warnings: string[]
  triggerCount: number
  startBlock: number | null
  maxConfirmationCount: number | 'safe' | 'finalized'
  createdAt: string
  updatedAt: string
  technology: string
  blockchain: string
  network: string
  config: JsonObject
}

export type AlertState = 'pending' | 'confirmed' | 'retracted' | 'withdrawn'

export interface SeriesOfRule {
  id: number
  counts: number[]
  total: number
  last24h: number
  lastAlert: null | { id: string; state: AlertState; block: number; receivedAt: string; changedAt: string }
}

export interface AlertSeries {
  from: string
  to: string
  intervalMs: number
  complete: boolean
  rules: SeriesOfRule[]
}

export interface Attempt {
  n: number
  at: string
  latencyMs: number
  outcome: string
  status: number | null
  error: string | null
  head: string | null
  nextAt: string | null
}

export interface Delivery {
  id: number
  alert: string
  type: string
  rule: number
  channel: string
  target: string
  state: 'queued' | 'delivered' | 'dead' | 'cancelled'
  tries: number
  lastStatus: number | null
  lastError: string | null
  createdAt: string
  deliveredAt: string | null
  nextAt: string | null
  attempts?: Attempt[]
}

export interface Alert {
  /** Of a rule of several networks. */
  network?: string
  id: string
  state: AlertState
  block: number
  blockHash: string
  confirmations: number | 'safe' | 'finalized'
  entity: { _id: string; _type: string }
  receivedAt: string
  changedAt: string
  deliveries: Delivery[]
}

export interface Simulation {
  total: number
  fromBlock: number | null
  toBlock: number | null
  complete: boolean
  holes: Json[]
  hits: Hit[]
  warnings?: string[]
  series: null | { intervalMs: number; buckets: { from: string; count: number }[] }
}

export interface TestAnswer {
  entity: { _id: string; _type: string }
  deliveries: {
    action: number
    type: string
    target: string
    delivered: boolean
    status: number | null
    error: string | null
    latencyMs: number
  }[]
}

export interface PreviewAnswer {
  entity: { _id: string; _type: string }
  messages: PreviewedMessage[]
}

/** Of a webhook or a chat, of an email, or of what would be refused. */
export interface PreviewedMessage {
  action: number
  type: string
  method?: string
  url?: string
  body?: JsonObject | null
  to?: string[]
  subject?: string
  text?: string
  refused?: string
}

/** What is wrong with a rule, at its place. */
export interface RuleFault {
  path: string
  message: string
}

export const networkOf = ({ technology, blockchain, network }: JsonObject): string =>
  `${technology}/${blockchain}/${network}`
