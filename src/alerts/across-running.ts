import type { Kind } from '../mapping/index.ts'
import type { Confirmations, TargetType } from '../rules/rule.ts'
import {
  comesBeforeBlock,
  createMergedSequence,
  createMergedWindow,
  isUnseen,
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
  /** What comes before is decided. */
  from: number
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
 * Takes up a rule at a moment before which rows are known, and all is told. With `hold`, what held then is
 * not known: it has opened once `hold` has passed. Undefined before that.
 */
export const beginDecision = (
  rule: DecidedRule,
  all: readonly SeenNetwork[],
  { since, start, until }: { since: number; start: number; until: number },
): RunningDecision | undefined => {
  const { of, own, revision } = rule
  const cursors = new Map(
    all.map(({ network, reader, state }): [string, NetworkCursor] => {
      const scan = firstFrom(reader, state, start)
      return [network, { row: -1, scan, head: reader.seenBlock(state.upto) }]
    }),
  )
  const openAt = (time: number) =>
    new Map(
      all.flatMap(({ network, reader }) =>
        reader
          .open(rule.rule, revision, time)
          .map(({ key, id }): [string, string | undefined] => [key, network === own ? id : undefined]),
      ),
    )
  const before = all.map(({ network, reader }) => reader.timeOf(cursors.get(network)!.scan - 1))
  const open = openAt(start)
  const first = 'steps' in of && isUndone(of) ? since : start - secondsBack(of) + 1
  const gaps = all.flatMap(({ reader }) => reader.lastEntries<object>(rule.rule, first).filter(isUnseen))
  const options = {
    ...{ start, since: Math.max(since, ...gaps.map(({ until }) => until)) },
    firstAt: (time: number) => firstOfAll(all, cursors, time),
    firstAfter: (block: NetworkBlock) => firstAfterBlock(all, cursors, block),
  }
  const merged = (
    'conditions' in of
      ? createMergedWindow(of, { ...options, open: open.keys(), isShown: network => network === own })
      : createMergedSequence(of, options)
  ) as MergedReplay<object>
  const started: RunningDecision = { since, from: start, merged, cursors, open, gapUntil: options.since, untold: 0 }
  merged.load(nextRows(rule, started, all, [first, start]), Math.max(0, ...before))
  const hold = holdOf(rule)
  if (hold === 0 || start === since) return started
  const from = (options.firstAt(start)?.time ?? until) + hold
  if (from > until) return undefined
  merged.advance(nextRows(rule, started, all, [start, from]), from)
  const openThen = openAt(from)
  merged.setOpen!([...openThen.keys()])
  return { ...started, from, open: openThen }
}

/** Seconds. */
export const holdOf = ({ of }: DecidedRule): number => ('conditions' in of && of.hold?.seconds) || 0

/** The rows of a range of times, its end excluded, that were not taken yet. */
export const nextRows = (
  { rule }: DecidedRule,
  { cursors }: Pick<RunningDecision, 'cursors'>,
  all: readonly SeenNetwork[],
  times: [number, number],
): MergedRow<object>[] =>
  all
    .flatMap(({ network, reader }) => {
      const cursor = cursors.get(network)!
      const rows = reader.rows<object>(rule, cursor.row, times)
      cursor.row = rows.at(-1)?.block.number ?? cursor.row
      return rows.map(({ block, entries }) => ({ block: { network, ...block }, entries }))
    })
    .sort((a, b) => (comesBeforeBlock(a.block, b.block) ? -1 : 1))

/** Blocks are in the order of their times; some may be missing. */
export const firstFrom = (reader: AcrossReader, { since, upto }: WindowState, time: number): number => {
  let [low, high] = [since, upto + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((reader.firstAt(middle, 0)?.time ?? Number.POSITIVE_INFINITY) < time) low = middle + 1
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
          ? one.reader.firstAt(number + 1, 0)
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
