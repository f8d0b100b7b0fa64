import type { WindowEntry } from './entries.ts'
import { createRuleSequence, isUndone, type SequenceShape, type StepMatch } from './sequence.ts'
import { reachOf, type ShownCondition, type WindowSpec, windowsLong } from './spec.ts'
import { createRuleWindow, type WindowBlock } from './window.ts'

/** A block of one of several networks; `time` never decreases within one of them. */
export interface NetworkBlock extends WindowBlock {
  /** Its path. */
  network: string
}

/** In a row: matches are not known after its block and before another one, of this number and time. */
export interface UnseenUntil {
  gap: number
  until: number
}

/** What a rule found in a block of one of its networks. */
export interface MergedRow<Row> {
  block: NetworkBlock
  entries: (Row | UnseenUntil)[]
}

/** `last`: id of the last match of the entry. */
export type MergedEntry = WindowEntry & { last: string }

/** An episode that begins, or a match of its own, which has no end. */
export interface MergedOpening {
  /** Tells it apart from others that open in the same block. */
  key: string
  at: NetworkBlock
  /** Absent if the block has no match of the key. */
  last?: string
  /** The key of an episode, which ends. */
  episode?: string
  shown: ShownOpening
}

export interface ShownOpening {
  key: string
  first?: { name: string; value: string }
  fromTime: number
  conditions: ShownCondition[]
  matches: number
  ids: string[]
  steps?: { network: string; block: number; id: string }[]
}

export interface MergedEnd {
  key: string
  at: NetworkBlock
  conditions: ShownCondition[]
}

/** In the order of the blocks. */
export type MergedEvent = { opened: MergedOpening } | { ended: MergedEnd }

export interface MergeOptions {
  /** Nothing before it is decided, and of rows before it those in a window are loaded. */
  start: number
  /** From when on all matches are known; 0: of all time. */
  since: number
  /** The first block of any network, in their order, from a time on; the times asked for never decrease. */
  firstAt(time: number): NetworkBlock | undefined
  firstAfter(block: NetworkBlock): NetworkBlock | undefined
}

interface MergedRule<Row> {
  /** Seconds after a row at which it may change what holds. */
  spans: number[]
  load(now: WindowBlock, block: NetworkBlock, entries: readonly Row[]): void
  settle(now: WindowBlock): void
  /** Returns the time at which something may change because of it, if it is not that of a span. */
  step(now: WindowBlock, block: NetworkBlock, entries: readonly Row[], to: MergedEvent[]): number | undefined
  /** Nothing is known after a block and before another one, which may come in the same second. */
  skip(now: WindowBlock, next: NetworkBlock): void
}

export const comesBeforeBlock = (a: NetworkBlock, b: NetworkBlock): boolean =>
  a.time !== b.time ? a.time < b.time : a.network !== b.network ? a.network < b.network : a.number < b.number

/**
 * Decides a rule over the blocks of several networks, in the order of their times; at the same time,
 * networks come by their names. Blocks at which nothing can change are left out.
 */
