import type { RangeOptions } from '../../chain/source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import { ChainsieveError } from '../../lib/errors.ts'
import { gapsIn, merged, type Range } from '../../lib/ranges.ts'
import { systemClock } from '../../lib/retry.ts'
import type { Builders } from '../builders/pool.ts'
import type { BackfillOrder } from '../messages.ts'
import { extentOf, hasBlock, isMissing, missingOf, type Unavailable } from '../missing.ts'
import { UNLINKED } from '../neighbours.ts'
import type { Lane } from '../pipeline.ts'
import { prefetch } from '../prefetch.ts'
import { type BegunPart, createRunTaker } from '../runs.ts'
import { makeRoom, startBuilders } from '../sharing.ts'
import type { Work } from '../work.ts'

/**
 * Blocks of a back-fill that are held in memory at a time: a node's answers are several times larger as objects, and cleaning up beside a
 * large heap takes more time than all the rest.
 */
const RUN = 50

/** Blocks from which on threads are worth the time that they take to start. */
const WORTH_THREADS = 30

/**
 * Fetches what is not stored of a range, and takes it in. What no node has is left out, and given back, and so are the blocks of a gap that does
 * not link to what is stored: a node may be wrong. What of `before` still is not there is not asked for block by block again.
 */
export const fill = async (
  work: Work,
  from: number,
  to: number,
  order: BackfillOrder,
  before?: Unavailable,
): Promise<Unavailable | undefined> => {
  const { source, pipeline, state, log, signal } = work
  const has = (number: number) => hasBlock(source!, number, signal)
  const missing: Range[] = []
  let why = before?.why ?? ''
  for (const range of before?.ranges ?? []) if (!(await has(range.to)) && !(await has(range.from))) missing.push(range)
  const left = () => gapsIn(merged([...pipeline.held(), ...missing]), from, to)
  const isNewest = order === 'newest'
  for (let gaps = left(), seen = 0; gaps.length > 0; ) {
    try {
      await fillGaps(work, isNewest ? gaps.toReversed() : gaps, order)
      break
    } catch (error) {
      const isUnlinked = error instanceof ChainsieveError && error.next === 'stop' && error.code === UNLINKED
      if (!isMissing(error) && !isUnlinked) throw error
      state.total = state.done
      gaps = left()
      const at = missingOf(error) ?? (isNewest ? gaps.at(-1)?.to : gaps[0]?.from)
      const gap = gaps.find(it => at !== undefined && it.from <= at && at <= it.to)
      if (isUnlinked && gap) {
        log.warn('Received blocks that do not link to the stored ones, asks again later', {
          ...gap,
          error: error.message,
        })
        missing.push(gap)
        why = error.message
        gaps = left()
        continue
      }
      // It is there now: a node was not as far, or another one came.
      if (gap === undefined || (await has(at!))) {
        if (++seen > MOST_PASSING) throw error
        await systemClock.sleep(PASSING_MS, signal)
        continue
      }
      const extent = await extentOf(has, at!, gap)
      log.debug('No node has some blocks', { ...extent, error: error.message })
      missing.push(extent)
      why = error.message
      gaps = left()
    }
  }
  return missing.length === 0 ? undefined : { ranges: merged(missing), why }
}

/** Fetches gaps in their order. */
const fillGaps = async (work: Work, gaps: readonly Range[], order: BackfillOrder) => {
  const { source, pipeline, storeBatch, sharing, state, signal } = work
  const missing = gaps.reduce((sum, gap) => sum + gap.to - gap.from + 1, 0)
  state.total += missing
  const lane = pipeline.lane('fill')
  const builders = source!.parts && missing >= (sharing.blocks ?? WORTH_THREADS) ? startBuilders(work) : undefined
  state.isShared = builders !== undefined
  try {
    for (const gap of gaps) {
      const range = { ...gap, order, run: Math.min(storeBatch, RUN), signal }
      if (builders) await takeBuilt(work, lane, builders, range)
      else
        for await (const blocks of source!.range(range)) {
          await prefetch(work, blocks)
          await takeBlocks(work, lane, blocks)
          await lane.flush()
        }
    }
  } finally {
    await builders?.close()
    await lane.flush()
    state.isShared = false
  }
}

const takeBlocks = async ({ state, signal }: Work, lane: Lane, blocks: readonly RawBlock[]) => {
  for (const block of blocks) {
    signal.throwIfAborted()
    await lane.add(block)
    state.done++
  }
}

/** One run is built by other threads while the next one is read, and what is to be asked for it is asked. */
const takeBuilt = async (work: Work, lane: Lane, builders: Builders, range: RangeOptions) => {
  const { source, dictionaries, signal } = work
  const taker = createRunTaker(work, builders)
  let begun: BegunPart[] = []
  const finish = async () => {
    for (const part of begun.splice(0)) await takePart(work, lane, part)
    await lane.flush()
  }
  // What is not built by then is not waited for.
  const stop = () => void builders.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const parts of source!.parts!(range, taker)) {
      if (dictionaries?.isFilling() || !taker.mayGoAhead(parts)) await finish()
      if (dictionaries?.isFilling()) await makeRoom(work, builders)
      const next = await taker.begin(parts)
      await finish()
      begun = next
    }
    await finish()
  } catch (error) {
    signal.throwIfAborted()
    // The good blocks before a fault are kept.
    await finish()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Blocks about which anything is special are taken one by one, which tells what is wrong with them. */
const takePart = async (work: Work, lane: Lane, part: BegunPart) => {
  const { state, signal } = work
  signal.throwIfAborted()
  const piece = await part.built()
  if (piece && (await lane.addBuilt(piece))) {
    state.done += piece.blocks.length
    part.drop()
    return
  }
  const blocks = await part.blocks()
  await takeBlocks(work, lane, blocks)
}

/** Times that a block which was missing is there a moment later, before the back-fill is begun anew. */
const MOST_PASSING = 20
const PASSING_MS = 1_000
