import type { ShipRequests } from '../../cluster/ship/requests.ts'
import { type ChangedBlocks, createChangedBlocks } from '../../engine/changed.ts'
import type { PartialBlocks } from '../../engine/partial.ts'
import type { ShelfWriter } from '../../engine/shelf-writer.ts'
import type { DocumentLines } from '../../engine/show/lines.ts'
import type { Range } from '../../lib/ranges.ts'
import type { Db } from '../../sqlite/database.ts'
import type { Finish } from './finishing.ts'
import { linesOf, type Sending } from './sending.ts'
import type { Telling } from './telling.ts'
import type { Tenure } from './tenure.ts'

export interface RenewingOptions extends Pick<PartialBlocks, 'next'> {
  db: Db
  shelf: Pick<ShelfWriter, 'begin' | 'commit' | 'shippedChange'>
  lines: Pick<DocumentLines, 'block' | 'tokens'>
  requests: Pick<ShipRequests, 'remove'>
  sending: Sending
  finish: Finish
  /** Has the indices of a run be there. */
  ensure(run: Range): Promise<void>
  /** Bytes from which on a batch takes no further block. */
  room(): number
  tenure: Pick<Tenure, 'note'>
  telling: Pick<Telling, 'tell'>
  /** Called when blocks came to be there. */
  onProgress(): void
}

/** However much room there is. */
const MOST_BYTES = 32 * 2 ** 20

/** Writes anew what scopes changed of blocks that are there; its step tells whether there was anything. */
export const createRenewing = (options: RenewingOptions) => {
  const { db, shelf, lines, requests, finish, next, ensure, room, telling, onProgress } = options
  const { note } = options.tenure
  const { send } = options.sending
  const changed: Pick<ChangedBlocks, 'next' | 'done'> = createChangedBlocks(db)
  return {
    isDue: () => changed.next() !== undefined,
    async step(): Promise<boolean> {
      const run = changed.next()
      if (!run) return false
      await ensure(run)
      const batch = await note(() => shelf.begin(undefined))
      await telling.tell()
      // What is there goes on to be seen, so what takes its place is seen at once.
      const numbers = { number: batch.tokens, tokens: batch.tokens }
      const touched = new Set<string>()
      let done: Range = run
      const blocks = linesOf(
        run,
        { block: lines.block, next },
        {
          hasRoom: bytes => bytes < Math.min(MOST_BYTES, room()),
          onBlocks(last) {
            done = { from: run.from, to: last }
          },
        },
      )
      await send(blocks, batch, touched, numbers)
      await send(
        lines.tokens(done, Number.MAX_SAFE_INTEGER, () => false),
        batch,
        touched,
        numbers,
      )
      const commit = () => {
        if (shelf.commit(batch, undefined, shelf.shippedChange())) changed.done(run, done)
      }
      // What the store no longer holds.
      const older = { batches: { from: 0, to: batch.number }, above: done.from - 1, below: done.to }
      await finish(touched, commit, { before: () => requests.remove(older) })
      onProgress()
      return true
    },
  }
}
