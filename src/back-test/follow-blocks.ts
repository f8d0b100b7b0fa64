import type { Range } from '../lib/ranges.ts'
import type { FindList } from '../rules/lower.ts'
import type { RuleConfig } from '../rules/rule.ts'
import type { WindowSpan } from '../windows/spec.ts'
import type { WindowBlock, WindowLimits } from '../windows/window.ts'
import type { Readings } from './readings.ts'
import type { BlockHistory } from './stored-blocks.ts'

/** A rule with `when`, and the blocks that it looks at. */
export interface HistoryRun {
  config: RuleConfig
  lists: FindList
  limits: WindowLimits
  /** The range whose verdicts count, and what is stored. */
  from: number
  to: number
  ranges: readonly Range[]
  blocks: BlockHistory
  /** Of a rule that reads state. */
  readings?: Readings | undefined
  /** Throws when it takes too long. */
  check(): void
}

/** What goes over blocks in their order. */
interface Follower<Found> {
  /** The first block to look at. */
  begin: number
  /** Blocks with matches, in their order. */
  matched(first: number, end: number): AsyncGenerator<Found, undefined>
  /** Whether blocks without a match change nothing, up to the range. */
  isIdle(): boolean
  /** `follows`: whether no block is missing before this one. */
  step(block: WindowBlock, found: Found | undefined, follows: boolean): void
}

/** Blocks before other work has its turn. */
const STEPS_AT_ONCE = 200

export const followBlocks = async <Found extends { number: number }>(
  { from, to, ranges, blocks, check }: HistoryRun,
  { begin, matched, isIdle, step }: Follower<Found>,
): Promise<void> => {
  let clock = 0
  let isBroken = false
  let steps = 0
  const take = async (number: number, found: Found | undefined) => {
    const time = await blocks.timeOf(number)
    // Reorganised away meanwhile.
    if (time === undefined) isBroken = true
    else {
      clock = Math.max(clock, time)
      step({ number, time: clock }, found, !isBroken)
      isBroken = false
    }
    if (++steps % STEPS_AT_ONCE > 0) return
    check()
    await new Promise(resolve => setImmediate(resolve))
  }

  for (const range of ranges) {
    const [first, end] = [Math.max(range.from, begin), Math.min(range.to, to)]
    if (first > end) continue
    const all = matched(first, end)
    let next = await all.next()
    for (let number = first; number <= end; ) {
      const found = next.done || next.value.number !== number ? undefined : next.value
      await take(number, found)
      if (found) next = await all.next()
      number++
      if (!isIdle()) continue
      const until = next.done ? end + 1 : next.value.number
      number = Math.max(number, number <= from ? Math.min(until, from) : until)
    }
    isBroken = true
  }
}

/** The first stored block of so many spans, one before the other, which end at a block. */
export const blockBefore = async (
  number: number,
  spans: readonly WindowSpan[],
  { ranges, blocks }: Pick<HistoryRun, 'ranges' | 'blocks'>,
): Promise<number> => {
  const range = ranges.find(({ to }) => to >= number)
  if (!range || range.from >= number) return range?.from ?? number
  let at: WindowBlock = { number, time: (await blocks.timeOf(number)) ?? 0 }
  for (const span of spans) at = await reachBack(at, span, range, blocks)
  return at.number
}

const reachBack = async (
  { number, time }: WindowBlock,
  { blocks: count, seconds }: WindowSpan,
  { from }: Range,
  blocks: BlockHistory,
): Promise<WindowBlock> => {
  const wanted = count === undefined ? ((await blocks.lastUntil(time - seconds!, number)) ?? from) : number - count
  const first = Math.max(from, wanted)
  return { number: first, time: (await blocks.timeOf(first)) ?? time }
}
