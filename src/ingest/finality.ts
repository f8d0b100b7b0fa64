import type { FinalityMarks } from '../alerts/marks.ts'
import type { BlockRef, ChainSource, FinalityBlocks } from '../chain/source.ts'
import { ChainsieveError } from '../lib/errors.ts'
import { type Clock, systemClock } from '../lib/retry.ts'
import type { Confirmations, FinalityTag } from '../rules/rule.ts'
import { FINALITY_TAGS } from '../rules/rule.ts'
import type { Work } from './job-context.ts'
import type { IndexJob } from './messages.ts'

/** Null: nodes report no such block, and `depth` stands in for it. */
export interface FinalityReport extends Readonly<Record<FinalityTag, number | null>> {
  depth: number
}

export type Finality = ReturnType<typeof createFinality>

interface FinalityOptions {
  source: Pick<ChainSource, 'finality'> | undefined
  stored(number: number): BlockRef | undefined
  tell(marks: FinalityMarks): Promise<void>
  depth: number
  clock?: Clock
}

const DEFAULT_DEPTH = 64
/** Looks without tags before a node counts as having none; one that just started lacks them. */
const BELIEVED = 3
const TAGS_AGAIN_MS = 250

export const depthOf = (job: IndexJob): number => ('finality' in job ? job.finality : DEFAULT_DEPTH)

/** Tracks the safe and finalized blocks of nodes, on which confirmations of alerts depend. */
export const createFinality = ({ source, stored, tell, depth, clock = systemClock }: FinalityOptions) => {
  const newest: FinalityBlocks = { safe: null, finalized: null }
  const missed: Record<FinalityTag, number> = { safe: 0, finalized: 0 }
  let told = ''
  let verified: number | undefined

  const isStored = (ref: BlockRef) => stored(ref.number)?.hash === ref.hash
  const isKnown = () => FINALITY_TAGS.every(tag => newest[tag] !== null || missed[tag] >= BELIEVED)

  /** A lagging node does not lower a mark; a mark of an abandoned branch is replaced. */
  const note = (tag: FinalityTag, found: BlockRef | null) => {
    const before = newest[tag]
    if (found === null) missed[tag]++
    else if (before === null || found.number >= before.number || !isStored(before)) newest[tag] = found
  }

  /** Highest finalized block that equals the stored one. */
  const finalized = (): number | undefined => {
    const mark = newest.finalized
    if (verified !== undefined && stored(verified) === undefined) verified = undefined
    if (mark !== null && mark.number > (verified ?? -1) && isStored(mark)) verified = mark.number
    return verified
  }

  const look = async (signal: AbortSignal) => {
    const found = source?.finality ? await source.finality(signal) : undefined
    // Runs before another block replaces the reported one.
    finalized()
    for (const tag of FINALITY_TAGS) {
      if (found) note(tag, found[tag])
      else missed[tag] = BELIEVED
    }
    if (!isKnown()) return
    const marks = { ...newest, depth }
    if (JSON.stringify(marks) === told) return
    told = JSON.stringify(marks)
    finalized()
    await tell(marks)
  }

  return {
    look,
    isKnown,
    async known(signal: AbortSignal) {
      while (!isKnown()) {
        await look(signal)
        if (!isKnown()) await clock.sleep(TAGS_AGAIN_MS, signal)
      }
      return newest.finalized?.number ?? null
    },
    finalized,
    report: () =>
      isKnown() ? { safe: newest.safe?.number ?? null, finalized: newest.finalized?.number ?? null, depth } : null,
  }
}

/** Interval while finality only serves to reveal impossible reorganisations. */
const IDLE_FINALITY_MS = 60_000
const [SHORTEST_MS, LONGEST_MS] = [500, 12_000]

export const watchFinality = async (work: Work) => {
  const { finality, pace, ruleWatcher, job, signal } = work
  const isNeeded = () => ruleWatcher.waitsForMarks || ('toFinalized' in job && job.toFinalized === true)
  const pollMs = 'node' in job ? job.node.pollMs : undefined
  const intervalMs = () => {
    if (!finality.isKnown()) return TAGS_AGAIN_MS
    const half = ((pace.blockTime() ?? LONGEST_MS / 500) * 1_000) / 2
    return pollMs ?? Math.min(Math.max(half, SHORTEST_MS), LONGEST_MS)
  }
  let askedAt = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    try {
      if (isNeeded() || !finality.isKnown() || performance.now() - askedAt >= IDLE_FINALITY_MS) {
        askedAt = performance.now()
        await finality.look(signal)
      }
      await systemClock.sleep(intervalMs(), signal)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
      await systemClock.sleep(LONGEST_MS / 4, signal).catch(() => {})
    }
  }
}

export const finalityTrouble = (confirmations: Confirmations, report: FinalityReport | null): string | undefined => {
  if (typeof confirmations === 'number' || report === null || report[confirmations] !== null) return undefined
  return (
    `The nodes of this network do not report which blocks are ${confirmations}: ` +
    `alerts of the rule wait for ${report.depth} blocks instead (--finality).`
  )
}
