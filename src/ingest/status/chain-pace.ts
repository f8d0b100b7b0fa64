import type { EndpointStatus } from '../../chain/source.ts'
import { type Clock, systemClock } from '../../lib/retry.ts'
import type { WaitReason } from '../messages.ts'

/** Times are epoch seconds as the chain has them. */
export interface TimedBlock {
  number: number
  time: number
}

interface ChainPaceOptions {
  stored: readonly TimedBlock[]
  /** Longest time without a block in milliseconds; 0: unlimited. Default: three block times. */
  staleMs?: number | undefined
  clock?: Pick<Clock, 'now' | 'elapsed'>
}

export const PACE_BLOCKS = 64
const FEWEST = 4
const FLOOR_MS = 10_000
const UNKNOWN_PACE_MS = 120_000
const BLOCK_TIMES = 3
/** Of ten blocks, one may take longer than the chain's pace. */
const PACE_QUANTILE = 0.9

export type ChainPace = ReturnType<typeof createChainPace>

export const createChainPace = ({ stored, staleMs, clock = systemClock }: ChainPaceOptions) => {
  let blocks: TimedBlock[] = stored.slice(-PACE_BLOCKS)
  const startedAt = clock.elapsed()
  let came: { at: number; elapsed: number } | undefined

  const blockTime = (): number | null => {
    const steps = blocks
      .slice(1)
      .map(({ number, time }, i) => (time - blocks[i]!.time) / (number - blocks[i]!.number))
      .filter(step => step >= 0)
      .sort((a, b) => a - b)
    if (steps.length < FEWEST) return null
    // Times are whole seconds: if several blocks share one, only the mean reveals their pace.
    const mean = (blocks.at(-1)!.time - blocks[0]!.time) / (blocks.at(-1)!.number - blocks[0]!.number)
    return mean > 0 && mean < 1 ? mean : steps[Math.ceil(steps.length * PACE_QUANTILE) - 1]!
  }

  const patience = (isBehind: boolean): number => {
    // Blocks that nodes already have are overdue at any pace.
    if (staleMs !== undefined && !(staleMs === 0 && isBehind)) return staleMs === 0 ? Number.POSITIVE_INFINITY : staleMs
    const pace = blockTime()
    return pace === null ? UNKNOWN_PACE_MS : Math.max(FLOOR_MS, BLOCK_TIMES * pace * 1_000)
  }

  return {
    came(block: TimedBlock) {
      this.lost(block.number - 1)
      blocks.push(block)
      if (blocks.length > PACE_BLOCKS) blocks.shift()
      came = { at: clock.now(), elapsed: clock.elapsed() }
    },
    lost(to: number) {
      blocks = blocks.filter(({ number }) => number <= to)
    },
    newest(): (TimedBlock & { at: number }) | null {
      const last = blocks.at(-1)
      return last && came ? { ...last, at: came.at } : null
    },
    /** Seconds within which nine of ten blocks follow; null if too few are known. */
    blockTime,
    /** Reason to report if no block came for too long; `head`: of the followed nodes. */
    stale(head?: number | null): WaitReason | undefined {
      const quietMs = clock.elapsed() - (came?.elapsed ?? startedAt)
      const last = blocks.at(-1)
      const isBehind = typeof head === 'number' && head > (last?.number ?? -1)
      if (quietMs <= patience(isBehind)) return undefined
      const pace = blockTime()
      const usual = pace === null ? '' : `; the chain makes one every ${Math.max(1, Math.round(pace))} s`
      return {
        kind: 'block',
        for: `${isBehind ? `a new block in a usable form: nodes are at ${head}` : 'a new block'} (${last ? `the last one was ${last.number}` : 'none has come yet'}${usual})`,
        since: new Date(clock.now() - quietMs).toISOString(),
      }
    },
  }
}

const SOON_MS = 2_000
/** Why no node answers; undefined if one does. `forMs`: milliseconds since the start. */
export const silence = (
  endpoints: readonly EndpointStatus[],
  { answered, forMs, now }: { answered: boolean; forMs: number; now: number },
): WaitReason | undefined => {
  const nodes = endpoints.filter(({ heads }) => !heads)
  if (nodes.length === 0) return undefined
  const failing = nodes.filter(({ failingSince }) => failingSince !== undefined)
  if (failing.length < nodes.length) {
    if (answered || forMs < SOON_MS) return undefined
    return { kind: 'node', for: 'the first answer of a node', since: new Date(now - forMs).toISOString() }
  }
  const since = failing
    .map(it => it.failingSince!)
    .sort()
    .at(-1)!
  if (now - Date.parse(since) < SOON_MS) return undefined
  if (failing.every(({ otherChain }) => otherChain !== undefined)) {
    const why = failing.map(({ url, lastError }) => `${url} ${lastError}`).join('; ')
    return { kind: 'chain', for: `a node of its chain (${why})`, since }
  }
  const why = failing.map(({ url, lastError }) => `${url}: ${lastError}`).join('; ')
  return { kind: 'node', for: `a node that answers (${why})`, since }
}

export const createSince = (now: () => number = Date.now) => {
  let last: WaitReason | undefined
  return (why: Omit<WaitReason, 'since'> | undefined): WaitReason | undefined => {
    if (!why) last = undefined
    else if (last?.for !== why.for) last = { ...why, since: new Date(now()).toISOString() }
    return last
  }
}
