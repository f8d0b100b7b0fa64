import { BLOCK_MISSING } from '../../chain/rpc/answers.ts'
import type { ChainSource } from '../../chain/source.ts'
import { ChainsieveError, stop } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { mergeRanges, type Range } from '../../lib/ranges.ts'
import { systemClock } from '../../lib/retry.ts'
import type { Work } from '../job-context.ts'

export interface MissingBlocks {
  /** Ascending; the newest ones where there are very many. */
  ranges: Range[]
  why: string
  /** ISO-8601 UTC, and so is `nextAt`. */
  since: string
  /** When nodes are asked for them again; null where they are not. */
  nextAt: string | null
  remedy: string
}

export interface Unavailable {
  ranges: Range[]
  why: string
}

export const isMissing = (error: unknown): error is ChainsieveError =>
  error instanceof ChainsieveError && error.code === BLOCK_MISSING

export const missingBlockOf = ({ details }: ChainsieveError): number | undefined => details?.block as number | undefined

export const hasBlock = async (source: ChainSource, number: number, signal: AbortSignal): Promise<boolean> => {
  try {
    for await (const _ of source.range({ from: number, to: number, order: 'oldest', run: 1, signal }));
    return true
  } catch (error) {
    if (!isMissing(error)) throw error
    return false
  }
}

/** The missing blocks around one, by doubling and halving: some 50 questions for millions. */
export const extentOf = async (
  has: (number: number) => Promise<boolean>,
  at: number,
  { from, to }: Range,
): Promise<Range> => {
  const edge = async (end: number): Promise<number> => {
    const sign = Math.sign(end - at)
    let missing = at
    for (let step = 1; missing !== end; step *= 2) {
      let there = sign < 0 ? Math.max(end, missing - step) : Math.min(end, missing + step)
      if (!(await has(there))) {
        missing = there
        continue
      }
      while (Math.abs(there - missing) > 1) {
        const middle = Math.floor((there + missing) / 2)
        if (await has(middle)) there = middle
        else missing = middle
      }
      return missing
    }
    return missing
  }
  return { from: await edge(from), to: await edge(to) }
}

/** Fills until nothing is missing, at least every five minutes: another node may have it. */
export const fillUntilWhole = async (
  work: Pick<Work, 'state' | 'log' | 'signal'>,
  fill: (before: Unavailable | undefined) => Promise<Unavailable | undefined>,
) => {
  const { state, log, signal } = work
  let known: Unavailable | undefined
  state.filled = false
  for (let tries = 1; ; tries++) {
    const before = state.done
    const lacking = await fill(known)
    state.filled = true
    const since = state.missing?.since ?? new Date().toISOString()
    if (lacking === undefined) {
      if (state.missing) log.info('The nodes have the blocks that were missing', { since })
      state.missing = null
      return
    }
    if (state.done > before) tries = 1
    const waitMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1))
    const told = state.missing
    state.missing = {
      ...{ ranges: lacking.ranges.slice(-MAX_MISSING_RANGES), why: lacking.why, since },
      nextAt: new Date(Date.now() + waitMs).toISOString(),
      remedy: missingRemedy(lacking.ranges),
    }
    if (!told || JSON.stringify(told.ranges) !== JSON.stringify(state.missing.ranges)) warn(log, state.missing)
    known = lacking
    await systemClock.sleep(waitMs, signal)
  }
}

const warn = (log: Log, { ranges, why, remedy }: MissingBlocks) =>
  log.warn('No node has some of the blocks, goes on without them', { blocks: missingRangesText(ranges), why, remedy })

export const cannotFill = ({ ranges, why }: Unavailable): ChainsieveError =>
  stop(
    'blocks_missing',
    `no node has ${missingRangesText(ranges)} (${why}); all others are stored: ${missingRemedy(ranges)}`,
  )

export const joinUnavailable = (all: readonly (Unavailable | undefined)[]): Unavailable | undefined => {
  const some = all.filter(it => it !== undefined)
  return some[0] && { ranges: mergeRanges(some.flatMap(({ ranges }) => ranges)), why: some[0].why }
}

const missingRangesText = (ranges: readonly Range[]): string => {
  const shown = ranges.slice(-MAX_SHOWN_RANGES).map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`))
  return `${ranges.length === 1 && ranges[0]!.from === ranges[0]!.to ? 'block' : 'blocks'} ${shown.join(', ')}${ranges.length > MAX_SHOWN_RANGES ? ' and others' : ''}`
}

const missingRemedy = (ranges: readonly Range[]): string =>
  `begin later (--from ${ranges.at(-1)!.to + 1}), or add a node that has them (--rpc)`

const FIRST_WAIT_MS = 10_000
const MAX_WAIT_MS = 300_000
const MAX_MISSING_RANGES = 20
const MAX_SHOWN_RANGES = 3
