import { repeatsOfRule } from '../rules/notify/again.ts'
import { windowSpecOf } from '../rules/windows/steps.ts'
import { createStoredGathering, type MatchedBlock, type StoredMatch } from '../rules/windows/stored.ts'
import { createWindowReplay, type Episode, spansBefore } from '../windows/replay.ts'
import type { WindowBlock } from '../windows/window.ts'
import { blockBefore, followBlocks, type HistoryRun } from './follow-blocks.ts'

export interface WindowEvents {
  /** `last`: the last match of the key, if it is in the block that opens or ends the episode. */
  opened(episode: Episode, last: StoredMatch | undefined): void
  ended(episode: Episode, last: StoredMatch | undefined): void
  repeated(episode: Episode, block: WindowBlock): void
}

/** Runs the windows of a rule over stored blocks, from one window before the range. */
export const runWindows = async (run: HistoryRun, events: WindowEvents) => {
  const { config, limits, from } = run
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
  const again = repeatsOfRule(config)
  const replay = createWindowReplay({
    ...{ spec, limits, start: from },
    opened: episode => events.opened(episode, lastOf(episode.key)),
    ended: episode => events.ended(episode, lastOf(episode.key)),
    again: again && { spec: again, repeated: events.repeated },
  })
  await followBlocks(run, {
    begin: await blockBefore(from, spansBefore(spec), run),
    matched: (first, end) => matchedBlocks(run, first, end),
    isIdle: () => replay.isIdle,
    step(block, found: MatchedBlock | undefined, follows) {
      here = found
      places = undefined
      replay.step(block, found?.entries ?? [], follows)
    },
  })
  return { refused: replay.refused, undecided: replay.undecided }
}

async function* matchedBlocks(
  { config, lists, blocks }: HistoryRun,
  first: number,
  end: number,
): AsyncGenerator<MatchedBlock, undefined> {
  const gathering = createStoredGathering(config)
  for await (const match of blocks.matches(config, lists, first, end)) {
    const done = gathering.add(match)
    if (done) yield done
  }
  const done = gathering.finish()
  if (done) yield done
}
