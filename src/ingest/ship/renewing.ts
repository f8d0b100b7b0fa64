import { createChangedBlocks } from '../../engine/changed.ts'
import type { Range } from '../../lib/ranges.ts'
import type { Batches } from './batches.ts'
import { finish, type ShipContext } from './context.ts'
import { linesOf, type Send } from './sending.ts'

/** However much room there is. */
const MOST_BYTES = 32 * 2 ** 20

/** Writes anew what scopes changed of blocks that are there; its step tells whether there was anything. */
export const createRenewing = (ship: ShipContext, send: Send, { ensure, room }: Pick<Batches, 'ensure' | 'room'>) => {
  const { shelf, lines, requests, telling, onProgress } = ship
  const { note } = ship.tenure
  const { next } = ship.partial
  const changed = createChangedBlocks(ship.db)
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
      await finish(ship, touched, commit, { before: () => requests.remove(older) })
      onProgress()
      return true
    },
  }
}
