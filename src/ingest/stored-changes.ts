import { type Narrowed, NO_NOTES } from '../engine/coverage.ts'
import type { Additions } from '../engine/documents/additions.ts'
import { type SegmentBatch, transferables } from '../engine/documents/batch.ts'
import { gapsIn, type Range } from '../lib/ranges.ts'
import { aborted } from '../lib/shutdown.ts'
import type { LaneContext } from './lane.ts'
import type { Revised, WriterChange } from './messages.ts'
import type { PatchLine } from './remote.ts'
import { type Cut, cutStored } from './scoped/partial-blocks.ts'
import type { WriterLink } from './writer/writer-link.ts'

export type StoredChange =
  | Extract<WriterChange, { type: 'revise' | 'verified' | 'forget' }>
  /** See `Change`; `build` is called when the dictionaries may be asked. */
  | { type: 'restore'; segment: number; build(): SegmentBatch }
  | { type: 'cut'; range: Range; keep: Cut; narrowed?: Narrowed }
  /** Has remote documents be others. Done where none of their blocks has left the chain. */
  | { type: 'patch'; lines: readonly PatchLine[] }

/** A job as its changes. Each `yield` gives the outcome or throws; null lets the head go first. */
export type JobChanges<R = void> = AsyncGenerator<StoredChange | null, R, Revised>

export const applyJobChanges = async (
  changes: JobChanges,
  apply: (change: StoredChange) => Promise<Revised>,
  yieldToHead: () => Promise<void> = async () => {},
): Promise<void> => {
  for (let next = await changes.next(NOTHING_DONE); !next.done; ) {
    let outcome = NOTHING_DONE
    try {
      if (next.value) outcome = await apply(next.value)
      else await yieldToHead()
    } catch (error) {
      next = await changes.throw(error)
      continue
    }
    next = await changes.next(outcome)
  }
}

const NOTHING_DONE: Revised = { done: false, took: 0 }

interface ApplierContext extends Pick<LaneContext, 'preparer' | 'blocks' | 'signal' | 'neighbours' | 'joining'> {
  link: WriterLink
  track: LaneContext['track']
  replace: LaneContext['replace']
}

export const createApplier = (context: ApplierContext) => {
  const { preparer, blocks, signal, neighbours, joining, link, track, replace } = context
  /** Of batches that were restored since the writer last wrote something: it keeps what is new in the dictionaries until then. */
  const restored: Additions[] = []

  return async (change: StoredChange): Promise<Revised> => {
    switch (change.type) {
      case 'verified':
        return link.send(change)
      case 'revise': {
        const revised = await link.send(change)
        preparer.committed(change.revision.added)
        return revised
      }
      case 'restore':
        return track(async () => {
          const { segment } = change
          const batch = change.build()
          restored.push(batch.added)
          const revised = await link.send({ type: 'restore', segment, batch }, transferables(batch))
          if (revised.done) for (const added of restored.splice(0)) preparer.committed(added)
          return revised
        })
      case 'forget': {
        const before = blocks.ranges()
        const revised = await link.send(change)
        const after = blocks.ranges()
        neighbours.lose(before.flatMap(({ from, to }) => gapsIn(after, from, to)))
        return revised
      }
      case 'cut': {
        const { range, keep, narrowed } = change
        const notes = narrowed ? { ...NO_NOTES, narrowed } : NO_NOTES
        await track(() => replace('fill', () => cutStored(range, keep, neighbours.held(), joining), notes, []))
        return { done: true, took: 0 }
      }
      case 'patch': {
        // It may take long, and nobody else waits for it.
        const stopped = aborted(signal).then((): never => {
          throw signal.reason
        })
        return Promise.race([link.post(change), stopped])
      }
    }
  }
}
