import { addAbortListener } from 'node:events'
import {
  type BlockFile,
  findBlockFiles,
  parseBlockLine,
  parserReady,
  readBlockLines,
} from '../../chain/files/block-files.ts'
import { linkPackBlock, type PackLine, packLinePlace } from '../../chain/files/pack.ts'
import type { BlockRef } from '../../chain/source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import { ChainsieveError, refuse } from '../../lib/errors.ts'
import { type Builders, type BuiltGroup, createGroupReader, type LineGroup } from '../decoding/builders/pool.ts'
import type { BuiltPiece } from '../decoding/builders/thread.ts'
import { makeRoom, startBuilders } from '../decoding/open-decoding.ts'
import { type Work, yieldToEventLoop } from '../job-context.ts'
import type { BlockLane } from '../lane.ts'
import type { Pipeline } from '../pipeline.ts'

export const importFiles = async (work: Work, paths: string[]) => {
  const { pipeline, signal, state, limits, storeBatch } = work
  const files = await findBlockFiles(paths)
  state.total = files.reduce((sum, { size }) => sum + size, 0)
  const lane = pipeline.lane('fill')
  const content = files.reduce(
    (sum, { form, path, size }) => sum + size * (isCompressed(form, path) ? JSON_PER_PACKED_BYTE : 1),
    0,
  )
  const builders = content < (work.sharing.from ?? MIN_SHARED_BYTES) ? undefined : startBuilders(work)
  const readGroups = createGroupReader(storeBatch)
  let before = 0
  try {
    for (const file of files) {
      const { path, size } = file
      state.reading = path
      const onRead = (bytes: number) => {
        state.done = before + bytes
      }
      const options = { signal, onRead, limits, stored: pipeline.stored }
      const taker = createTaker(work, lane)
      if (builders) await takeGroups(builders, readGroups(file, options), taker, work)
      else for await (const line of readBlockLines(file, options)) await taker.one(line)
      before += size
    }
  } finally {
    // Stores the good blocks before a fault or a stop.
    await lane.flush()
    await builders?.close()
  }
  state.done = state.total
  state.reading = null
}

const createTaker = (work: Work, lane: BlockLane) => {
  const { pipeline, ruleWatcher, lookups, links, signal, chainId, limits, decoding } = work
  let previous: BlockRef | undefined

  const one = async (line: PackLine) => {
    await parserReady(line.form)
    const raw = parseBlockLine(line, chainId === undefined ? { limits } : { chainId, limits })
    previous = linkPackBlock(line, previous, raw)
    await lookups.prefetch([raw])
    await links.prefetch([raw], -1, signal)
    await addFromPack(raw, line, pipeline, lane)
    signal.throwIfAborted()
    await yieldToEventLoop()
  }

  /** False if these blocks are special and must be taken one by one. */
  const built = async (piece: BuiltPiece): Promise<boolean> => {
    const [first, last] = [piece.blocks[0]!, piece.blocks.at(-1)!]
    if (previous && first.number === previous.number + 1 && first.parentHash !== previous.hash) return false
    if (piece.blocks.every(({ number, hash }) => pipeline.stored(number)?.hash === hash)) return true
    for (const { number, upgrades } of piece.blocks) links.note(number, upgrades)
    if (!(await lane.addBuilt(piece))) return false
    previous = { number: last.number, hash: last.hash }
    return true
  }

  const isPlain = (): boolean => {
    // ABIs of single contracts make decoding depend on earlier blocks.
    if (decoding().keys.size > 0) return false
    const next = previous && previous.number + 1
    return next === undefined || !(ruleWatcher.wants(next) || pipeline.stored(next))
  }

  const group = async ({ lines, built: made }: BuiltGroup) => {
    let taken = 0
    const { version, keys } = decoding()
    if (made?.abis === version && keys.size === 0)
      for (const piece of made.pieces) {
        if (!(await built(piece))) break
        taken += piece.blocks.length
      }
    for (const line of lines.slice(taken)) await one(line)
    signal.throwIfAborted()
  }

  return { one, group, isPlain }
}

const takeGroups = async (
  builders: Builders,
  groups: AsyncIterable<LineGroup>,
  taker: ReturnType<typeof createTaker>,
  work: Work,
) => {
  const { signal } = work
  using _ = addAbortListener(signal, () => void builders.close())
  try {
    for await (const group of builders.each(groups, taker.isPlain)) {
      await taker.group(group)
      group.release()
      if (work.dictionaries?.isFilling()) await makeRoom(work, builders)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** Less JSON is taken by one thread before others have started. */
const MIN_SHARED_BYTES = 96 << 20
/** By how much files shrink when they are packed. */
const JSON_PER_PACKED_BYTE = 4
const isCompressed = (form: BlockFile['form'], path: string): boolean => form !== 'pack' || path.endsWith('.gz')

const addFromPack = async (raw: RawBlock, line: PackLine, pipeline: Pipeline, lane: BlockLane) => {
  const { number, hash } = raw.block
  const stored = pipeline.stored(Number(number))
  if (stored?.hash === hash) return
  if (stored)
    throw refuse(
      'block_stored',
      `${packLinePlace(line)}: block ${Number(number)} is ${hash} here, but ${stored.hash} is stored: they belong to different branches or chains. Import it into another data folder`,
    )
  try {
    await lane.add(raw)
  } catch (error) {
    if (!(error instanceof ChainsieveError) || error.code !== 'block_unlinked') throw error
    throw refuse(error.code, `${packLinePlace(line)}: ${error.message}`, error)
  }
}
