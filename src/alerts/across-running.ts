import type { Kind } from '../mapping/index.ts'
import type { Confirmations, TargetType } from '../rules/rule.ts'
import {
  comesBeforeBlock,
  createMergedSequence,
  createMergedWindow,
  isUnseen,
  type MergedEvent,
  type MergedReplay,
  type MergedRow,
  type NetworkBlock,
  secondsBack,
} from '../windows/merged.ts'
import { isUndone, type SequenceShape } from '../windows/sequence.ts'
import type { WindowSpec } from '../windows/spec.ts'
import type { AcrossReader, SeenBlock } from './across-reader.ts'
import type { WindowState } from './window-tables.ts'

/** A rule over several networks, as one of them decides it. */
export interface DecidedRule {
  rule: number
  /** `matching` of the rule. */
  revision: number
  /** The network whose alerts are wanted. */
  own: string
  /** Paths of all networks, sorted. */
  networks: readonly string[]
  of: WindowSpec | SequenceShape
  by: string[]
  targetType: TargetType
  /** Of the document of a match. */
  kind: Kind
  confirmations: Confirmations
  notifyPending: boolean
  /** Alerts that its sequences may make in one block. */
  most: number
}

export interface SeenNetwork {
  network: string
  reader: AcrossReader
  state: WindowState
}

/** How far the blocks of a network are taken. */
interface NetworkCursor {
  /** The last block whose rows are. */
  row: number
  /** The first one that is still to be looked at. */
  scan: number
  found?: NetworkBlock
  /** To notice a reorganisation. */
  head: SeenBlock
}

export interface RunningDecision {
  since: number
  /** Rows of before this moment were forgotten when it began. */
  kept: number
  /** Rows of before this moment are taken. */
  from: number
  /** Rows of before this moment decide nothing: they are in the windows. */
  start: number
  /** What comes before this moment is told. */
  tells: number
  merged: MergedReplay<object>
  cursors: Map<string, NetworkCursor>
  /** Open episodes by their keys: own alerts, and undefined for those of other networks. */
  open: Map<string, string | undefined>
  /** Up to where the last gap goes. */
  gapUntil: number
  /** Sequences of this network that made no alerts, since their blocks had too many. */
  untold: number
}

/**
 * Takes up a rule at a moment before which all is told. With `hold`, what held then is not known: it has
 * opened once `hold` has passed.
 */
export const beginDecision = (
  rule: DecidedRule,
  all: readonly SeenNetwork[],
  { since, start, kept }: Pick<RunningDecision, 'since' | 'start' | 'kept'>,
): RunningDecision => {
  const { of, own } = rule
  const first = 'steps' in of && isUndone(of) ? since : start - secondsBack(of) + 1
  const cursors = new Map(
    all.map(({ network, reader, state }): [string, NetworkCursor] => {
      const [row, scan] = [first, start].map(time => firstFrom(reader, state, time)) as [number, number]
      return [network, { row: row - 1, scan, head: reader.seenBlock(state.upto) }]
    }),
  )
  const open = openAt(rule, all, start)
  const unseen = all.flatMap(({ network, reader }) => {
    const below = reader.first(cursors.get(network)!.row + 1)?.number ?? Number.MAX_SAFE_INTEGER
    const gaps = reader.lastEntries<object>(rule.rule, below, first).filter(isUnseen)
    return gaps.map(({ gap: number, until: time }): NetworkBlock => ({ network, number, time }))
  })
  const options = {
    ...{ start, since: Math.max(since, ...unseen.map(({ time }) => time)) },
    firstAt: (time: number) => firstOfAll(all, cursors, time),
    firstAfter: (block: NetworkBlock) => firstAfterBlock(all, cursors, block),
  }
  const merged = (
    'conditions' in of
      ? createMergedWindow(of, { ...options, open: open.keys(), isShown: network => network === own })
      : createMergedSequence(of, { ...options, unseen })
  ) as MergedReplay<object>
  const hold = holdOf(rule)
  const tells = hold === 0 || start === since ? start : (options.firstAt(start)?.time ?? start) + hold
  return {
    ...{ since, kept, from: Math.min(first, start), start, tells, merged, cursors, open },
    ...{ gapUntil: options.since, untold: 0 },
  }
}

const openAt = ({ rule, revision, own }: DecidedRule, all: readonly SeenNetwork[], time: number) =>
  new Map(
    all.flatMap(({ network, reader }) =>
      reader
        .open(rule, revision, time)
        .map(({ key, id }): [string, string | undefined] => [key, network === own ? id : undefined]),
    ),
  )

/**
 * Goes on up to a moment, or a part of the way, with rows of about so many characters. Returns what there is to
 * be told; undefined while it gets ready.
 */
