import type { BlockRef, ChainSource } from '../../chain/source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import { positionOf } from '../../engine/schema.ts'
import { stop } from '../../lib/errors.ts'
import type { Work } from '../job-context.ts'
import type { Job } from '../messages.ts'
import { isMissing } from './missing.ts'

/** Time before a job is tried again. */
export const AGAIN_MS = 5_000

/** How deep reorganisations are followed. */
export type Depth = Pick<Extract<Job, { type: 'follow' }>, 'finality' | 'toFinalized'>

/** Removes what is stored above a block, since the chain has left it. */
export const rollBack = async ({ pipeline, pace, tokens, links, log }: Work, to: number) => {
  await pipeline.rollback(to)
  pace.lost(to)
  for (const known of [tokens, links]) known.forget(positionOf(to + 1, 0))
  log.info('Followed a reorganisation', { keptUpTo: to })
}

/** The highest block, at or below this one, that no reorganisation is expected to remove. */
export const settledBelow = async ({ finality, signal, log }: Work, depth: Depth, top: number): Promise<number> => {
  const byDepth = top - depth.finality
  if (depth.toFinalized !== true) return byDepth
  const final = await finality.known(signal)
  if (final !== null) return Math.min(final, top)
  log.warn('No node tells finalized blocks: follows reorganisations up to a depth instead', { blocks: depth.finality })
  return byDepth
}

/** After a long pause the stored tip may lie on a branch that the chain has left: it is rolled back to where they part. */
export const leaveOldBlocks = async (work: Work, tip: number, depth: Depth) => {
  const deepest = Math.min(tip - depth.finality, (await settledBelow(work, depth, tip)) - 1)
  await leaveOldBranch(
    work,
    { tip, stored: work.pipeline.stored, deepest: Math.max(-1, deepest) },
    depth,
    'stored blocks',
  )
}

/** The same of headers that were looked at for scopes. */
export const leaveOldHeaders = async (work: Work, depth: Depth) => {
  const { newest, looked } = work.lookups.coverage
  const tip = newest()?.number
  if (tip !== undefined)
    await leaveOldBranch(work, { tip, stored: looked, deepest: tip - depth.finality }, depth, 'blocks')
}

interface Branch {
  tip: number
  stored(number: number): BlockRef | undefined
  /** Down to above this block, the two branches have to part. */
  deepest: number
}

const leaveOldBranch = async (work: Work, { tip, stored, deepest }: Branch, { finality }: Depth, what: string) => {
  for (let number = tip; number > deepest; number--) {
    const ours = stored(number)
    if (ours) {
      const block = await readBlock(work.source!, number, work.signal)
      // No node can say whether it left the chain.
      if (block === undefined) return
      if (block.block.hash !== ours.hash) continue
      if (number === tip) return
    }
    // Below what is held without a gap there is nothing left to differ.
    return rollBack(work, number)
  }
  throw stop(
    'reorg_too_deep',
    `more than ${finality} ${what} up to ${tip} are no longer in the chain: is this the same chain? Index it into another data folder, or raise finality`,
  )
}

/** Undefined where no node has it. */
export const readBlock = async (
  source: ChainSource,
  number: number,
  signal: AbortSignal,
): Promise<RawBlock | undefined> => {
  try {
    const range = source.range({ from: number, to: number, order: 'oldest', run: 1, urgent: true, signal })
    for await (const [block] of range) return block
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return undefined
}
