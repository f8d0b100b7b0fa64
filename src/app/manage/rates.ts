import type { RateSample, Rates } from '../../http/shapes/management.ts'
import type { NetworkStatus, Status } from '../../ingest/status/status.ts'
import type { Log } from '../../lib/log.ts'
import { every } from '../../lib/scheduling/interval.ts'

const EVERY_MS = 10_000
/** An hour of them. */
const KEPT = 360

/** What the status tells now and then, of the last hour. */
export const createRates = (status: () => Promise<Status>, log: Log) => {
  const samples = new Map<string, RateSample[]>()
  const take = async () => {
    const { networks } = await status()
    const at = new Date().toISOString()
    for (const network of networks) {
      const list = samples.get(network.network) ?? []
      list.push(sampleOf(network, at))
      if (list.length > KEPT) list.shift()
      samples.set(network.network, list)
    }
    for (const name of samples.keys()) if (!networks.some(({ network }) => network === name)) samples.delete(name)
  }
  // Whoever looks early sees something; what is wrong with it, the next one tells.
  take().catch(() => {})
  return {
    stop: every(EVERY_MS, take, { log, doing: 'note how fast networks are indexed' }),
    take,
    of: (wanted: string | undefined): Rates => ({
      everyMs: EVERY_MS,
      networks: Array.from(samples, ([network, list]) => ({ network, samples: list })).filter(
        ({ network }) => wanted === undefined || network === wanted,
      ),
    }),
  }
}

const sampleOf = (
  { head, ranges, lag, blocksPerSecond, eventsPerSecond, secondsLeft }: NetworkStatus,
  at: string,
): RateSample => ({ at, head, top: ranges.at(-1)?.to ?? null, lag, blocksPerSecond, eventsPerSecond, secondsLeft })
