import type { Exact } from '../query/ast.ts'
import { compareExact, exactOf, parseExact, showExact, simplifyExact } from '../query/exact.ts'
import { type Entry, type EntryPart, MAX_NAMED } from './entries.ts'
import {
  type Measure,
  measureOf,
  measuresOf,
  type WindowCondition,
  type WindowOperator,
  type WindowSpec,
} from './spec.ts'
import { addExact, type Sum, subtractExact } from './sums.ts'

export interface WindowBlock {
  number: number
  /** Epoch seconds. */
  time: number
}

export interface ShownCondition {
  aggregate: WindowCondition['aggregate']
  name?: string
  /** Of an average, 18 digits after the point; null if there are no values. */
  value: string | null
}

/** What a block changes. */
export interface WindowStep {
  /** Keys that now meet all conditions, and had none open. */
  opened: string[]
  /** Keys whose episode ends. */
  ended: string[]
  /** Values that are first in their window. */
  first: { key: string; value: string }[]
  /** Keys that had no room. */
  refused: number
}

export interface WindowLimits {
  keys: number
  rows: number
}

type PartState =
  | { kind: 'sum'; sum: Sum; signed: number }
  /** Values that may become the bound, the bound first. */
  | { kind: 'least' | 'greatest'; queue: { block: number; value: Exact }[] }
  | { kind: 'distinct'; texts: Map<string, number> }

interface KeyState {
  count: number
  entries: number
  parts: PartState[]
}

export type Window = ReturnType<typeof createWindow>

/**
 * The windows of a rule, one for each key. Blocks come in their order. Nothing else decides: the
 * same blocks give the same episodes. `since`: the first block of which all matches are known;
 * while a window reaches further back, only what more matches could not undo is decided.
 */
