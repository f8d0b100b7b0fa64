import { kindOfIndex } from '../../cluster/indices.ts'
import type { WantedIndex } from '../../cluster/lost.ts'
import type { ClusterOptions } from '../../cluster/options.ts'
import { isStill } from '../../cluster/settled.ts'
import type { ShipRequests } from '../../cluster/ship/requests.ts'
import type { Expected } from '../../engine/expected.ts'
import type { KnownIndicesWriter } from '../../engine/known-indices.ts'
import type { Shelf } from '../../engine/shelf.ts'
import type { ShelfWriter } from '../../engine/shelf-writer.ts'
import type { Log } from '../../lib/log.ts'
import { gapsIn, merged, partsIn, type Range } from '../../lib/ranges.ts'
import { createComparing } from './comparing.ts'
import type { Telling } from './telling.ts'
import type { Tenure } from './tenure.ts'

/**
 * An index was restored from a snapshot, or made anew, in the place of one that documents were shipped to. It counts once it holds what that one held: what it
 * lacks is shipped again, as far as the store has it, and what it has too much is removed. Until then searches that need it fail.
 */
export interface Restoring {
  /** Compares it, and takes it for the right one if it is. */
  compare(restored: Required<WantedIndex>): Promise<void>
}

export interface RestoringOptions {
  network: string
  naming: ClusterOptions
  visible(): Shelf
  expected: Expected
  requests: Pick<ShipRequests, 'counts' | 'remove' | 'refresh'>
  shelf: Pick<ShelfWriter, 'lose' | 'batches'>
  known: Pick<KnownIndicesWriter, 'accept'>
  /** Until all that was sent is noted. */
  settled(): Promise<void>
  tenure: Pick<Tenure, 'persist' | 'note'>
  telling: Pick<Telling, 'changed' | 'tell'>
  log: Log
}

export const createRestoring = (options: RestoringOptions): Restoring => {
  const { network, naming, visible, expected, requests, shelf, known, settled, telling, log } = options
  const { persist, note } = options.tenure
  const compare = createComparing({ expected, requests })
  /** Those that lack what no store has, by name: they are compared once. */
  const lacking = new Map<string, string>()

  /** What is wrong there is no longer counted on, as far as the store can mend it. Undefined where the chain left blocks meanwhile. */
  const giveUp = (wrong: readonly Range[], before: Shelf) => {
    if (!isStill(before, visible())) return undefined
    const counted = wrong.flatMap(({ from, to }) => partsIn(before.ranges, from, to))
    const emptied = counted.flatMap(expected.emptied)
    const lost = merged(emptied)
    const mended = wrong.flatMap(({ from, to }) => gapsIn(lost, from, to))
    shelf.lose(mended)
    return { lost, mended, batch: shelf.batches() }
  }

  const accept = async (index: string, instead: string) => {
    await note(() => known.accept(index, instead))
    telling.changed()
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
    async compare({ index, blocks, instead }) {
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
      // Who searches there must not count on what is removed.
      if (mended.length > 0) await telling.tell()
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