const createMerge = <Row extends object>(
  { spans, load, settle, step, skip }: MergedRule<Row>,
  { start, since, firstAt, firstAfter }: MergeOptions,
) => {
  const numberOf = createBlockNumbers()
  const firstDues = spans.map(span => since + span).filter(due => due > start)
  const dues = [[start, ...firstDues.sort((a, b) => a - b)], ...[...spans, 0].map((): number[] => [])]
  const heads = dues.map(() => 0)
  /** A gap follows: what holds all the same is decided with the next block. */
  let gapAfter: NetworkBlock | undefined

  const noteRow = (time: number) => {
    for (const [i, span] of spans.entries()) if (time + span > start) addInOrder(dues[i + 1]!, time + span)
  }
  const noteGaps = (now: WindowBlock, block: NetworkBlock, entries: readonly (Row | UnseenUntil)[]) => {
    for (const entry of entries) {
      if (!isUnseen(entry)) continue
      skip(now, { network: block.network, number: entry.gap, time: entry.until })
      noteRow(entry.until)
      gapAfter = block
    }
  }
  /** The next time at which something may change without a row. */
  const nextDue = () => Math.min(...dues.map((all, i) => all[heads[i]!] ?? Number.POSITIVE_INFINITY))
  const passDues = (time: number) => {
    for (const [i, all] of dues.entries()) {
      let head = heads[i]!
      while (head < all.length && all[head]! <= time) head++
      if (head > 1_000) {
        all.splice(0, head)
        head = 0
      }
      heads[i] = head
    }
  }
  const take = (block: NetworkBlock, entries: readonly (Row | UnseenUntil)[], to: MergedEvent[]) => {
    const now = { number: numberOf(block.time), time: block.time }
    gapAfter = undefined
    const due = step(now, block, entries.filter(isMatch), to)
    passDues(block.time)
    if (due !== undefined) addInOrder(dues.at(-1)!, due)
    if (entries.length > 0) noteRow(block.time)
    noteGaps(now, block, entries)
  }

  return {
    /** Takes over rows before the start, in their order. */
    load(rows: readonly MergedRow<Row>[]) {
      for (const { block, entries } of rows) {
        const now = { number: numberOf(block.time), time: block.time }
        load(now, block, entries.filter(isMatch))
        noteRow(block.time)
        noteGaps(now, block, entries)
      }
    },
    /** After `load`. `last`: the time of the last block before the start. */
    settle(last: number) {
      settle({ number: numberOf(last), time: last })
      gapAfter = undefined
    },
    /** Goes on with all blocks before a time, of which these rows come next. */
    advance(rows: readonly MergedRow<Row>[], until: number): MergedEvent[] {
      const events: MergedEvent[] = []
      for (let i = 0; ; ) {
        const row = rows[i]
        const due = nextDue()
        const next = gapAfter && firstAfter(gapAfter)
        const block = next ?? (due < until && due <= (row?.block.time ?? until) ? firstAt(due) : undefined)
        if (block && block.time < until && (row === undefined || comesBeforeBlock(block, row.block)))
          take(block, [], events)
        else if (row === undefined) return events
        else {
          take(row.block, row.entries, events)
          i++
        }
      }
    },
  }
}

export const isUnseen = (entry: object): entry is UnseenUntil => 'gap' in entry
const isMatch = <Row extends object>(entry: Row | UnseenUntil): entry is Row => !isUnseen(entry)

/** Nearly always at the end. */
const addInOrder = (numbers: number[], one: number) => {
  let at = numbers.length
  while (at > 0 && numbers[at - 1]! > one) at--
  numbers.splice(at, 0, one)
}

export interface MergedReplay<Row extends object> extends ReturnType<typeof createMerge<Row>> {
  /** Sets which episodes are open. */
  setOpen?(keys: readonly string[]): void
}

/** Room for blocks of one second in a number. */
const NUMBERS_OF_SECOND = 2 ** 20
const secondOf = (number: number): number => Math.floor(number / NUMBERS_OF_SECOND)

/** Numbers blocks in their order, so that a number tells its second. */
const createBlockNumbers = () => {
  let last = 0
  return (time: number): number => {
    last = Math.max(last + 1, time * NUMBERS_OF_SECOND)
    return last
  }
}

/** What is stored is what decides: limits apply before. */
const WITHOUT_LIMITS = { keys: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY }

