import { documentBlock } from '../rules/search.ts'
import { type SequenceSpec, sequenceShape } from '../rules/windows/steps.ts'
import type { StoredMatch } from '../rules/windows/stored.ts'
import { transactionsLacking } from '../rules/windows/stored-order.ts'
import { type BlockOfSteps, type PartMatch, stepsInBlock, storedParts } from '../rules/windows/stored-steps.ts'
import type { FoundSequence } from '../windows/sequence.ts'
import { createSequenceReplay } from '../windows/sequence-replay.ts'
import type { WindowBlock } from '../windows/window.ts'
import { blockBefore, followBlocks, type HistoryRun } from './follow-blocks.ts'

/** `last`: the match that completes it; undefined where the last step is missing. */
export type TellSequence = (sequence: FoundSequence, now: WindowBlock, last: StoredMatch | undefined) => void

/** Runs the sequences of a rule over stored blocks, from one window before the range. */
export const runSequences = async (run: HistoryRun & { most: number }, tell: TellSequence) => {
  const { config, limits, from, most } = run
  const shape = sequenceShape(config.when as SequenceSpec)
  let here: BlockOfSteps | undefined
  const replay = createSequenceReplay({
    ...{ shape, limits, start: from, most },
    found: (sequence, now) =>
      tell(sequence, now, sequence.last === undefined ? undefined : here!.documents[sequence.last]),
  })
  // What does not come is told by the first block after its window, so the block before the range counts, too.
  const wider = { ...run, from: Math.max(0, from - 1) }
  await followBlocks(wider, {
    begin: await blockBefore(wider.from, [shape.within], wider),
    matched: (first, end) => steppedBlocks(run, first, end),
    isIdle: () => replay.isIdle,
    step(block, found: BlockOfSteps | undefined, follows) {
      here = found
      replay.step(block, found?.matches ?? [], follows)
    },
  })
  return { refused: replay.refused, untold: replay.untold, undecided: replay.undecided }
}

/** Merges what searches for each part of the rule find, block by block. */
async function* steppedBlocks(
  { config, lists, blocks }: HistoryRun,
  first: number,
  end: number,
): AsyncGenerator<BlockOfSteps, undefined> {
  const searches = await Promise.all(
    storedParts(config).map(async part => {
      const matches = blocks.matches(part.config, lists, first, end)
      return { part, matches, next: await matches.next() }
    }),
  )
  for (;;) {
    const heads = searches.map(({ next }) => (next.done ? Number.POSITIVE_INFINITY : documentBlock(next.value).number))
    const number = Math.min(...heads)
    if (number === Number.POSITIVE_INFINITY) return undefined
    const found: PartMatch[] = []
    for (const search of searches)
      for (
        ;
        !search.next.done && documentBlock(search.next.value).number === number;
        search.next = await search.matches.next()
      )
        found.push({ part: search.part, match: search.next.value })
    const hashes = transactionsLacking(found)
    yield stepsInBlock(number, found, hashes.length > 0 ? await blocks.transactions(hashes, number) : new Map())
  }
}
