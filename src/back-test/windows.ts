import { repeatsOfRule } from '../rules/notify/again.ts'
import type { RuleConfig } from '../rules/rule.ts'
import { shownConditions } from '../rules/state/readings.ts'
import { createStoredGathering, type MatchedBlock, type StoredMatch } from '../rules/windows/stored.ts'
import { createWindowReplay, type Episode, spansBefore } from '../windows/replay.ts'
import { isOfWindows, type NewestSpec, type WindowSpec } from '../windows/spec.ts'
import type { WindowBlock } from '../windows/window.ts'
import { blockBefore, followBlocks, type HistoryRun } from './follow-blocks.ts'

export interface WindowEvents {
  /** `last`: the last match of the key, if it is in the block that opens or ends the episode. */
  opened(episode: Episode, last: StoredMatch | undefined): void
  ended(episode: Episode, last: StoredMatch | undefined): void
  repeated(episode: Episode, block: WindowBlock): void
}

/** What decides on a rule with `when` but without steps. */
export const decidedBy = ({ when, targetMap }: RuleConfig) => {
  const spec = when as WindowSpec | NewestSpec
  return { spec, ...(!isOfWindows(spec) && { operators: shownConditions(targetMap).map(({ operator }) => operator) }) }
}

/** Runs the windows of a rule over stored blocks, from one window before the range; readings begin with the range. */
export const runWindows = async (run: HistoryRun, events: WindowEvents) => {
  const { config, limits, from, readings } = run
  const decided = decidedBy(config)
  const { spec } = decided
  /** Of each key, the newest reading that met the conditions. */
  const newest = new Map<string, StoredMatch>()
  let here: MatchedBlock | undefined
  /** Of the entries of `here`, by their keys: made once one is asked for, of many that open in one block. */
  let places: ReadonlyMap<string, number> | undefined
  const lastOf = (key: string): StoredMatch | undefined => {
    if (readings) return newest.get(key)
    if (!here) return undefined
    places ??= new Map(here.entries.map((entry, i) => [entry.key, i]))
    const place = places.get(key)
    return place === undefined ? undefined : here.lasts[place]
  }
  const again = repeatsOfRule(config)
  const replay = createWindowReplay({
    ...{ ...decided, limits, start: from },
    opened: episode => events.opened(episode, lastOf(episode.key)),
    ended: episode => events.ended(episode, lastOf(episode.key)),
    again: again && { spec: again, repeated: events.repeated },
  })
  await followBlocks(run, {
    begin: isOfWindows(spec) ? await blockBefore(from, spansBefore(spec), run) : from,
    matched: (first, end) => (readings ? readings.blocks(first, end) : matchedBlocks(run, first, end)),
    isIdle: () => replay.isIdle,
    step(block, found: MatchedBlock | undefined, follows) {
      here = found
      places = undefined
      if (readings)
        for (const [i, { key, reading }] of (found?.entries ?? []).entries())
          if (reading?.meets) newest.set(key, found!.lasts[i]!)
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
