import { keccakHex } from '../lib/keccak.ts'
import type { Exact } from '../query/ast.ts'
import { compareExact, exactOf, parseExact, showExact, simplifyExact } from '../query/exact.ts'
import { createComparedWindows, isOutOf, isSeen } from './compared.ts'
import type { WindowEntry } from './entries.ts'
import { createEpisodes, type EpisodeChanges, noChanges } from './episodes.ts'
import { createKeyStates, emptyKeyState, type KeyState, type PartState } from './key-states.ts'
import {
  measureOf,
  measuresOf,
  reachOf,
  type ShownCondition,
  type WindowCondition,
  type WindowMeasure,
  type WindowOperator,
  type WindowSpec,
} from './spec.ts'
import { addExact } from './sums.ts'

export interface WindowBlock {
  number: number
  /** Epoch seconds. */
  time: number
}

/** What a block changes. */
export interface WindowStep extends EpisodeChanges {
  /** Values that are first in their window. */
  first: { key: string; value: string }[]
  /** Keys that had no room. */
  refused: number
  /** The new `since`, if matches were left out of keys that have windows. */
  since?: WindowBlock
}

export interface WindowLimits {
  keys: number
  rows: number
}

export type RuleWindow = ReturnType<typeof createRuleWindow>

/**
 * The windows of a rule, one for each key. Blocks come in their order. Nothing else decides: the
 * same blocks give the same episodes. `since`: the first block of which all matches are known;
 * while a window reaches further back, only what more matches could not undo is decided.
 */
export const createRuleWindow = (spec: WindowSpec, limits: WindowLimits) => {
  const { within, conditions, resolve, hold } = spec
  const measures = measuresOf(spec)
  const compared = createComparedWindows(spec, measures, limits)
  const compile = (condition: WindowCondition) => compileCondition(condition, measures, compared.of)
  const tests = conditions.map(compile)
  const ends = resolve?.map(compile)
  const firsts = placeOfFirst(conditions, measures)
  const watched = new Set(watchedKeys(spec))
  const episodes = createEpisodes(hold)
  let since: WindowBlock | undefined
  /** Undefined before the first block, which decides on all keys. */
  let wasComplete: boolean | undefined
  let wasWhole: boolean | undefined
  const reach = reachOf(spec)

  const keys = createKeyStates(measures, limits, isOutOf(within))
  const verdictOf = (key: string, complete: boolean): boolean | undefined => {
    const state = keys.get(key) ?? emptyKeyState(measures)
    if (state.entries === 0 && !watched.has(key)) return complete ? false : undefined
    return allHold(tests, state, complete, key)
  }

  /** Whether matches were left out of keys that have windows all the same. */
  const cuts = (entries: readonly WindowEntry[], taken: readonly WindowEntry[]): boolean => {
    const had = new Set(taken.map(({ key }) => key))
    return entries.some(({ key }) => !had.has(key) && (keys.has(key) || watched.has(key)))
  }

  /** Whether an episode that no longer meets its conditions ends. */
  const mayEnd = (key: string, complete: boolean): boolean => {
    const state = keys.get(key)
    if (ends === undefined || ((state?.entries ?? 0) === 0 && !watched.has(key))) return true
    return allHold(ends, state ?? emptyKeyState(measures), complete, key) === true
  }

  return {
    measures,
    /** Takes over a block of which the outcome is known already. */
    load(block: WindowBlock, entries: readonly WindowEntry[]) {
      compared.put(block, entries, false)
      keys.put(block, entries, false)
    },
    /** Removes what is out of the window at a block, after `load`. */
    settle(now: WindowBlock) {
      const touched = new Set<string>()
      keys.leave(now, touched)
      for (const key of touched) keys.dropEmpty(key)
      compared.settle(now)
    },
    /** Also ends what holds: over missing blocks, nothing is known to have held. */
    setSince(block: WindowBlock) {
      since = block
      wasComplete = undefined
      episodes.setHolding([])
    },
    setOpen: episodes.setOpen,
    /** Keys that hold but have not opened, in the order of the blocks where they began; after `setSince`. */
    setHolding: episodes.setHolding,
    get size() {
      return compared.size ?? keys.size
    },
    /** Also of the windows that are compared with. */
    isComplete: (now: WindowBlock): boolean => isSeen(since, reach, now),
    /** Whether nothing that is missing could change the verdict of a key. */
    isDecided: (key: string, now: WindowBlock): boolean =>
      isSeen(since, reach, now) || verdictOf(key, isSeen(since, within, now)) === true,
    /** The first block of a window with a row, for which rows are still needed. */
    oldest: (): number | undefined => compared.oldest() ?? keys.oldest(),
    named: keys.named,
    /** The newest reading of a key; of windows there is none. */
    latest: (_: string): WindowEntry | undefined => undefined,

    step(
      now: WindowBlock,
      entries: readonly WindowEntry[],
    ): WindowStep & { taken: readonly WindowEntry[]; touched: Set<string> } {
      since ??= now
      const touched = new Set<string>()
      keys.leave(now, touched)
      compared.leave(now, since, touched)
      const fresh = firsts === undefined ? [] : firstValues(entries, firsts, keys)
      const taken = keys.put(now, compared.put(now, entries, true), compared.size === undefined)
      for (const { key } of taken) touched.add(key)
      const isCut = taken.length < entries.length && cuts(entries, taken)
      // As after a missing block: until this one is out of the window, its matches could change what is decided.
      if (isCut) {
        since = { number: now.number + 1, time: now.time }
        compared.leave(now, since, touched)
      }
      const complete = isSeen(since, within, now)
      const isWhole = complete && isSeen(since, reach, now)
      if (complete !== wasComplete || isWhole !== wasWhole)
        for (const all of [keys.keys(), watched, episodes.open]) for (const key of all) touched.add(key)
      wasComplete = complete
      wasWhole = isWhole
      const result: WindowStep = {
        ...noChanges(),
        first: [],
        refused: entries.length - taken.length,
        ...(isCut && { since }),
      }
      for (const key of touched) {
        const verdict = firsts === undefined ? verdictOf(key, complete) : undefined
        episodes.decide(key, verdict, now, () => mayEnd(key, complete), result)
        keys.dropEmpty(key)
      }
      compared.dropEmpty(touched)
      if (hold !== undefined) episodes.openHeld(now, result)
      if (firsts !== undefined && complete)
        for (const one of fresh)
          if (keys.has(one.key) && allHold(tests, keys.get(one.key)!, complete, one.key) === true)
            result.first.push(one)
      return { ...result, taken, touched }
    },

    /** Values of the conditions of a key, and its number of matches. */
    show(key: string): { conditions: ShownCondition[]; matches: number } {
      const state = keys.get(key) ?? emptyKeyState(measures)
      return { conditions: tests.map(({ show }) => show(state)), matches: state.count }
    },
  }
}