export const createWindow = (spec: WindowSpec, limits: WindowLimits) => {
  const { within, conditions, resolve } = spec
  const measures = measuresOf(spec)
  const tests = conditions.map(condition => compileCondition(condition, measures))
  const ends = resolve?.map(condition => compileCondition(condition, measures))
  const firsts = placeOfFirst(conditions, measures)
  const watched = new Set(watchedKeys(spec))
  const keys = new Map<string, KeyState>()
  const open = new Set<string>()
  let blocks: { block: WindowBlock; entries: readonly Entry[] }[] = []
  let head = 0
  let rows = 0
  let since: WindowBlock | undefined
  /** Undefined before the first block, which decides on all keys. */
  let wasComplete: boolean | undefined

  const isOut = (row: WindowBlock, now: WindowBlock): boolean =>
    within.blocks !== undefined ? row.number <= now.number - within.blocks : row.time <= now.time - within.seconds!
  const isComplete = (now: WindowBlock): boolean => {
    if (since === undefined) return false
    if (since.number === 0) return true
    return within.blocks !== undefined
      ? since.number <= Math.max(0, now.number - within.blocks + 1)
      : since.time <= now.time - within.seconds!
  }

  const stateOf = (key: string, mayRefuse: boolean): KeyState | undefined => {
    const known = keys.get(key)
    if (known || (mayRefuse && (keys.size >= limits.keys || rows >= limits.rows))) return known
    const fresh: KeyState = { count: 0, entries: 0, parts: measures.map(emptyState) }
    keys.set(key, fresh)
    return fresh
  }

  /** Returns the entries that had room. */
  const put = (block: WindowBlock, entries: readonly Entry[], mayRefuse: boolean): Entry[] => {
    const taken: Entry[] = []
    for (const entry of entries) {
      const state = stateOf(entry.key, mayRefuse)
      if (state === undefined) continue
      rows++
      state.count += entry.count
      state.entries++
      for (let i = 0; i < measures.length; i++) addPart(state.parts[i]!, entry.parts[i]!, block.number)
      taken.push(entry)
    }
    if (taken.length > 0) blocks.push({ block, entries: taken })
    return taken
  }

  const leave = (now: WindowBlock, touched: Set<string>) => {
    for (; head < blocks.length && isOut(blocks[head]!.block, now); head++) {
      const { block, entries } = blocks[head]!
      rows -= entries.length
      for (const entry of entries) {
        touched.add(entry.key)
        const state = keys.get(entry.key)!
        state.count -= entry.count
        state.entries--
        for (let i = 0; i < measures.length; i++) removePart(state.parts[i]!, entry.parts[i]!, block.number)
      }
    }
    if (head > 1_000 && head * 2 > blocks.length) {
      blocks = blocks.slice(head)
      head = 0
    }
  }

  const verdictOf = (key: string, complete: boolean): boolean | undefined => {
    const state = keys.get(key) ?? EMPTY(measures)
    if (state.entries === 0 && !watched.has(key)) return complete ? false : undefined
    return allOf(tests, state, complete)
  }

  /** Whether an episode that no longer meets its conditions ends. */
  const mayEnd = (key: string, complete: boolean): boolean => {
    const state = keys.get(key)
    if (ends === undefined || ((state?.entries ?? 0) === 0 && !watched.has(key))) return true
    return allOf(ends, state ?? EMPTY(measures), complete) === true
  }

  return {
    measures,
    /** Takes over a block of which the outcome is known already. */
    load: (block: WindowBlock, entries: readonly Entry[]) => void put(block, entries, false),
    /** Removes what is out of the window at a block, after `load`. */
    settle(now: WindowBlock) {
      const touched = new Set<string>()
      leave(now, touched)
      for (const key of touched) if (keys.get(key)!.entries === 0) keys.delete(key)
    },
    setSince(block: WindowBlock) {
      since = block
      wasComplete = undefined
    },
    setOpen(all: Iterable<string>) {
      open.clear()
      for (const key of all) open.add(key)
    },
    get size() {
      return { keys: keys.size, rows }
    },
    isComplete,
    /** The first block of a window with a row, for which rows are still needed. */
    oldest: (): number | undefined => blocks[head]?.block.number,

    step(now: WindowBlock, entries: readonly Entry[]): WindowStep & { taken: Entry[] } {
      since ??= now
      const touched = new Set<string>()
      leave(now, touched)
      const fresh = firsts === undefined ? [] : firstValues(entries, firsts, keys)
      const taken = put(now, entries, true)
      for (const { key } of taken) touched.add(key)
      const complete = isComplete(now)
      if (complete !== wasComplete)
        for (const all of [keys.keys(), watched, open]) for (const key of all) touched.add(key)
      wasComplete = complete
      const result: WindowStep = { opened: [], ended: [], first: [], refused: entries.length - taken.length }
      for (const key of touched) {
        const verdict = firsts === undefined ? verdictOf(key, complete) : undefined
        if (verdict === true && !open.has(key)) {
          open.add(key)
          result.opened.push(key)
        } else if (verdict === false && open.has(key) && mayEnd(key, complete)) {
          open.delete(key)
          result.ended.push(key)
        }
        if (keys.get(key)?.entries === 0) keys.delete(key)
      }
      if (firsts !== undefined && complete)
        for (const one of fresh)
          if (keys.has(one.key) && allOf(tests, keys.get(one.key)!, complete) === true) result.first.push(one)
      return { ...result, taken }
    },

    /** Values of the conditions of a key, and its number of matches. */
    show(key: string): { conditions: ShownCondition[]; matches: number } {
      const state = keys.get(key) ?? EMPTY(measures)
      return { conditions: tests.map(({ show }) => show(state)), matches: state.count }
    },

    /** The first matches of keys, and the block of the first: one look at all rows. */
    named(wanted: Iterable<string>): Map<string, { ids: string[]; from: number | undefined }> {
      const found = new Map(
        [...wanted].map(key => [key, { ids: [] as string[], from: undefined as number | undefined }]),
      )
      if (found.size === 0) return found
      for (let i = head; i < blocks.length; i++) {
        const { block, entries } = blocks[i]!
        for (const { key, ids } of entries) {
          const one = found.get(key)
          if (one === undefined) continue
          one.from ??= block.number
          if (one.ids.length < MAX_NAMED) one.ids.push(...ids.slice(0, MAX_NAMED - one.ids.length))
        }
      }
      return found
    },
  }
}

/** Keys that have a window although nothing matched. */
export const watchedKeys = ({ by = [], keys = [] }: WindowSpec): string[] =>
  by.length === 0 ? ['[]'] : keys.map(key => JSON.stringify([canonicalKey(key)]))

/** Hex is equal in any letter case. */
export const canonicalKey = (text: string): string => (/^0x[\da-f]*$/i.test(text) ? text.toLowerCase() : text)

const emptyState = ({ kind }: Measure): PartState =>
  kind === 'sum'
    ? { kind, sum: { digits: 0n, scale: 0, values: 0 }, signed: 0 }
    : kind === 'distinct'
      ? { kind, texts: new Map() }
      : { kind, queue: [] }

const EMPTY = (measures: readonly Measure[]): KeyState => ({ count: 0, entries: 0, parts: measures.map(emptyState) })

