import { createChangedBlocks } from '../../engine/shipping/partial-blocks.ts'
import { holds, type Range } from '../../lib/ranges.ts'
import type { ShipBatches } from './batches.ts'
import { finishBatch, type ShipContext } from './context.ts'
import { linesOf, type PatchLine, patchLine, type Send } from './sending.ts'

/**
 * Writes documents in place of shipped ones, between two batches. They are visible at once and belong to the batches of
 * those that they replace, so whatever hides these hides them. Each is right by itself: half of them do no harm.
 */
/** Lines that are put in one turn. */
const LINES_PER_TURN = 100

/** `hashOf` a stored block. `wake` is called when something is to be written. */
export const createPatching = (ship: ShipContext, hashOf: (number: number) => string | undefined, wake: () => void) => {
  const { naming, network, visible, shelf, bulk, publishing } = ship
  const { turn, note } = ship.session
  const waiting: { lines: readonly PatchLine[]; resolve(done: boolean): void }[] = []

  const areThere = (lines: readonly PatchLine[]): boolean => {
    const { ranges } = visible()
    return lines.every(({ block, routing }) => holds(ranges, block) && hashOf(block) === routing)
  }

  const write = async (lines: readonly PatchLine[]): Promise<boolean> => {
    if (lines.length === 0) return true
    const batch = await note(() => (areThere(lines) ? shelf.begin(undefined) : undefined))
    if (!batch) return false
    await publishing.publish()
    const touched = new Set<string>()
    for (let at = 0; at < lines.length; at += LINES_PER_TURN) {
      await turn()
      for (const line of lines.slice(at, at + LINES_PER_TURN)) {
        const bulkLine = patchLine(naming, network, batch.number, line)
        touched.add(bulkLine.index)
        await bulk().put(bulkLine)
      }
    }
    return finishBatch(ship, touched, () => shelf.commit(batch, undefined, shelf.shippedChange()))
  }

  return {
    /** False where the chain has left one of their blocks, or the cluster has no documents of it yet: then nothing is written. */
    patch: (lines: readonly PatchLine[]) =>
      new Promise<boolean>(resolve => {
        waiting.push({ lines, resolve })
        wake()
      }),
    isDue: () => waiting.length > 0,
    /** Writes what was asked for first; whether there was anything. */
    async step() {
      const [first] = waiting
      if (!first) return false
      // Where that fails for now, it is written when shipping goes on.
      const done = await write(first.lines)
      waiting.shift()
      first.resolve(done)
      return true
    },
  }
}

/** However much room there is. */
const MOST_BYTES = 32 * 2 ** 20

/** Writes anew what scopes changed of blocks that are there; its step tells whether there was anything. */
export const createRenewing = (
  ship: ShipContext,
  send: Send,
  { ensure, room }: Pick<ShipBatches, 'ensure' | 'room'>,
) => {
  const { shelf, lines, requests, publishing, onProgress } = ship
  const { note } = ship.session
  const { next } = ship.partial
  const changed = createChangedBlocks(ship.db)
  return {
    isDue: () => changed.next() !== undefined,
    async step(): Promise<boolean> {
      const run = changed.next()
      if (!run) return false
      await ensure(run)
      const batch = await note(() => shelf.begin(undefined))
      await publishing.publish()
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
      await finishBatch(ship, touched, commit, { before: () => requests.remove(older) })
      onProgress()
      return true
    },
  }
}
