import { createChangedBlocks } from '../../engine/shipping/partial-blocks.ts'
import { holds, type Range } from '../../lib/ranges.ts'
import type { ShipBatches } from './batches.ts'
import { finishBatch, type ShipContext } from './context.ts'
import { linesOf, type PatchLine, patchLine, type Send } from './sending.ts'

/**
 * Replaces shipped documents between two batches. The new ones are visible at once and belong to
 * the batches of those that they replace, which hides them together. Each is correct by itself:
 * writing only half of them does no harm.
 */
/** Lines that are put in one turn. */
const LINES_PER_TURN = 100

/** `hashOf` returns the hash of a stored block. `wake` is called when there is work. */
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
    /** False, with nothing written, if a block of theirs was reorganised away or is not shipped. */
    patch: (lines: readonly PatchLine[]) =>
      new Promise<boolean>(resolve => {
        waiting.push({ lines, resolve })
        wake()
      }),
    isDue: () => waiting.length > 0,
    /** Writes the oldest request; returns whether there was one. */
    async step() {
      const [first] = waiting
      if (!first) return false
      // After a temporary failure, the request is repeated when shipping resumes.
      const done = await write(first.lines)
      waiting.shift()
      first.resolve(done)
      return true
    },
  }
}

/** Limit, however much room there is. */
const MOST_BYTES = 32 * 2 ** 20

/** Rewrites shipped blocks that scopes changed; `step` returns whether there were any. */
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
      // Old documents remain visible, so their replacements are visible at once.
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
      // Documents that the store no longer has.
      const older = { batches: { from: 0, to: batch.number }, above: done.from - 1, below: done.to }
      await finishBatch(ship, touched, commit, { before: () => requests.remove(older) })
      onProgress()
      return true
    },
  }
}