/** Keys that have a window although nothing matched. */
export const watchedKeys = ({ by = [], keys = [] }: WindowSpec): string[] =>
  by.length === 0 ? ['[]'] : keys.map(key => JSON.stringify([canonicalKey(key)]))

/** Hex is equal in any letter case. */
export const canonicalKey = (text: string): string => keptText(/^0x[\da-f]*$/i.test(text) ? text.toLowerCase() : text)

/** Texts, such as the input of a transaction, may be as long as a block: of long ones a hash is kept. */
export const keptText = (text: string): string => (text.length <= MAX_KEPT_TEXT ? text : `keccak256:${keccakHex(text)}`)
const MAX_KEPT_TEXT = 100

const placeOfFirst = (
  conditions: readonly WindowCondition[],
  measures: readonly WindowMeasure[],
): number | undefined => {
  const first = conditions.find(({ aggregate }) => aggregate === 'First')
  return first && placeOf(first, measures)
}

const placeOf = (condition: WindowCondition, measures: readonly WindowMeasure[]): number => {
  const { kind, name } = measureOf(condition)!
  return measures.findIndex(measure => measure.kind === kind && measure.name === name)
}

const firstValues = (
  entries: readonly WindowEntry[],
  place: number,
  keys: { get(key: string): KeyState | undefined },
) =>
  entries.flatMap(({ key, parts }) => {
    const part = keys.get(key)?.parts[place]
    const known = part?.kind === 'distinct' ? part.texts : undefined
    return (parts[place] as { of: string[] }).of.filter(text => !known?.has(text)).map(value => ({ key, value }))
  })

interface ConditionTest {
  /** Undefined: more matches could change it. */
  holds(state: KeyState, complete: boolean, key: string): boolean | undefined
  show(state: KeyState): ShownCondition
}

const allHold = (
  tests: readonly ConditionTest[],
  state: KeyState,
  complete: boolean,
  key: string,
): boolean | undefined => {
  let all: boolean | undefined = true
  for (const test of tests) {
    const holds = test.holds(state, complete, key)
    if (holds === false) return false
    if (holds === undefined) all = undefined
  }
  return all
}

