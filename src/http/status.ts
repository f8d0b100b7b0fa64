import type { Handler } from './context.ts'
import { json } from './json.ts'

/** What `GET /status` and `chainsieve status` tell. */
export interface Status {
  version: string
  networks: NetworkStatus[]
}

export interface NetworkStatus {
  network: string
  /** `following` the head, `filling` older blocks, both being `filling`; `serving` what is stored where there is no source; `stopped` by `error`. */
  state: 'following' | 'filling' | 'serving' | 'stopped'
  /** Blocks that are held, ascending and inclusive; between two ranges is a hole. */
  ranges: { from: number; to: number }[]
  /** Newest block of the source; null where it is not known. */
  head: number | null
  /** Blocks between the newest stored block and the head. */
  lag: number | null
  blocksPerSecond: number | null
  eventsPerSecond: number | null
  /** Until a back-fill is done. */
  secondsLeft: number | null
  error: string | null
  endpoints: {
    url: string
    requests: number
    errors: number
    lastError: string | null
    lastErrorAt: string | null
  }[]
}

/** `GET /status` */
export const status =
  (service: () => Status | Promise<Status>): Handler =>
  async () =>
    json(await service())

/** `GET /health`: open to everybody, so it tells nothing but that the server answers. */
export const health: Handler = () => json({ status: 'ok' })
