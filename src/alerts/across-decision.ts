import {
  type MergedEnd,
  type MergedEvent,
  type MergedOpening,
  type NetworkBlock,
  secondsBack,
} from '../windows/merged.ts'
import { shownSteps } from '../windows/sequence.ts'
import { namedKey } from '../windows/shown-key.ts'
import type { AcrossReader, AcrossRecord, AcrossStored, NetworkHeads } from './across-reader.ts'
import {
  advanceDecision,
  beginDecision,
  type DecidedRule,
  firstFrom,
  holdOf,
  type RunningDecision,
  type SeenNetwork,
} from './across-running.ts'
import type { AcrossChange } from './across-store.ts'
import type { AlertWindow, RuleMatch } from './alert.ts'
import { KEPT_BELOW } from './running-window.ts'
import { windowAlertId } from './windows.ts'

/** An alert without its document, which is to be read. */
export interface FoundAlert extends Omit<AcrossChange['opened'][number], 'match'> {
  match: Omit<RuleMatch, 'source'>
}

export interface AcrossDecision {
  /** Absent if the store has all of it. */
  change?: Omit<AcrossChange, 'opened'> & { opened: FoundAlert[] }
  /** What the owner of the rule should know. */
  note?: string
  /** A part is decided; it goes on. */
  goesOn?: boolean
}

/** Chain time between two notes of how far a rule is decided, and the longest one between two prunings. */
const NOTED_SECONDS = 60
const PRUNED_SECONDS = 3_600
/** Blocks below the newest one: a reorganisation that is less deep leaves what was decided before them. */
const BELOW_REORGANISATIONS = 256
/** Characters of rows that are taken at once: about 20 ms. */
const PART = 1_000_000
/** A network that is so far behind the others is named to the owner of the rule. */
const BEHIND_SECONDS = 300

/**
 * Decides a rule over several networks from what their stores have, up to the moment that all of them
 * have passed. Each network does so for the alerts of its own blocks. The same rows give the same alerts:
 * after a restart or a reorganisation, all that is kept is decided again and compared with what is stored.
 */
