import { once } from 'node:events'
import { loadavg } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Times } from '../lib/table.ts'
import type { Finding } from './attack.ts'

/** Where another account asks, and by which token. */
export interface Ground {
  url: string
  /** `technology/blockchain/network` of a store that has transactions, or soon will. */
  network: string
  token: string
  /** Process of the server: then what a busy machine adds to times is taken off, and `/health` is asked each time. */
  pid?: number
  everyMs?: number
}

export interface Seen {
  term: Watched
  health: Watched
  status: Watched
}

export interface Watched extends Times {
  failed: number
}

/** Asks on behalf of an account that attacks nothing, from now on until it is stopped. */
export const watchOther = async (ground: Ground) => {
  const thread = new Worker(new URL('watch-thread.ts', import.meta.url), { workerData: ground })
  await once(thread, 'message')
  // An attack that fails ends, instead of waiting for its watch.
  thread.unref()
  const tell = async (what: 'lap' | 'stop'): Promise<Seen> => {
    const told = once(thread, 'message')
    thread.postMessage(what)
    const [seen] = (await told) as [Seen]
    return seen
  }
  return { lap: () => tell('lap'), stop: () => tell('stop') }
}

export type Watch = Awaited<ReturnType<typeof watchOther>>

const MAX_MS: Partial<Record<keyof Seen, number>> = { term: 50, health: 100 }

/** Of fewer, the slowest one in a hundred says nothing. */
const LEAST_RUNS = 100

/** What another account must not see while it is not the one that attacks. */
export const findingsIn = (during: string, seen: Seen): Finding[] => {
  const what = (text: string): Finding => ({ what: text, how: showSeen(during, seen) })
  const entries = Object.entries(seen) as [keyof Seen, Watched][]
  return entries.flatMap(([name, { runs, p99, failed }]) => [
    ...(failed > 0 ? [what(`another account’s ${name} fails`)] : []),
    ...(runs >= LEAST_RUNS && p99 > (MAX_MS[name] ?? Number.POSITIVE_INFINITY)
      ? [{ ...what(`another account’s ${name} is slow`), isTime: true }]
      : []),
  ])
}

/** The machine's load stands beside it: with more of it than processors, times tell of the machine. */
export const showSeen = (during: string, seen: Seen): string => {
  const shown = Object.entries(seen).map(([name, { runs, failed, p50, p99, max }]: [string, Watched]) => {
    const [typical, worst, most] = [p50, p99, max].map(ms => ms.toFixed(1))
    return `${name} ${typical} / ${worst} / ${most} ms (${failed} of ${runs} failed)`
  })
  return `${during}: p50 / p99 / most of ${shown.join(', ')}; load ${loadavg()[0]!.toFixed(1)}`
}
