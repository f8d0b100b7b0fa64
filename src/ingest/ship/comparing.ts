import type { ShipRequests } from '../../cluster/ship/requests.ts'
import type { Expected } from '../../engine/expected.ts'
import type { Shelf } from '../../engine/shelf.ts'
import { holds, merged, type Range } from '../../lib/ranges.ts'
import type { Kind } from '../../mapping/index.ts'

export interface ComparingOptions {
  expected: Expected
  requests: Pick<ShipRequests, 'counts'>
}

/** Blocks that are read from the store at once. */
const TOGETHER = 4096

/**
 * Compares what an index holds with what the store knows of it: how many documents of each block, and of which branch. Tells the blocks of which these differ, and
 * those of which it holds something that should not be there. It is of no worth where the chain left blocks meanwhile.
 */
export const createComparing =
  ({ expected, requests }: ComparingOptions) =>
  async (
    index: string,
    kind: Exclude<Kind, 'token'>,
    blocks: readonly Range[],
    { hidden }: Shelf,
  ): Promise<Range[]> => {
    const wrong: Range[] = []
    const differs = (block: number, to = block) => void wrong.push({ from: block, to })
    const due = kind === 'event' ? undefined : dueOf(expected, kind, blocks)
    let next = due?.next().value
    const runs = kind === 'event' ? blocks.flatMap(expected.events) : []
    const found = runs.map(() => 0)
    let run = 0

    for await (const page of requests.counts(index, kind, hidden))
      for (const { block, hash, count } of page) {
        for (; next && next.block < block; next = due!.next().value) differs(next.block)
        const isRight = hash !== undefined && hash === (next?.block === block ? next.hash : expected.hash(block))
        if (!holds(blocks, block) || !isRight) differs(block)
        else if (due) {
          if (next?.block !== block || next.count !== count) differs(block)
          if (next?.block === block) next = due.next().value
        } else {
          while (run < runs.length && runs[run]!.to < block) run++
          if (runs[run] && runs[run]!.from <= block) found[run]! += count
        }
      }
    for (; next; next = due!.next().value) differs(next.block)
    for (const [i, { from, to, count }] of runs.entries()) if (found[i]! < count) differs(from, to)
    return merged(wrong.toSorted((a, b) => a.from - b.from))
  }

function* dueOf(expected: Expected, kind: Exclude<Kind, 'token' | 'event'>, blocks: readonly Range[]) {
  for (const { from, to } of blocks)
    for (let at = from; at <= to; at += TOGETHER)
      yield* expected.counts(kind, { from: at, to: Math.min(to, at + TOGETHER - 1) })
}
