import type { Range } from '../lib/ranges.ts'
import type { FindList } from '../rules/lower.ts'
import type { RuleConfig } from '../rules/rule.ts'
import { windowSpecOf } from '../rules/windows/steps.ts'
import { createStoredGathering, type MatchedBlock, type StoredMatch } from '../rules/windows/stored.ts'
import { createWindowReplay, type Episode, spansBefore } from '../windows/replay.ts'
import type { WindowSpan } from '../windows/spec.ts'
import type { WindowBlock, WindowLimits } from '../windows/window.ts'
import type { BlockHistory } from './stored-blocks.ts'

export interface WindowRun {
  config: RuleConfig
  lists: FindList
  limits: WindowLimits
  /** The range whose verdicts count, and what is stored. */
  from: number
  to: number
  ranges: readonly Range[]
  blocks: BlockHistory
  /** Throws when it takes too long. */
  check(): void
}

export interface WindowEvents {
  /** `last`: the last match of the key, if it is in the block that opens or ends the episode. */
  opened(episode: Episode, last: StoredMatch | undefined): void
  ended(episode: Episode, last: StoredMatch | undefined): void
}

/** Runs the windows of a rule over stored blocks, from one window before the range. */
export const runWindows = async (run: WindowRun, events: WindowEvents) => {
  const { config, lists, limits, from, to, ranges, blocks, check } = run
  const spec = windowSpecOf(config)
  let here: MatchedBlock | undefined
  /** Of the entries of `here`, by their keys: made once one is asked for, of many that open in one block. */
  let places: ReadonlyMap<string, number> | undefined
  const lastOf = (key: string): StoredMatch | undefined => {
    if (!here) return undefined
    places ??= new Map(here.entries.map((entry, i) => [entry.key, i]))
    const place = places.get(key)
    return place === undefined ? undefined : here.lasts[place]
  }
  const replay = createWindowReplay({
    ...{ spec, limits, start: from },
    opened: episode => events.opened(episode, lastOf(episode.key)),
    ended: episode => events.ended(episode, lastOf(episode.key)),
  })
  const begin = await firstBlockOf(run)
  let clock = 0
  let isBroken = false
  let steps = 0
  const step = async (number: number, found: MatchedBlock | undefined) => {
    const time = await blocks.timeOf(number)
    // Reorganised away meanwhile.
    if (time === undefined) isBroken = true
    else {
      clock = Math.max(clock, time)
      here = found
      places = undefined
      replay.step({ number, time: clock }, found?.entries ?? [], !isBroken)
      isBroken = false
    }
    if (++steps % STEPS_AT_ONCE > 0) return
    check()
    await new Promise(resolve => setImmediate(resolve))
  }

  for (const range of ranges) {
    const [first, end] = [Math.max(range.from, begin), Math.min(range.to, to)]
    if (first > end) continue
    const matched = byBlock(config, blocks.matches(config, lists, first, end))
    let next = await matched.next()
    for (let number = first; number <= end; ) {
      const found = next.done || next.value.number !== number ? undefined : next.value
      await step(number, found)
      if (found) next = await matched.next()
      number++
      if (!replay.isIdle) continue
      const until = next.done ? end + 1 : next.value.number
      number = Math.max(number, number <= from ? Math.min(until, from) : until)
    }
    isBroken = true
  }
  return { refused: replay.refused, undecided: replay.undecided }
}

/** Blocks before other work has its turn. */
const STEPS_AT_ONCE = 200

async function* byBlock(
  config: RuleConfig,
  matches: AsyncIterable<StoredMatch>,
): AsyncGenerator<MatchedBlock, undefined> {
  const gathering = createStoredGathering(config)
  for await (const match of matches) {
    const done = gathering.add(match)
    if (done) yield done
  }
  const done = gathering.finish()
  if (done) yield done
}

/** The block from which on all matches decide on the first one of the range. */
const firstBlockOf = async ({ config, from, ranges, blocks }: WindowRun): Promise<number> => {
  const range = ranges.find(({ to }) => to >= from)
  if (!range || range.from >= from) return range?.from ?? from
  let at: WindowBlock = { number: from, time: (await blocks.timeOf(from)) ?? 0 }
  for (const span of spansBefore(windowSpecOf(config))) at = await reachBack(at, span, range, blocks)
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
