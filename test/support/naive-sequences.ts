import { type SequenceShape, type StepMatch, UNTIL } from '../../src/windows/sequence.ts'
import type { WindowBlock } from '../../src/windows/window.ts'

export interface TestBlock extends WindowBlock {
  matches: StepMatch[]
}
/** Ids of the steps of each sequence, by the block that completes it. */
export type Outcome = [block: number, sequences: string[]]

type Placed = StepMatch & { block: TestBlock; order: number }

/**
 * From scratch, for each key: all ways to choose a match for each step are tried. `since`: the first
 * block that is known without a gap, for each block.
 */
export const naiveSequences = (shape: SequenceShape, blocks: readonly TestBlock[]): Outcome[] => {
  const { steps, isMissing, hasUntil, within } = shape
  const needed = isMissing ? steps - 1 : steps
  const isOver = (from: TestBlock, now: TestBlock) =>
    within.blocks !== undefined ? now.number - from.number >= within.blocks : now.time - from.time >= within.seconds!
  const sequences = new Map<number, string[]>(blocks.map(({ number }) => [number, []]))
  const told = (at: TestBlock, chain: readonly Placed[]) =>
    sequences.get(at.number)!.push(chain.map(({ id }) => id).join(' '))
  const isGap = (from: TestBlock, to: TestBlock) =>
    blocks.indexOf(to) - blocks.indexOf(from) !== to.number - from.number
  const keys = new Set(blocks.flatMap(({ matches }) => matches.map(({ key }) => key)))
  for (const key of keys) {
    const all = blocks.flatMap(block =>
      block.matches.filter(it => it.key === key).map(it => ({ ...it, block, order: block.number * 1_000 + it.at })),
    )
    const of = (step: number) => all.filter(it => it.step === step)
    const isUndone = (from: Placed, to: Placed) =>
      ((isMissing || hasUntil) && isGap(from.block, to.block)) ||
      of(UNTIL).some(({ order }) => order > from.order && order <= to.order)
    const chainsTo = (chain: readonly Placed[]): Placed[][] =>
      chain[0]!.step === 0
        ? [[...chain]]
        : of(chain[0]!.step - 1)
            .filter(({ order }) => order < chain[0]!.order)
            .flatMap(before => chainsTo([before, ...chain]))
    let used = -1
    for (const last of of(needed - 1).sort((a, b) => a.order - b.order)) {
      const chains = chainsTo([last])
        .filter(([first]) => first!.order > used && !isOver(first!.block, last.block) && !isUndone(first!, last))
        // The newest first step; then each step as early as it can be.
        .sort((a, b) => b[0]!.order - a[0]!.order || compareOrders(a, b))
      const [chain] = chains
      if (chain === undefined) continue
      used = chain[0]!.order
      if (!isMissing) {
        told(last.block, chain)
        continue
      }
      const over = blocks.find(block => block.number >= last.block.number && isOver(chain[0]!.block, block))
      if (over === undefined || isGap(chain[0]!.block, over)) continue
      const isBeforeEnd = (it: Placed) => it.order > last.order && it.block.number < over.number
      if (![...of(steps - 1), ...of(UNTIL)].some(isBeforeEnd)) told(over, chain)
    }
  }
  return blocks.map(({ number }) => [number, sequences.get(number)!.sort()])
}

const compareOrders = (a: readonly Placed[], b: readonly Placed[]): number => {
  const i = a.findIndex((it, at) => it.order !== b[at]!.order)
  return i < 0 ? 0 : a[i]!.order - b[i]!.order
}