const OPERATOR_TESTS: Readonly<Record<WindowOperator, (order: number) => boolean>> = {
  Greater: order => order > 0,
  'Greater or Equal': order => order >= 0,
  Less: order => order < 0,
  'Less or Equal': order => order <= 0,
  Equals: order => order === 0,
}

/** Whether a condition on what is empty would hold: absence. */
export const holdsForNone = ({ aggregate, operator, value, relativeTo }: WindowCondition): boolean => {
  if (relativeTo !== undefined) return operator !== 'Greater' && operator !== 'Greater or Equal'
  const bound = parseExact(value ?? '')
  if (operator === undefined || bound === undefined || !['Count', 'Sum', 'Distinct'].includes(aggregate)) return false
  return OPERATOR_TESTS[operator](compareExact(exactOf(0n), bound))
}

const compileCondition = (
  condition: WindowCondition,
  measures: readonly WindowMeasure[],
  comparedWith: ReturnType<typeof createComparedWindows>['of'],
): ConditionTest => {
  const { aggregate, name, operator, value, relativeTo } = condition
  const place = aggregate === 'Count' ? -1 : placeOf(condition, measures)
  const named = { aggregate, ...(name !== undefined && { name }) }
  const texts = (state: KeyState) => (state.parts[place] as Extract<PartState, { kind: 'distinct' }>).texts
  if (aggregate === 'First')
    return {
      holds: (_, complete) => (complete ? true : undefined),
      show: state => ({ ...named, value: String(texts(state).size) }),
    }
  const bound = parseExact(value!)!
  const sumOf = (state: KeyState) => state.parts[place] as Extract<PartState, { kind: 'sum' }>
  const numberOf = (state: KeyState): Exact | undefined => {
    if (aggregate === 'Count') return exactOf(BigInt(state.count))
    if (aggregate === 'Distinct') return exactOf(BigInt(texts(state).size))
    if (aggregate === 'Sum' || aggregate === 'Average') return sumOf(state).sum
    return (state.parts[place] as Extract<PartState, { queue: unknown }>).queue[0]?.value
  }
  /** Of an average, both sides times the number of values. */
  const orderOf = (state: KeyState): number | undefined => {
    const found = numberOf(state)
    if (aggregate !== 'Average') return found && compareExact(found, bound)
    const { values } = sumOf(state)
    return values === 0 ? undefined : compareExact(found!, { ...bound, digits: bound.digits * BigInt(values) })
  }
  /** The direction in which more matches can move the value; 0 for both. */
  const growsIn = (state: KeyState): -1 | 0 | 1 => {
    if (aggregate === 'Average') return 0
    if (aggregate === 'Sum') return sumOf(state).signed === 0 ? 1 : 0
    return aggregate === 'Minimum' ? -1 : 1
  }
  const test = OPERATOR_TESTS[operator!]
  /** Both sides times the number of windows; `all`: of them and this one. */
  const isBeyondMean = (state: KeyState, all: KeyState, windows: number): boolean => {
    const [now, whole] = [numberOf(state)!, numberOf(all)!]
    const before = { digits: whole.digits, scale: whole.scale }
    addExact(before, { digits: -now.digits, scale: now.scale })
    const factor = (number: Exact, by: Exact): Exact => ({
      digits: number.digits * by.digits,
      scale: number.scale + by.scale,
    })
    return test(compareExact(factor(now, exactOf(BigInt(windows))), factor(before, bound)))
  }
  return {
    holds(state, complete, key) {
      if (relativeTo) {
        const all = comparedWith(relativeTo.windows, key)
        return all && isBeyondMean(state, all, relativeTo.windows)
      }
      const order = orderOf(state)
      if (complete) return order !== undefined && test(order)
      const grows = growsIn(state)
      // Only what is beyond the bound already stays there.
      if (order === undefined || grows === 0) return undefined
      const isBeyond = order * grows > 0
      if (isBeyond) return test(order)
      return order === 0 && operator !== 'Equals' && test(order) === test(grows) ? test(order) : undefined
    },
    show(state) {
      const found = numberOf(state)
      if (aggregate !== 'Average') return { ...named, value: found ? showExact(simplifyExact(found)) : null }
      const { sum, values } = sumOf(state)
      if (values === 0) return { ...named, value: null }
      const shown = { digits: (sum.digits * 10n ** 18n) / BigInt(values), scale: sum.scale + 18 }
      return { ...named, value: showExact(simplifyExact(shown)) }
    },
  }
}
