import { messageOf } from '../../lib/errors.ts'
import type { Range } from '../../lib/ranges.ts'
import type { RestartStatus } from '../../lib/restarts.ts'
import type { ScopeCoverage } from '../../search/coverage.ts'
import { isDamage } from '../../sqlite/damage.ts'
import type { Report, Waiting } from '../messages.ts'
import type { Indexing } from '../network.ts'
import type { LogLoss } from './published.ts'
import type { ClusterStatus, NetworkStatus } from './status.ts'

/** The content of a store: ranges of blocks, and its newest block with its time in seconds. */
export interface Held {
  ranges: Range[]
  newest: { number: number; time: number } | null
  coverage?: ScopeCoverage[]
  /** The newest block that was looked at for scopes. */
  looked?: number
}

export interface StatusOptions {
  networks(): string[]
  indexings: readonly Indexing[]
  /** What attends to the rules of a network without a source. */
  watching?(network: string): Indexing | undefined
  held(network: string): Promise<Held>
  /** What logs of stores had lost at the start, by network. */
  losses?: ReadonlyMap<string, LogLoss>
  cluster?(network: string): ClusterStatus | undefined
}

/** Reports of the last seconds, oldest first, by which speeds are measured. */
export type Samples = ReadonlyMap<Indexing, { at: number; report: Report }[]>

/** The status of one network. */
export const statusOf = async (
  network: string,
  { indexings, watching, held: ask, losses }: StatusOptions,
  samples: Samples,
): Promise<NetworkStatus> => {
  const indexing = indexings.find(it => it.network === network)
  let fault: string | null = null
  const loss = losses?.get(network)
  let store: Pick<NetworkStatus, 'store' | 'logLoss'> = loss ? { logLoss: loss } : {}
  const {
    ranges: held,
    newest: stored,
    coverage: covered,
    looked,
  } = await ask(network).catch((error: unknown): Held => {
    fault = messageOf(error)
    store = {
      ...store,
      store: isDamage(error) ? 'damaged' : 'unreadable',
    }
    return { ranges: [], newest: null }
  })
  const coverage = covered ? { coverage: covered } : {}
  if (!indexing) {
    const attending = watching?.(network)
    const restarts = attending?.restarts()
    return {
      network,
      state: restarts?.nextAt ? 'restarting' : 'serving',
      ...(restarts && { restarts }),
      ranges: held,
      ...coverage,
      head: null,
      lag: null,
      ...lastBlock(stored, null),
      blockTime: null,
      blocksPerSecond: null,
      eventsPerSecond: null,
      secondsLeft: null,
      error: attending?.error()?.message ?? (restarts?.nextAt ? restarts.error : fault),
      ...store,
      endpoints: [],
      alerts: attending?.report().alerts ?? {},
      ...shippingOf(attending),
      ...redecodingOf(attending),
    }
  }
  const report = indexing.report()
  const error = indexing.error()
  const [first] = samples.get(indexing) ?? []
  const seconds = first ? (performance.now() - first.at) / 1000 : 0
  const speed = (key: 'blocks' | 'events' | 'done'): number | null =>
    first && seconds > 0 ? Math.max(0, report[key] - first.report[key]) / seconds : null
  const filling = report.done < report.total
  const filled = speed('done')
  const whole = held.at(-1)?.to
  const top = looked === undefined ? whole : Math.max(looked, whole ?? 0)
  const head = headOf(report.head, whole)
  const restarts = indexing.restarts()
  const waiting = waitsForDisk(restarts) ?? report.waiting ?? (error || restarts?.nextAt ? undefined : silent(indexing))
  const [state, why] = ((): [NetworkStatus['state'], string | null] => {
    if (error) return ['stopped', error.message]
    if (restarts?.nextAt && !waitsForDisk(restarts)) return ['restarting', restarts.error]
    if (waiting) return ['waiting', waiting.for]
    return [filling ? 'filling' : 'following', fault]
  })()
  return {
    network,
    state,
    ...(waiting && { waiting }),
    ...(restarts && { restarts }),
    ranges: held,
    ...coverage,
    ...(report.filling && { filling: report.filling }),
    ...(report.missing && { missing: report.missing }),
    head,
    lag: head === null || top === undefined ? null : Math.max(0, head - top),
    ...lastBlock(stored, report.newest),
    blockTime: report.blockTime,
    blocksPerSecond: speed('blocks'),
    eventsPerSecond: speed('events'),
    secondsLeft: filling && filled ? (report.total - report.done) / filled : null,
    error: why,
    ...store,
    endpoints: report.endpoints,
    alerts: report.alerts,
    ...(report.finality && { finality: report.finality }),
    ...shippingOf(indexing),
    ...redecodingOf(indexing),
  }
}

const waitsForDisk = (restarts: RestartStatus | undefined): Waiting | undefined =>
  restarts?.diskFull && restarts.nextAt
    ? { kind: 'disk', for: restarts.error, since: restarts.endedAt, until: restarts.nextAt }
    : undefined

/** Blocks of so short a time are stored between two reports of the threads. */
const BETWEEN_REPORTS = 16

/** The head that was reported, or the newest block where that was stored since: the nodes have it, too. */
const headOf = (reported: number | null, stored: number | undefined): number | null =>
  reported !== null && stored !== undefined && stored > reported && stored - reported <= BETWEEN_REPORTS
    ? stored
    : reported

/** Longest time that threads which report four times a second are waited for before that is told. */
const SILENT_MS = 30_000

const silent = (indexing: Indexing): Waiting | undefined => {
  const ms = performance.now() - indexing.reportedAt()
  if (ms < SILENT_MS) return undefined
  const since = new Date(Date.now() - ms).toISOString()
  return { kind: 'thread', for: 'its threads, which have not reported', since }
}

const lastBlock = (stored: Held['newest'], taken: Report['newest']): Pick<NetworkStatus, 'lastBlock' | 'headAge'> => {
  const last = taken && taken.number >= (stored?.number ?? 0) ? taken : stored
  if (!last) return { lastBlock: null, headAge: null }
  return {
    lastBlock: {
      number: last.number,
      time: new Date(last.time * 1_000).toISOString(),
      receivedAt: 'at' in last ? new Date(last.at as number).toISOString() : null,
    },
    headAge: Math.max(0, Math.round(Date.now() / 1_000 - last.time)),
  }
}

const shippingOf = (indexing: Indexing | undefined): Pick<NetworkStatus, 'shipping' | 'moving'> => {
  const report = indexing?.report().shipping
  if (!report) return {}
  const { moving, ...shipping } = report
  return { shipping, ...(moving && { moving }) }
}

const redecodingOf = (indexing: Indexing | undefined): Pick<NetworkStatus, 'redecoding'> => {
  const redecoding = indexing?.report().redecoding
  return redecoding ? { redecoding } : {}
}
