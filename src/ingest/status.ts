import { readFileSync, statSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AlertCounts } from '../alerts/book.ts'
import type { EndpointStatus } from '../chain/source.ts'
import { messageOf } from '../lib/errors.ts'
import { PRIVATE_FILE } from '../lib/private.ts'
import { version } from '../lib/runtime.ts'
import type { Range, RedecodingReport, Report } from './messages.ts'
import type { Indexing } from './network.ts'

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
  ranges: Range[]
  /** Newest block of the source; null where it is not known. */
  head: number | null
  /** Blocks between the newest stored block and the head. */
  lag: number | null
  blocksPerSecond: number | null
  eventsPerSecond: number | null
  /** Until a back-fill is done. */
  secondsLeft: number | null
  error: string | null
  endpoints: EndpointStatus[]
  /** Alerts that came into each state since the server started, by target type. */
  alerts: AlertCounts
  /** Where what is stored is decoded anew: by which ABI, and how much is left. */
  redecoding?: RedecodingReport
}

export interface StatusOptions {
  networks(): string[]
  indexings: readonly Indexing[]
  /** What attends to the rules of a network without a source. */
  watching?(network: string): Indexing | undefined
  ranges(network: string): Promise<Range[]>
}

/** Time over which speeds are measured. */
const WINDOW_MS = 10_000

/** The status of a running server; speeds are those of the last seconds. */
export const createStatus = (options: StatusOptions) => {
  const samples = new Map<Indexing, { at: number; report: Report }[]>()
  const sample = () => {
    for (const indexing of options.indexings) {
      const list = samples.get(indexing) ?? []
      list.push({ at: performance.now(), report: indexing.report() })
      while (list.length > 2 && list[1]!.at < performance.now() - WINDOW_MS) list.shift()
      samples.set(indexing, list)
    }
  }
  setInterval(sample, 1000).unref()
  return async () => {
    sample()
    return {
      version,
      networks: await Promise.all(options.networks().map(network => statusOf(network, options, samples))),
    }
  }
}

/** The status of what is stored, without a server. */
export const offlineStatus = async (options: StatusOptions) => ({
  version,
  networks: await Promise.all(options.networks().map(network => statusOf(network, options, new Map()))),
})

const FILE = 'status.json'
const PUBLISH_MS = 1000
/** A file that is older was left behind by a server that is gone. */
const FRESH_MS = 5000

/** Writes a running server's status beside its data again and again, for `chainsieve status`; the returned function ends that. */
export const publishStatus = (data: string, status: () => Promise<Status>) => {
  const path = join(data, FILE)
  const publish = async () => {
    await writeFile(`${path}.new`, JSON.stringify(await status()), { mode: PRIVATE_FILE })
    await rename(`${path}.new`, path)
  }
  // A disk that is full is told of by those who need it more.
  const timer = setInterval(() => void publish().catch(() => {}), PUBLISH_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await rm(path, { force: true })
  }
}

/** What a running server published last; undefined where none runs on this data folder. */
export const readStatus = (data: string): Status | undefined => {
  try {
    const path = join(data, FILE)
    if (Date.now() - statSync(path).mtimeMs > FRESH_MS) return undefined
    return JSON.parse(readFileSync(path, 'utf8')) as Status
  } catch {
    return undefined
  }
}

const statusOf = async (
  network: string,
  { indexings, watching, ranges }: StatusOptions,
  samples: ReadonlyMap<Indexing, { at: number; report: Report }[]>,
): Promise<NetworkStatus> => {
  const indexing = indexings.find(it => it.network === network)
  let fault: string | null = null
  const held = await ranges(network).catch((error: unknown) => {
    fault = messageOf(error)
    return []
  })
  if (!indexing) {
    return {
      network,
      state: 'serving',
      ranges: held,
      head: null,
      lag: null,
      blocksPerSecond: null,
      eventsPerSecond: null,
      secondsLeft: null,
      error: watching?.(network)?.error()?.message ?? fault,
      endpoints: [],
      alerts: watching?.(network)?.report().alerts ?? {},
      ...redecodingOf(watching?.(network)),
    }
  }
  const report = indexing.report()
  const error = indexing.error()
  const [first] = samples.get(indexing) ?? []
  const seconds = first ? (performance.now() - first.at) / 1000 : 0
  const speed = (key: 'blocks' | 'events' | 'done'): number | null =>
    first && seconds > 0 ? (report[key] - first.report[key]) / seconds : null
  const filling = report.done < report.total
  const filled = speed('done')
  const top = held.at(-1)?.to
  return {
    network,
    state: error ? 'stopped' : filling ? 'filling' : 'following',
    ranges: held,
    head: report.head,
    lag: report.head === null || top === undefined ? null : Math.max(0, report.head - top),
    blocksPerSecond: speed('blocks'),
    eventsPerSecond: speed('events'),
    secondsLeft: filling && filled ? (report.total - report.done) / filled : null,
    error: error?.message ?? report.waiting ?? fault,
    endpoints: report.endpoints,
    alerts: report.alerts,
    ...redecodingOf(indexing),
  }
}

const redecodingOf = (indexing: Indexing | undefined): Pick<NetworkStatus, 'redecoding'> => {
  const redecoding = indexing?.report().redecoding
  return redecoding ? { redecoding } : {}
}
