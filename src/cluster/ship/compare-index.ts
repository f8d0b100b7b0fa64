import { createOffloadedCounts, type OffloadedCounts } from '../../engine/shipping/document-counts.ts'
import type { Visible } from '../../engine/shipping/shipped-ranges.ts'
import { gapsIn, holds, mergeRanges, partsIn, type Range } from '../../lib/ranges.ts'
import type { Kind } from '../../mapping/index.ts'
import { kindOfIndex } from '../indices/indices.ts'
import type { WantedIndex } from '../indices/lost-indices.ts'
import { isStill } from '../visibility.ts'
import type { ShipContext } from './context.ts'

/**
 * Handles an index that was restored from a snapshot, or recreated, in place of a shipped one. It
 * counts once it has the documents of that one: missing documents are shipped again as far as the
 * store has them, surplus ones are removed. Until then, searches that need it fail.
 */
export type IndexComparison = ReturnType<typeof createIndexComparison>

/** `settled` resolves when all sent batches are noted. */
export const createIndexComparison = (ship: ShipContext, settled: () => Promise<void>) => {
  const { network, naming, visible, requests, shelf, known, publishing, log } = ship
  const { persist, note } = ship.session
  const expected = createOffloadedCounts(ship.db)
  const compare = createComparing(expected, requests)
  /** Identities, by name, of indices that lack documents no store has: they are compared once. */
  const lacking = new Map<string, string>()

  /** Marks wrong blocks for shipping again if the store has them; undefined after a rollback. */
  const giveUp = (wrong: readonly Range[], before: Visible) => {
    if (!isStill(before, visible())) return undefined
    const counted = wrong.flatMap(({ from, to }) => partsIn(before.ranges, from, to))
    const emptied = counted.flatMap(expected.emptied)
    const lost = mergeRanges(emptied)
    const mended = wrong.flatMap(({ from, to }) => gapsIn(lost, from, to))
    shelf.lose(mended)
    return { lost, mended, batch: shelf.batches() }
  }

  const accept = async (index: string, instead: string) => {
    await note(() => known.accept(index, instead))
    publishing.changed()
  }

  const renewTokens = async (index: string, instead: string) => {
    const batch = await note(() => {
      shelf.lose(undefined)
      return shelf.batches()
    })
    await persist(() => requests.remove({ batches: { from: 0, to: batch }, above: -1 }, index))
    await accept(index, instead)
    log.warn('Ships tokens again, since their index of the cluster was restored', { index })
  }

  return {
    /** Compares an index, and accepts it if it is right. */
    async compare({ index, blocks, instead }: Required<WantedIndex>) {
      if (lacking.get(index) === instead) return
      await settled()
      const kind = kindOfIndex(naming, network, index)
      if (kind === 'token') return renewTokens(index, instead)
      await persist(() => requests.refresh([index]))
      const before = visible()
      const wrong = await persist(() => compare(index, kind, blocks, before))
      const given = await note(() => giveUp(wrong, before))
      if (!given) return
      const { lost, mended, batch } = given
      // Searching processes must not count on documents that are removed.
      if (mended.length > 0) await publishing.publish()
      for (const { from, to } of mended)
        await persist(() => requests.remove({ batches: { from: 0, to: batch }, above: from - 1, below: to }, index))
      if (lost.length === 0) {
        await accept(index, instead)
        log.warn('Counts on an index of the cluster that was restored', { index, shipsAgain: mended })
        return
      }
      lacking.set(index, instead)
      log.warn('An index of the cluster was restored, and lacks documents that the store no longer has', {
        index,
        blocks: lost,
      })
    },
  }
}

/** Most blocks to read from the store at once. */
const BLOCKS_PER_READ = 4096

/**
 * Compares an index with the store: count and branch of the documents of each block. Returns the
 * blocks that differ. Invalid if the chain left blocks in between.
 */
const createComparing =
  (expected: OffloadedCounts, requests: ShipContext['requests']) =>
  async (
    index: string,
    kind: Exclude<Kind, 'token'>,
    blocks: readonly Range[],
    { hidden }: Visible,
  ): Promise<Range[]> => {
    const wrong: Range[] = []
    const differs = (block: number, to = block) => void wrong.push({ from: block, to })
    const due = kind === 'event' ? undefined : dueOf(expected, kind, blocks)
    let next = due?.next().value
    const runs = kind === 'event' ? blocks.flatMap(expected.events) : []
    const found = runs.map(() => 0)
    let run = 0

    for await (const page of requests.counts(index, kind, hidden))
      for (const { block, hash, count } of page) {
        for (; next && next.block < block; next = due!.next().value) differs(next.block)
        const isRight = hash !== undefined && hash === (next?.block === block ? next.hash : expected.hash(block))
        if (!holds(blocks, block) || !isRight) differs(block)
        else if (due) {
          if (next?.block !== block || next.count !== count) differs(block)
          if (next?.block === block) next = due.next().value
        } else {
          while (run < runs.length && runs[run]!.to < block) run++
          if (runs[run] && runs[run]!.from <= block) found[run]! += count
        }
      }
    for (; next; next = due!.next().value) differs(next.block)
    for (const [i, { from, to, count }] of runs.entries()) if (found[i]! < count) differs(from, to)
    return mergeRanges(wrong.toSorted((a, b) => a.from - b.from))
  }

function* dueOf(expected: OffloadedCounts, kind: Exclude<Kind, 'token' | 'event'>, blocks: readonly Range[]) {
  for (const { from, to } of blocks)
    for (let at = from; at <= to; at += BLOCKS_PER_READ)
      yield* expected.counts(kind, { from: at, to: Math.min(to, at + BLOCKS_PER_READ - 1) })
}