/** `open`: keys of the episodes that are open at the start. `isShown`: whether alerts of a network are to be shown. */
export const createMergedWindow = (
  spec: WindowSpec,
  { open, isShown, ...options }: MergeOptions & { open: Iterable<string>; isShown(network: string): boolean },
): MergedReplay<MergedEntry> => {
  const window = createRuleWindow(spec, WITHOUT_LIMITS)
  const seconds = spec.within.seconds!
  const compared = [...spec.conditions, ...(spec.resolve ?? [])].flatMap(it => it.relativeTo?.windows ?? [])
  const nameOfFirst = spec.conditions.find(({ aggregate }) => aggregate === 'First')?.name
  window.setSince({ number: options.since === 0 ? 0 : 1, time: options.since })
  window.setOpen(open)
  const holding = new Map<string, WindowBlock>()
  let seenFrom = options.since
  const merged: MergedRule<MergedEntry> = {
    spans: [seconds, ...new Set(compared)].map((it, i) => (i === 0 ? it : windowsLong(spec.within, it + 1).seconds!)),
    load: (now, _, entries) => window.load(now, entries),
    settle: window.settle,
    skip(now, { time }) {
      // Blocks of several networks may be missing at a time.
      seenFrom = Math.max(seenFrom, time)
      window.setSince({ number: now.number + 1, time: seenFrom })
      holding.clear()
    },
    step(now, at, entries, to) {
      const { opened, ended, first, began, broke } = window.step(now, entries)
      for (const key of began) holding.set(key, now)
      for (const keys of [broke, opened]) for (const key of keys) holding.delete(key)
      const shown = isShown(at.network)
      const named = shown ? window.named([...opened, ...first.map(({ key }) => key)]) : undefined
      const lasts =
        shown && opened.length + first.length > 0 ? new Map(entries.map(({ key, last }) => [key, last])) : undefined
      const opening = (key: string, value?: string): MergedOpening => {
        const { conditions, matches } = window.show(key)
        const { ids = [], from } = named?.get(key) ?? {}
        const last = lasts?.get(key)
        return {
          ...{ key: value === undefined ? key : `${key}${JSON.stringify(value)}`, at },
          ...(last !== undefined && { last }),
          ...(value === undefined && { episode: key }),
          shown: {
            ...{ key, fromTime: from === undefined ? now.time : secondOf(from), conditions, matches, ids },
            ...(value !== undefined && { first: { name: nameOfFirst!, value } }),
          },
        }
      }
      for (const key of ended) to.push({ ended: { key, at, conditions: window.show(key).conditions } })
      for (const key of opened) to.push({ opened: opening(key) })
      for (const { key, value } of first) to.push({ opened: opening(key, value) })
      return began.length > 0 ? now.time + spec.hold!.seconds! : undefined
    },
  }
  return {
    ...createMerge(merged, options),
    setOpen(keys) {
      window.setOpen(keys)
      for (const key of keys) holding.delete(key)
      window.setHolding(holding)
    },
  }
}

/** How many seconds back a rule over several networks looks. */
export const secondsBack = (of: WindowSpec | SequenceShape): number =>
  ('conditions' in of ? reachOf(of) : of.within).seconds!

/** `unseen`: where blocks end that were not seen and begin before its rows. */
export const createMergedSequence = (
  shape: SequenceShape,
  { unseen, ...options }: MergeOptions & { unseen: readonly NetworkBlock[] },
): MergedReplay<StepMatch> => {
  const sequence = createRuleSequence(shape, WITHOUT_LIMITS)
  const placed = ({ number, network }: Omit<NetworkBlock, 'time'>, matches: readonly StepMatch[]) =>
    matches.map(match => ({ ...match, id: `${network}\n${number}\n${match.id}` }))
  /** Up to there, what ends a sequence may have come unseen. */
  let blind = [...unseen].sort((a, b) => (comesBeforeBlock(a, b) ? -1 : 1)).at(-1)
  const isBlind = (at: NetworkBlock) => isUndone(shape) && blind !== undefined && comesBeforeBlock(at, blind)
  return createMerge<StepMatch>(
    {
      spans: [shape.within.seconds!],
      load(now, at, matches) {
        if (!isBlind(at)) sequence.load(now, placed(at, matches))
      },
      settle: sequence.settle,
      skip(_, next) {
        if (blind === undefined || comesBeforeBlock(blind, next)) blind = next
        sequence.skip()
      },
      step(now, at, matches, to) {
        if (isBlind(at)) return
        for (const { key, steps, last } of sequence.step(now, placed(at, matches)).found) {
          const places = steps.map(({ id }) => {
            const [network, block, _id] = id.split('\n') as [string, string, string]
            return { network, block: Number(block), id: _id }
          })
          const [first] = places as [(typeof places)[number]]
          const opened: MergedOpening = {
            ...{ key: `${key} ${first.network} ${first.block} ${first.id}`, at },
            ...(last !== undefined && { last: matches[last]!.id }),
            shown: {
              ...{ key, fromTime: secondOf(steps[0]!.block), conditions: [], matches: steps.length },
              ...{ ids: places.map(({ id }) => id), steps: places },
            },
          }
          to.push({ opened })
        }
        return undefined
      },
    },
    options,
  )
}
