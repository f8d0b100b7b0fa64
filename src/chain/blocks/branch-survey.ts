import { ChainsieveError } from '../../lib/errors.ts'
import type { Clock } from '../../lib/retry.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import { readHeads } from '../rpc/headers.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { BlockRef } from '../source.ts'

export interface SurveyOptions {
  rpc: Rpc
  clock: Clock
  /** Time between polls of the head, where it is set. */
  pollMs: number | undefined
  /** Number of the newest block that is followed. */
  tip(): number | undefined
  stored(number: number): BlockRef | undefined
}

/**
 * Asks nodes that were not asked for their head for a while, and tells from a block somewhat below the tip whether they are on the same branch. One of
 * them follows the chain; without this nobody would know what the others have. Nodes of which a day or a month is limited are left out.
 */
export const surveyNodes = async (
  { rpc, clock, pollMs = 0, tip, stored }: SurveyOptions,
  signal: AbortSignal,
): Promise<void> => {
  const everyMs = Math.max(EVERY_MS, 2 * pollMs)
  const look = async (endpoint: Endpoint) => {
    const head = await rpc.look(endpoint, signal)
    const newest = tip()
    const number = newest === undefined ? head.number : Math.min(newest - NEAR, head.number)
    const ours = number < 0 ? undefined : stored(number)
    if (!ours) return
    const { hash } = number === head.number ? head : (await readHeads(endpoint, number, number, signal))[0]!
    const isOther = hash !== ours.hash
    const since = isOther ? (endpoint.branch?.since ?? clock.now()) : undefined
    endpoint.branch =
      since === undefined ? undefined : { number, hash, since, times: (endpoint.branch?.times ?? 0) + 1 }
  }
  const isDue = ({ head, branch, health, budget }: Endpoint) => {
    const now = clock.elapsed()
    // One that is followed by now tells its head without this, but not its branch.
    const isOld = branch !== undefined || now - (head?.at ?? Number.NEGATIVE_INFINITY) >= everyMs
    return isOld && health.restUntil <= now && budget?.spendable() === undefined
  }
  while (!signal.aborted) {
    await clock.sleep(everyMs, signal).catch(() => {})
    await Promise.all(
      rpc.endpoints.filter(isDue).map(endpoint =>
        look(endpoint).catch(error => {
          if (!signal.aborted && !(error instanceof ChainsieveError)) throw error
        }),
      ),
    )
  }
}

const EVERY_MS = 10_000
/** Blocks below the tip that may be others on each node for a moment. */
const NEAR = 3
