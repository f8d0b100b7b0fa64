import type { RawBlock } from '../../chain/wire.ts'
import type { Batch } from '../../engine/documents/batch.ts'
import { FULL_SEGMENT } from '../../engine/index/segments.ts'
import type { Lookups } from '../../engine/port.ts'
import { holds, type Range } from '../../lib/ranges.ts'
import type { Preparer, Run } from '../prepare.ts'
import { joinParts } from './join.ts'
import type { StoredBlocks } from './stored.ts'

export interface ReplacingOptions {
  lookups: Pick<Lookups, 'partial'>
  stored(): StoredBlocks
  preparer: Pick<Preparer, 'start' | 'decode'>
}

/** Batches of partial blocks, and the segments whose content they hold as well. */
export interface Replacing {
  batches: Batch[]
  replaces: number[]
}

/** Most blocks of one batch. */
const MOST_BLOCKS = 4_096

/**
 * Joins partial blocks with what is stored in part around them: segments never overlap, so all that a new one would reach over is
 * written again. Blocks that are held whole are left out, and no batch reaches over one.
 */
export const joinStored = (
  fresh: readonly RawBlock[],
  range: Range,
  held: readonly Range[],
  { lookups, stored, preparer }: ReplacingOptions,
): Replacing => {
  const segments = lookups.partial(range)
  const blocks = new Map<number, RawBlock>()
  for (const { first, last } of segments) for (const raw of stored().read(first, last)) blocks.set(numberOf(raw), raw)
  for (const raw of fresh) {
    const there = blocks.get(numberOf(raw))
    blocks.set(numberOf(raw), there ? joinParts(there, raw) : raw)
  }
  const batches: Batch[] = []
  let run: Run | undefined
  let last = -1
  for (const [number, raw] of [...blocks].sort(([a], [b]) => a - b)) {
    if (holds(held, number)) continue
    const isApart = held.some(({ from }) => from > last && from < number)
    if (run && (isApart || run.blocks >= MOST_BLOCKS || run.documents >= FULL_SEGMENT)) {
      batches.push(run.finish())
      run = undefined
    }
    run ??= preparer.start()
    run.add(preparer.decode(marked(raw)))
    last = number
  }
  if (run) batches.push(run.finish())
  return { batches, replaces: segments.map(({ id }) => id) }
}

const numberOf = ({ block }: RawBlock): number => Number(block.number)

/** Its document says that it is partial. */
const marked = (raw: RawBlock): RawBlock => ({ ...raw, block: { ...raw.block, partial: true }, partial: true })