export const createAcrossDecision = (
  rule: DecidedRule,
  { keptBelow = KEPT_BELOW, deep = BELOW_REORGANISATIONS, part = PART } = {},
) => {
  const { of, own, networks, revision } = rule
  const reach = secondsBack(of)
  let running: RunningDecision | undefined

  const isSame = ({ since, cursors }: RunningDecision, all: readonly SeenNetwork[], sinceNow: number): boolean =>
    since === sinceNow && all.every(({ network, reader }) => reader.isSame(cursors.get(network)!.head))

  /** The alerts of this network that open, and the ends of its episodes. */
  const ownOf = (
    events: readonly MergedEvent[],
    state: Pick<RunningDecision, 'open' | 'untold'>,
    reader: AcrossReader,
    receivedAt: number,
  ) => {
    const { open } = state
    const counts = new Map<number, number>()
    const found = new Map<string, FoundAlert>()
    const ends = new Map<string, AcrossChange['ended'][number]>()
    for (const event of events)
      if ('opened' in event) {
        const { opened } = event
        const alert = opened.at.network === own ? foundAlert(rule, opened, reader, receivedAt) : undefined
        const count = counts.get(opened.at.number) ?? 0
        if (alert) counts.set(opened.at.number, count + 1)
        if (alert && 'steps' in of && count >= rule.most) state.untold++
        else if (alert) found.set(alert.id, alert)
        if (opened.episode !== undefined) open.set(opened.episode, alert?.id)
      } else {
        const id = open.get(event.ended.key)
        open.delete(event.ended.key)
        if (id !== undefined) ends.set(id, shownEnd(id, event.ended))
      }
    return { found, ends }
  }

  const recordOf = (reader: AcrossReader | undefined): AcrossRecord | undefined => {
    const record = reader?.record(rule.rule)
    return record?.revision === revision ? record : undefined
  }

  const decide = (seen: readonly SeenNetwork[], receivedAt: number): AcrossDecision => {
    const mine = seen.find(({ network }) => network === own)!
    const { reader } = mine
    const record = recordOf(reader)
    const { all, next, joins } = takingPart(seen, record)
    const clock = Math.min(...all.map(({ state }) => state.clock))
    const until = Math.min(clock, joins)
    const since = Math.max(...all.map(sinceOf))
    const records = all.map(it => recordOf(it.reader))
    const kept = Math.max(...records.map(record => record?.kept ?? 0))
    const stored = Math.max(...all.map(storedSince))
    if (running && (running.from < Math.max(stored, kept > running.kept ? kept : 0) || !isSame(running, all, since)))
      running = undefined
    const note = noteOfDecision({ of, since: running?.gapUntil ?? since, until: clock, reach }, all)
    const saved = { rule: rule.rule, revision, heads: acrossHeads(next ?? all, deep) }
    const keptNow = record?.kept ?? 0
    const validOwn = validUntil(all, record)
    if (record && next && (next === all || validOwn === record.decided)) {
      running = undefined
      // What is told with the networks before stays so.
      const kept = Math.max(keptNow, validOwn - reach)
      return { ...note, change: { ...saved, ...NO_CHANGES, decided: validOwn, settled: 0, kept } }
    }
    const valid = records.map(record => validUntil(all, record))
    const start = Math.max(
      ...[kept === 0 ? 0 : kept + reach, since, stored],
      beginBefore(Math.min(...valid) - holdOf(rule), mine),
    )
    if (running === undefined && start <= until) running = beginDecision(rule, all, { since, start, kept })
    if (running === undefined) return { ...note }
    const { from } = running
    const events = advanceDecision(rule, running, all, { until, most: part })
    const decided = running.from
    const more = { ...(decided < until && { goesOn: true }) }
    if (events === undefined) return { ...(heldNote(running, Math.min(...valid)) ?? note), ...more }
    const { found, ends } = ownOf(events, running, reader, receivedAt)
    const changes = alertChanges(found, ends, reader.stored(rule.rule, revision, [from, decided]), [from, decided])
    const settled = Math.min(...all.map(it => it.reader.settled(rule.confirmations)))
    const kepts = all.map(({ reader }) => reader.first(reader.newest() - keptBelow)?.time ?? 0)
    const needed = beginBefore(Math.min(...valid, ...kepts) - holdOf(rule), mine) - reach
    const isSaved =
      record !== undefined &&
      validOwn === record.decided &&
      decided - record.decided < NOTED_SECONDS &&
      decided < joins &&
      Object.values(changes).every(({ length }) => length === 0) &&
      !reader.owes(rule.rule, Math.min(settled, decided))
    const keptThen = needed > keptNow + Math.min(reach, PRUNED_SECONDS) ? needed : keptNow
    return {
      ...(untoldNote(rule, running) ?? note),
      ...(!isSaved && { change: { ...saved, ...changes, decided, settled, kept: keptThen } }),
      ...more,
    }
  }

  return {
    /** To be called again after a change was written; `readers` by network. */
    look(readers: ReadonlyMap<string, AcrossReader>, receivedAt: number): AcrossDecision {
      const open = networks.map(network => ({ network, reader: readers.get(network) }))
      const run = (): AcrossDecision => {
        const all = open.map(one => ({ ...one, state: one.reader?.state(rule.rule) }))
        const [unseen, seen] = [false, true].map(it => all.filter(({ state }) => (state?.revision === revision) === it))
        const heads = recordOf(readers.get(own))?.heads
        // One that joins holds up nothing before its first block.
        const missing = unseen!.find(({ network }) => heads === undefined || network in heads)
        if (missing === undefined) return decide(seen as SeenNetwork[], receivedAt)
        running = undefined
        return { note: `It waits for ${missing.network}, of which it has seen no block: nothing is decided before.` }
      }
      const snapshots = open.reduceRight<() => AcrossDecision>(
        (next, { reader }) => (reader === undefined ? next : () => reader.snapshot(next)),
        run,
      )
      return snapshots()
    },
    /** What was found was not written. */
    forget() {
      running = undefined
    },
  }
}

/**
 * The networks that a rule is decided over, where some have come or gone since its record. One that joins takes
 * part from its first block on: before that, it goes on without it. `next`: those of the next record.
 */
const takingPart = (
  seen: readonly SeenNetwork[],
  record: AcrossRecord | undefined,
): { all: readonly SeenNetwork[]; next?: readonly SeenNetwork[]; joins: number } => {
  const joins = Number.POSITIVE_INFINITY
  if (record === undefined) return { all: seen, joins }
  const [had, joined] = [true, false].map(it => seen.filter(({ network }) => network in record.heads === it)) as [
    SeenNetwork[],
    SeenNetwork[],
  ]
  if (had.length < Object.keys(record.heads).length) return { all: had, next: had, joins }
  if (joined.length === 0) return { all: had, joins }
  const first = Math.max(...joined.map(sinceOf))
  return record.decided < first ? { all: had, joins: first } : { all: had, next: seen, joins }
}

/** From when on all of its matches are known; 0: of all time. */
const sinceOf = ({ state }: SeenNetwork): number => (state.since === 0 ? 0 : state.sinceTime)

/** A moment up to one with which it may begin: that of a block, unless that is pruned. Then it begins later. */
const beginBefore = (time: number, { reader, state }: SeenNetwork): number => {
  const found = reader.timeOf(firstFrom(reader, state, time + 1) - 1)
  return found < 0 ? time : found
}

/** The first moment since which no block is pruned: what lies before stays as it is told. */
const storedSince = ({ reader, state: { since, clock } }: SeenNetwork): number => {
  const first = reader.floor()
  return first <= since ? 0 : (reader.first(first)?.time ?? clock) + 1
}

const NO_CHANGES = { opened: [], shown: [], ended: [], reopened: [], withdrawn: [] }

