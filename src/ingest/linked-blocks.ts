import type { Blocks } from '../engine/port.ts'
import { ChainsieveError } from '../lib/errors.ts'
import { gapsIn, holds, merged, type Range } from '../lib/ranges.ts'

/** A block as its neighbours know it. */
export interface Ref {
  number: number
  hash: string
  parentHash: string
}

export type Neighbours = ReturnType<typeof createNeighbours>

/** Code of the error of a block that does not link to a stored one; its number is in `details.block`. */
export const UNLINKED = 'block_unlinked'

/** Blocks that are stored whole or on their way there, as far as they have to link to each other. */
export const createNeighbours = (blocks: Pick<Blocks, 'hash' | 'parentHash' | 'ranges'>) => {
  /** Hash and parent's hash by number. */
  const underWay = new Map<number, { hash: string; parentHash: string }>()
  let held = blocks.ranges()

  const hashOf = (number: number): string | undefined => underWay.get(number)?.hash ?? blocks.hash(number)
  const parentOf = (number: number): string | undefined => underWay.get(number)?.parentHash ?? blocks.parentHash(number)

  /** A block next to one of them must link to it; what is wrong where it does not. */
  const linkFault = ({ number, hash, parentHash }: Ref): string | undefined => {
    const below = holds(held, number - 1) ? hashOf(number - 1) : undefined
    if (below !== undefined && below !== parentHash)
      return `block ${number} ${hash} names ${parentHash} as its parent, but the stored block ${number - 1} is ${below}`
    const above = holds(held, number + 1) ? parentOf(number + 1) : undefined
    if (above !== undefined && above !== hash)
      return `the stored block ${number + 1} names ${above} as its parent, but block ${number} is ${hash}`
    return undefined
  }

  return {
    held: () => held,
    hashOf,
    linkFault,
    check(ref: Ref) {
      const fault = linkFault(ref)
      if (fault !== undefined)
        throw new ChainsieveError(
          'stop',
          UNLINKED,
          `${fault}: they belong to different branches or chains. Index them into different data folders, or remove the stored ones`,
          { details: { block: ref.number } },
        )
    },
    /** Neighbouring blocks that are on their way from now on. */
    take(refs: readonly Ref[]) {
      for (const { number, hash, parentHash } of refs) underWay.set(number, { hash, parentHash })
      held = merged([...held, { from: refs[0]!.number, to: refs.at(-1)!.number }])
    },
    /** Those that are committed. */
    forget({ from, to }: Range) {
      for (let number = from; number <= to; number++) underWay.delete(number)
    },
    /** They are held no more. */
    lose(ranges: readonly Range[]) {
      held = held.flatMap(({ from, to }) => gapsIn(ranges, from, to))
    },
    /** All above this one are gone. */
    rollback(to: number) {
      for (const number of underWay.keys()) if (number > to) underWay.delete(number)
      held = held.filter(({ from }) => from <= to).map(range => ({ from: range.from, to: Math.min(range.to, to) }))
    },
  }
}
