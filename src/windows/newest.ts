import { MAX_NAMED, type WindowEntry } from './entries.ts'
import { createEpisodes, noChanges } from './episodes.ts'
import { isOfWindows, type NewestSpec, type ShownCondition, type WindowSpec } from './spec.ts'
import { createRuleWindow, type RuleWindow, type WindowBlock, type WindowLimits } from './window.ts'

/** What a rule of the target `State` found of a key at a block. */
export interface KeyReading {
  block: number
  /** Undefined: the reading failed, and decides nothing. */
  meets: boolean | undefined
  /** Whether an episode may end. */
  ends: boolean
  shown: ShownCondition[]
  /** JSON text of the reading; only where it meets the conditions. */
  source?: string
}

export const createWindowFor = (spec: WindowSpec | NewestSpec, limits: WindowLimits): RuleWindow =>
  isOfWindows(spec) ? createRuleWindow(spec, limits) : createNewestWindow(spec)

/**
 * The verdicts of a rule of the target `State`: that of a key is whether its newest reading meets
 * the conditions. Blocks come in their order, most of them without readings. After `setSince`,
 * nothing is decided before the next reading.
 */
export const createNewestWindow = ({ hold }: Pick<NewestSpec, 'hold'>): RuleWindow => {
  const episodes = createEpisodes(hold)
  /** The newest reading of each key that did not fail. */
  const newest = new Map<string, WindowEntry & { reading: KeyReading }>()
  let since = 0

  const take = (entries: readonly WindowEntry[]) => {
    const taken = entries.flatMap(({ reading, ...entry }) => {
      if (reading?.meets !== undefined) return { ...entry, reading }
      return newest.get(entry.key) ?? []
    })
    for (const entry of taken) newest.set(entry.key, entry)
    return taken
  }

  return {
    measures: [],
    load: ({ number }, entries) => void (number >= since && take(entries)),
    settle() {},
    setSince({ number }: WindowBlock) {
      since = number
      newest.clear()
      episodes.setHolding([])
    },
    setOpen: episodes.setOpen,
    setHolding: episodes.setHolding,
    get size() {
      return { keys: newest.size, rows: newest.size }
    },
    isComplete: () => true,
    isDecided: key => newest.has(key),
    oldest: () => undefined,
    named: wanted =>
      new Map(
        [...wanted].map(key => {
          const found = newest.get(key)
          return [key, { ids: found?.ids.slice(0, MAX_NAMED) ?? [], from: found?.reading.block }]
        }),
      ),
    latest: (key: string) => newest.get(key),

    step(now, entries) {
      const changes = noChanges()
      const taken = take(entries)
      for (const { key, reading } of taken) episodes.decide(key, reading.meets, now, () => reading.ends, changes)
      if (hold !== undefined) episodes.openHeld(now, changes)
      return { ...changes, first: [], refused: 0, taken, touched: new Set(taken.map(({ key }) => key)) }
    },
    show: key => ({ conditions: newest.get(key)?.reading.shown ?? [], matches: newest.has(key) ? 1 : 0 }),
  }
}
