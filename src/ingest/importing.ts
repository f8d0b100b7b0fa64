import { statSync } from 'node:fs'
import { linkPackBlock, type PackLine, parsePackLine, readPackLines } from '../chain/pack.ts'
import type { BlockRef } from '../chain/source.ts'
import type { RawBlock } from '../chain/wire.ts'
import { ChainsieveError, refuse } from '../lib/errors.ts'
import type { Lane, Pipeline } from './pipeline.ts'
import { type Work, yieldToEventLoop } from './work.ts'

/** Reads packs from front to back. Blocks that are stored already are passed over, so that an import can be repeated. */
export const importPacks = async (work: Work, files: string[]) => {
  const { pipeline, lookups, links, signal, state, chainId, limits } = work
  state.total = files.reduce((sum, file) => sum + sizeOf(file), 0)
  const lane = pipeline.lane('fill')
  let before = 0
  try {
    for (const file of files) {
      const onRead = (bytes: number) => {
        state.done = before + bytes
      }
      let previous: BlockRef | undefined
      for await (const line of readPackLines(file, { signal, onRead, limits })) {
        const raw = parsePackLine(line, chainId === undefined ? { limits } : { chainId, limits })
        previous = linkPackBlock(line, previous, raw)
        await lookups.prefetch([raw])
        await links.prefetch([raw], -1, signal)
        await addFromPack(raw, line, pipeline, lane)
        signal.throwIfAborted()
        await yieldToEventLoop()
      }
      before += sizeOf(file)
    }
  } finally {
    // The good blocks before a fault, and before a stop, are kept.
    await lane.flush()
  }
  state.done = state.total
}

const addFromPack = async (raw: RawBlock, { path, line }: PackLine, pipeline: Pipeline, lane: Lane) => {
  const { number, hash } = raw.block
  const stored = pipeline.stored(Number(number))
  if (stored?.hash === hash) return
  if (stored)
    throw refuse(
      'block_stored',
      `${path}, line ${line}: block ${Number(number)} is ${hash} here, but ${stored.hash} is stored: they are of different branches or chains. Import it into another data folder`,
    )
  try {
    await lane.add(raw)
  } catch (error) {
    if (!(error instanceof ChainsieveError) || error.code !== 'block_unlinked') throw error
    throw refuse(error.code, `${path}, line ${line}: ${error.message}`, error)
  }
}

const sizeOf = (file: string): number => {
  try {
    return statSync(file).size
  } catch (error) {
    throw refuse('pack_unreadable', `${file} cannot be read: ${(error as Error).message}`, error)
  }
}