/** What is told before this moment holds: after a reorganisation, what is of before the block deep below. */
const validUntil = (all: readonly SeenNetwork[], record: AcrossRecord | undefined): number =>
  Math.min(
    ...all.map(({ network, reader }) => {
      const head = record?.heads[network]
      if (record === undefined || head === undefined) return 0
      if (reader.isSame(head)) return record.decided
      return reader.isSame(head.deep) ? Math.min(record.decided, reader.timeOf(head.deep.number)) : 0
    }),
  )

const acrossHeads = (all: readonly SeenNetwork[], depth: number): NetworkHeads =>
  Object.fromEntries(
    all.map(({ network, state: { upto }, reader }) => {
      return [network, { ...reader.seenBlock(upto), deep: reader.seenBlock(Math.max(0, upto - depth)) }]
    }),
  )

const alertChanges = (
  found: ReadonlyMap<string, FoundAlert>,
  ends: ReadonlyMap<string, AcrossChange['ended'][number]>,
  all: readonly AcrossStored[],
  [from, until]: readonly [number, number],
) => {
  const stored = new Map(all.map(it => [it.id, it]))
  const [withdrawn, reopened]: [string[], string[]] = [[], []]
  for (const { id, opened, ended } of all) {
    const isFound = opened < from || opened >= until || found.has(id)
    if (!isFound) withdrawn.push(id)
    else if (ended !== null && ended >= from && ended < until && ends.get(id)?.at !== ended) reopened.push(id)
  }
  return {
    opened: [...found.values()].filter(({ id }) => !stored.has(id)),
    // The same alert, after what led to it was reorganised.
    shown: [...found.values()].flatMap(({ id, match: { when } }) => {
      const before = stored.get(id)?.when
      return before === undefined || before === JSON.stringify(when) ? [] : [{ id, when: when! }]
    }),
    // After a reorganisation, another block may have the same time.
    ended: [...ends.values()].filter(
      ({ id, at, shown }) => stored.get(id)?.ended !== at || stored.get(id)?.shown !== JSON.stringify(shown),
    ),
    ...{ withdrawn, reopened },
  }
}

const foundAlert = (
  rule: DecidedRule,
  { key, at, last, episode, shown }: MergedOpening,
  reader: AcrossReader,
  receivedAt: number,
): FoundAlert | undefined => {
  const blockHash = reader.hash(at.number)
  if (blockHash === undefined) return undefined
  const { targetType, confirmations, notifyPending, revision, own } = rule
  const match: FoundAlert['match'] = {
    ...{ rule: rule.rule, revision, targetType, confirmations, notifyPending, network: own, waits: true },
    ...{ block: at.number, blockHash, receivedAt },
    entity: last === undefined ? { _id: blockHash, _type: 'block' } : { _id: last, _type: rule.kind },
    when: shownAcross(rule, at, shown),
  }
  const id = windowAlertId(match, reader.chainId() ?? null, key)
  return { id, match, key: episode ?? null, at: at.time }
}

const shownAcross = ({ of, by }: DecidedRule, at: NetworkBlock, shown: MergedOpening['shown']): AlertWindow => {
  const { key, first, fromTime, conditions, matches, ids, steps } = shown
  return {
    key: namedKey({ by }, key, first),
    window: { fromTime, toTime: at.time, seconds: of.within.seconds! },
    ...{ conditions, matches, entities: ids },
    ...('isMissing' in of && steps && { steps: shownSteps(of, { steps }) }),
    late: false,
  }
}

const shownEnd = (
  id: string,
  { at: { network, number, time }, conditions }: MergedEnd,
): AcrossChange['ended'][number] => ({
  ...{ id, at: time },
  shown: { network, block: number, conditions },
})

const noteOfDecision = (
  { of, since, until, reach }: { of: DecidedRule['of']; since: number; until: number; reach: number },
  all: readonly SeenNetwork[],
): { note?: string } => {
  const slowest = all.find(({ state }) => state.clock === until)!
  if (Math.max(...all.map(({ state }) => state.clock)) - until > BEHIND_SECONDS)
    return {
      note: `It waits for ${slowest.network}, whose newest block is of ${inUtc(until)}: nothing after that is decided.`,
    }
  if (since === 0 || since <= until - reach) return {}
  return {
    note:
      'conditions' in of
        ? `Its windows begin at ${inUtc(since)}: until one has passed, only what more matches could not undo is decided.`
        : `Its sequences begin at ${inUtc(since)}: steps before that are not known.`,
  }
}

const untoldNote = ({ most }: DecidedRule, { untold }: RunningDecision): { note: string } | undefined =>
  untold === 0
    ? undefined
    : { note: `Its sequences make at most ${most} alerts in one block: ${untold} of this network made none.` }

/** `told`: up to where all is told. */
const heldNote = ({ from, start, tells }: RunningDecision, told: number): { note: string } | undefined =>
  from < start || from >= tells || told >= tells
    ? undefined
    : {
        note: `Blocks that its hold reaches back to are pruned: of what opens before ${inUtc(tells)}, it tells nothing.`,
      }

const inUtc = (seconds: number): string => new Date(seconds * 1_000).toISOString()