export const advanceDecision = (
  rule: DecidedRule,
  running: RunningDecision,
  all: readonly SeenNetwork[],
  { until, most }: { until: number; most: number },
): MergedEvent[] | undefined => {
  const { from, start, tells, merged, cursors } = running
  const goal = Math.min(until, from < start ? start : from < tells ? tells : until)
  const { rows, end } = nextRows(rule, running, all, { times: [from, goal], most })
  const gaps = rows.flatMap(({ entries }) => entries.filter(isUnseen))
  running.gapUntil = Math.max(running.gapUntil, ...gaps.map(it => it.until))
  running.from = Math.max(from, end)
  for (const { network, reader, state } of all) cursors.get(network)!.head = reader.seenBlock(state.upto)
  if (from < start) {
    merged.load(rows)
    const before = all.map(({ network, reader }) => reader.timeOf(cursors.get(network)!.scan - 1))
    if (end === start) merged.settle(Math.max(0, ...before))
    return undefined
  }
  const events = end > from ? merged.advance(rows, end) : []
  if (from >= tells) return events
  if (end === tells) {
    running.open = openAt(rule, all, tells)
    merged.setOpen!([...running.open.keys()])
  }
  return undefined
}

/** Seconds. */
export const holdOf = ({ of }: DecidedRule): number => ('conditions' in of && of.hold?.seconds) || 0

/** The rows of a range of times, its end excluded, that were not taken yet, or of its first part. */
const nextRows = (
  { rule }: DecidedRule,
  { cursors }: RunningDecision,
  all: readonly SeenNetwork[],
  { times: [from, to], most }: { times: readonly [number, number]; most: number },
): { rows: MergedRow<object>[]; end: number } => {
  if (to <= from) return { rows: [], end: from }
  const read = (to: number, most: number) =>
    all.map(({ network, reader }) => ({ network, ...reader.rows(rule, cursors.get(network)!.row, [from, to], most) }))
  const endOf = (part: ReturnType<typeof read>, to: number) => Math.min(to, ...part.flatMap(({ next }) => next ?? []))
  let part = read(to, most / all.length)
  let end = endOf(part, to)
  if (end === from) {
    // All that is of one second is taken together.
    end = from + 1
    part = read(end, Number.POSITIVE_INFINITY)
  }
  const rows = part.flatMap(({ network, found }) => {
    const taken = found.filter(({ block }) => block.time < end)
    const cursor = cursors.get(network)!
    cursor.row = taken.at(-1)?.block.number ?? cursor.row
    return taken.map(({ block, entries }) => ({
      block: { network, ...block },
      entries: JSON.parse(entries) as object[],
    }))
  })
  return { rows: rows.sort((a, b) => (comesBeforeBlock(a.block, b.block) ? -1 : 1)), end }
}

/** Blocks are in the order of their times; some may be missing. */
export const firstFrom = (reader: AcrossReader, { since, upto }: WindowState, time: number): number => {
  let [low, high] = [since, upto + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((reader.first(middle)?.time ?? Number.POSITIVE_INFINITY) < time) low = middle + 1
    else high = middle
  }
  return low
}

const firstOfAll = (all: readonly SeenNetwork[], cursors: RunningDecision['cursors'], time: number) =>
  firstBlockOf(all.flatMap(({ network, reader }) => firstOfNetwork(cursors.get(network)!, { network, reader }, time)))

const firstAfterBlock = (
  all: readonly SeenNetwork[],
  cursors: RunningDecision['cursors'],
  { network, number, time }: NetworkBlock,
) =>
  firstBlockOf(
    all.flatMap((one): NetworkBlock[] => {
      const { scan } = cursors.get(one.network)!
      const found =
        one.network === network
          ? one.reader.first(number + 1)
          : one.reader.firstAt(scan, one.network > network ? time : time + 1)
      return found ? [{ network: one.network, ...found }] : []
    }),
  )

const firstBlockOf = (blocks: readonly NetworkBlock[]) =>
  blocks.reduce<NetworkBlock | undefined>(
    (first, one) => (first === undefined || comesBeforeBlock(one, first) ? one : first),
    undefined,
  )

const firstOfNetwork = (
  cursor: NetworkCursor,
  { network, reader }: Pick<SeenNetwork, 'network' | 'reader'>,
  time: number,
): NetworkBlock[] => {
  if (cursor.found === undefined || cursor.found.time < time) {
    const found = reader.firstAt(cursor.scan, time)
    // All blocks so far are earlier, and stay so.
    cursor.scan = found?.number ?? Math.max(cursor.scan, reader.newest() + 1)
    if (found) cursor.found = { network, ...found }
    else delete cursor.found
  }
  return cursor.found === undefined ? [] : [cursor.found]
}
