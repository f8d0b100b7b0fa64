import { addAbortListener } from 'node:events'
import type { RangePart, TakenBlocks } from '../../chain/blocks/fetch-range.ts'
import { type Question, readBodyOf } from '../../chain/blocks/read-blocks.ts'
import type { RangeOptions } from '../../chain/source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import { ChainsieveError } from '../../lib/errors.ts'
import { countIntegers, gapsIn, mergeRanges, type Range } from '../../lib/ranges.ts'
import { systemClock } from '../../lib/retry.ts'
import type { Builders, ReadAnswer } from '../decoding/builders/pool.ts'
import type { BuiltPiece } from '../decoding/builders/thread.ts'
import { makeRoom, startBuilders } from '../decoding/open-decoding.ts'
import { prefetch, prefetchFor, type Work } from '../job-context.ts'
import { type BlockLane, UNLINKED } from '../lane.ts'
import type { BackfillOrder } from '../messages.ts'
import { extentOf, hasBlock, isMissing, missingBlockOf, type Unavailable } from './missing.ts'

/** Blocks of a back-fill in memory; a larger heap spends most time in garbage collection. */
const RUN_BLOCKS = 50

const MIN_SHARED_BLOCKS = 30

/**
 * Back-fill: fetches missing blocks of a range. Returns those that no node has, and gaps that do
 * not link. It has no checkpoint: after a crash or restart, the stored segments say what is left.
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
  const left = () => gapsIn(mergeRanges([...pipeline.held(), ...missing]), from, to)
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
      const at = missingBlockOf(error) ?? (isNewest ? gaps.at(-1)?.to : gaps[0]?.from)
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
  return missing.length === 0 ? undefined : { ranges: mergeRanges(missing), why }
}

const fillGaps = async (work: Work, gaps: readonly Range[], order: BackfillOrder) => {
  const { source, pipeline, storeBatch, sharing, state, signal } = work
  const missing = countIntegers(gaps)
  state.total += missing
  const lane = pipeline.lane('fill')
  const builders = source!.parts && missing >= (sharing.blocks ?? MIN_SHARED_BLOCKS) ? startBuilders(work) : undefined
  state.isShared = builders !== undefined
  try {
    for (const gap of gaps) {
      const range = { ...gap, order, run: Math.min(storeBatch, RUN_BLOCKS), signal }
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

const takeBlocks = async ({ state, signal }: Work, lane: BlockLane, blocks: readonly RawBlock[]) => {
  for (const block of blocks) {
    signal.throwIfAborted()
    await lane.add(block)
    state.done++
  }
}

const takeBuilt = async (work: Work, lane: BlockLane, builders: Builders, range: RangeOptions) => {
  const { source, dictionaries, signal } = work
  const taker = createRunTaker(work, builders)
  let begun: BegunPart[] = []
  const finish = async () => {
    for (const part of begun.splice(0)) await takePart(work, lane, part)
    await lane.flush()
  }
  using _ = addAbortListener(signal, () => void builders.close())
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
    // Stores the good blocks before a fault.
    await finish()
    throw error
  }
}

/** Takes special blocks one by one, which reveals their faults. */
const takePart = async (work: Work, lane: BlockLane, part: BegunPart) => {
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

const MOST_PASSING = 20
const PASSING_MS = 1_000

interface BegunPart {
  built(): Promise<BuiltPiece | undefined>
  blocks(): Promise<RawBlock[]>
  drop(): void
}

interface AnswerTaken extends TakenBlocks, ReadAnswer {
  blocks: ReadAnswer['blocks']
  question: Question
}

const createRunTaker = (work: Work, builders: Builders) => {
  const { job, decoding, ruleWatcher, tokens, limits } = work
  const check = { bloom: !('node' in job) || job.node.bloom !== false, limits }

  /** Only ABIs of single contracts make decoding depend on earlier blocks. */
  const isPlain = (): boolean => decoding().keys.size === 0

  const decimalsOf = (addresses: readonly string[]): ReadonlyMap<string, number> =>
    new Map(
      addresses.flatMap((address): [string, number][] => {
        const decimals = tokens.of(address)
        return decimals === undefined ? [] : [[address, decimals]]
      }),
    )

  const beginTaken = (taken: AnswerTaken): BegunPart => {
    const { version } = decoding()
    const isOfUse = isPlain() && taken.abis === version
    const building = isOfUse ? taken.build(decimalsOf(taken.decimals)) : Promise.resolve(undefined)
    building.catch(() => {})
    return {
      async built() {
        const piece = await building
        const isSame = isPlain() && taken.abis === decoding().version
        return piece && isSame ? { piece, blocks: taken.blocks } : undefined
      },
      async blocks() {
        const blocks = readBodyOf(await taken.giveBack(), taken.question, check)
        await prefetch(work, blocks)
        return blocks
      },
      drop: taken.drop,
    }
  }

  return {
    threads: builders.threads,
    wants: (numbers: readonly number[]) => isPlain() && !numbers.some(ruleWatcher.wants),
    async take(body: Uint8Array, question: Question): Promise<AnswerTaken | Uint8Array> {
      const read = await builders.read(body, question)
      return read instanceof Uint8Array ? read : { ...read, question }
    },
    /** Whether a run may begin before the previous one is taken, which it cannot change. */
    mayGoAhead: (parts: readonly RangePart<AnswerTaken>[]) => isPlain() && parts.every(part => 'taken' in part),
    /** Builds a run after prefetching the same facts as for single blocks. */
    async begin(parts: readonly RangePart<AnswerTaken>[]): Promise<BegunPart[]> {
      const blocks = parts.flatMap(part => ('taken' in part ? [] : part.blocks))
      const facts = parts.flatMap(part => ('taken' in part ? part.taken.blocks : []))
      if (blocks.length > 0) await prefetch(work, blocks)
      await prefetchFor(work, facts)
      return parts.map(part =>
        'taken' in part
          ? beginTaken(part.taken)
          : { built: async () => undefined, blocks: async () => part.blocks, drop() {} },
      )
    },
  }
}