const exactIn = (part: readonly (string | number)[]): Exact => ({ digits: BigInt(part[0]!), scale: Number(part[1]) })

const addPart = (state: PartState, part: EntryPart, block: number) => {
  if (part === null) return
  if (state.kind === 'distinct') {
    for (const text of (part as { of: string[] }).of) state.texts.set(text, (state.texts.get(text) ?? 0) + 1)
    return
  }
  const value = exactIn(part as [string, number])
  if (state.kind === 'sum') {
    addExact(state.sum, value)
    state.sum.values += Number((part as unknown[])[2])
    state.signed += Number((part as unknown[])[3])
    return
  }
  const sign = state.kind === 'least' ? -1 : 1
  while (state.queue.length > 0 && compareExact(value, state.queue.at(-1)!.value) * sign >= 0) state.queue.pop()
  state.queue.push({ block, value })
}

const removePart = (state: PartState, part: EntryPart, block: number) => {
  if (part === null) return
  if (state.kind === 'distinct')
    for (const text of (part as { of: string[] }).of) {
      const left = state.texts.get(text)! - 1
      if (left === 0) state.texts.delete(text)
      else state.texts.set(text, left)
    }
  else if (state.kind === 'sum') {
    subtractExact(state.sum, exactIn(part as [string, number]))
    state.sum.values -= Number((part as unknown[])[2])
    state.signed -= Number((part as unknown[])[3])
  } else if (state.queue[0]?.block === block) state.queue.shift()
}

const placeOfFirst = (conditions: readonly WindowCondition[], measures: readonly Measure[]): number | undefined => {
  const first = conditions.find(({ aggregate }) => aggregate === 'First')
  return first && placeOf(first, measures)
}

const placeOf = (condition: WindowCondition, measures: readonly Measure[]): number => {
  const { kind, name } = measureOf(condition)!
  return measures.findIndex(measure => measure.kind === kind && measure.name === name)
}

const firstValues = (entries: readonly Entry[], place: number, keys: ReadonlyMap<string, KeyState>) =>
  entries.flatMap(({ key, parts }) => {
    const part = keys.get(key)?.parts[place]
    const known = part?.kind === 'distinct' ? part.texts : undefined
    return (parts[place] as { of: string[] }).of.filter(text => !known?.has(text)).map(value => ({ key, value }))
  })

interface ConditionTest {
  /** Undefined: more matches could change it. */
  holds(state: KeyState, complete: boolean): boolean | undefined
  show(state: KeyState): ShownCondition
}

const allOf = (tests: readonly ConditionTest[], state: KeyState, complete: boolean): boolean | undefined => {
  let all: boolean | undefined = true
  for (const test of tests) {
    const holds = test.holds(state, complete)
    if (holds === false) return false
    if (holds === undefined) all = undefined
  }
  return all
}

const ORDERS: Readonly<Record<WindowOperator, (order: number) => boolean>> = {
  Greater: order => order > 0,
  'Greater or Equal': order => order >= 0,
  Less: order => order < 0,
  'Less or Equal': order => order <= 0,
  Equals: order => order === 0,
}

/** Whether a condition on what is empty would hold: absence. */
export const holdsForNone = ({ aggregate, operator, value }: WindowCondition): boolean => {
  const bound = parseExact(value ?? '')
  if (operator === undefined || bound === undefined || !['Count', 'Sum', 'Distinct'].includes(aggregate)) return false
  return ORDERS[operator](compareExact(exactOf(0n), bound))
}

const compileCondition = (condition: WindowCondition, measures: readonly Measure[]): ConditionTest => {
  const { aggregate, name, operator, value } = condition
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
    const { values } = sumOf(state).sum
    return values === 0 ? undefined : compareExact(found!, { ...bound, digits: bound.digits * BigInt(values) })
  }
  /** The direction in which more matches can move the value; 0 for both. */
  const growsIn = (state: KeyState): -1 | 0 | 1 => {
    if (aggregate === 'Average') return 0
    if (aggregate === 'Sum') return sumOf(state).signed === 0 ? 1 : 0
    return aggregate === 'Minimum' ? -1 : 1
  }
  const test = ORDERS[operator!]
  return {
    holds(state, complete) {
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
      const { digits, scale, values } = sumOf(state).sum
      if (values === 0) return { ...named, value: null }
      const shown = { digits: (digits * 10n ** 18n) / BigInt(values), scale: scale + 18 }
      return { ...named, value: showExact(simplifyExact(shown)) }
    },
  }
}
