import type { AcrossRule } from '../../alerts/across-store.ts'
import type { Scan } from '../../alerts/alert-store.ts'
import type { SequenceRule } from '../../alerts/sequences.ts'
import type { WindowRule } from '../../alerts/windows.ts'
import type { Log } from '../../lib/log.ts'
import type { Range } from '../../lib/ranges.ts'
import { type Clock, systemClock } from '../../lib/retry.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../../limits/index.ts'
import { createMetrics, type Metrics } from '../../metrics/index.ts'
import { createFollowedLists } from '../../rules/followed-lists.ts'
import type { FindList } from '../../rules/lower.ts'
import { type BlockMatches, createMatcher, type Matcher } from '../../rules/matcher.ts'
import { repeatsOfRule } from '../../rules/notify/again.ts'
import { isWide, notifiesPending, type StoredRule } from '../../rules/rule.ts'
import type { Rules } from '../../rules/store.ts'
import { isAcross, networksAcross } from '../../rules/windows/across.ts'
import { isSequence, sequenceShape, targetOfAlerts } from '../../rules/windows/steps.ts'
import { createRuleMatching, type RuleMatchingOptions } from './rule-matching.ts'
import { createRuleScans } from './rule-scans.ts'

export type RuleWatcher = ReturnType<typeof createRuleWatcher>

export interface RuleWatcherOptions extends Pick<RuleMatchingOptions, 'tokens' | 'contracts' | 'links'> {
  network: string
  rules: Pick<Rules, 'version' | 'changes' | 'fixStart' | 'close' | 'lists'>
  scans: Map<number, Scan>
  log: Log
  limits?: Limits
  clock?: Clock
  metrics?: Metrics
}

const FIX_AGAIN_MS = 10_000
/** Fewer are sorted in with the next block. */
const MANY_CHANGED = 1_000

export const createRuleWatcher = (options: RuleWatcherOptions) => {
  const { network, rules, scans, tokens, contracts, links, log, limits = DEFAULT_LIMITS, clock = systemClock } = options
  const { metrics = createMetrics() } = options
  const lists = createFollowedLists(rules.lists)
  const matcher = createMatcher({ most: limits.ruleMatches, lists: lists.of, network })
  const rulesKnown = metrics.gauge('chainsieve_rules')
  const troubles = createRuleTroubles(log, limits)
  const known = new Map<number, StoredRule>()
  const paused = new Set<number>()
  let version = -1
  let seq = 0
  let generation = 0
  let waitsForMarks = false
  let head: number | undefined
  const starts = createRuleStarts(rules, log, clock)
  const update = createPendingUpdate()
  const windowed = createWindowedRules({ network, limits, matcher }, update.setWindows)
  const looks = createRuleScans(scans, update.setScan)

  const fixStart = (rule: StoredRule, stored: number) => {
    const { id, startBlock } = rule
    if (startBlock !== null) return
    if (isWide(rule.network)) return fixOwn(rule, stored)
    if (head === undefined) return
    starts.record(id, Math.max(head, stored) + 1)
  }

  /** A rule of several networks begins above the known blocks of each, recorded with its blocks. */
  const fixOwn = (rule: StoredRule, stored: number) => {
    if (head === undefined && stored < 0) return
    const fixed = { ...rule, startBlock: Math.max(head ?? -1, stored) + 1 }
    known.set(rule.id, fixed)
    take(fixed)
    looks.begin(fixed, [])
    windowed.refresh(known.values())
    generation++
  }

  const toOwn = (rule: StoredRule): StoredRule =>
    rule.startBlock === null && isWide(rule.network) ? { ...rule, startBlock: scans.get(rule.id)?.start ?? null } : rule

  const take = (rule: StoredRule) => {
    try {
      if (looks.take(rule) || !isLookedAt(rule, network)) matcher.remove(rule.id)
      else matcher.set(rule)
    } catch (error) {
      troubles.noteUnloaded(rule.id, error)
    }
  }

  const matching = createRuleMatching({
    windowed: windowed.matched,
    ...{ network, matcher, tokens, contracts, links, log, clock, metrics },
    onTrouble: troubles.note,
  })

  /** Applies changed rules; cheap without changes. `held`: blocks stored or under way. */
  const refresh = (held: readonly Range[]) => {
    for (const id of starts.due()) {
      const rule = known.get(id)
      if (rule?.startBlock === null) fixStart(rule, -1)
      else starts.forget(id)
    }
    const current = rules.version()
    if (current === version) return
    version = current
    const { seq: now, changed, removed } = rules.changes(network, seq)
    seq = now
    if (lists.refresh()) generation++
    if (changed.length === 0 && removed.length === 0) return
    const wasPaused = paused.size
    let pausing = false
    for (const id of removed) {
      troubles.forget(id, known.get(id)?.account)
      pausing = paused.delete(id) || pausing
      looks.remove(id)
      if (known.delete(id)) matcher.remove(id)
      update.setGone(id)
    }
    for (const rule of changed.map(withoutActions).map(toOwn)) {
      const resumed = rule.enabled && paused.has(rule.id)
      if (rule.enabled ? paused.delete(rule.id) : !paused.has(rule.id) && paused.add(rule.id)) pausing = true
      known.set(rule.id, rule)
      troubles.forget(rule.id, rule.account)
      if (rule.unfit !== undefined) troubles.rules.add(rule.id, rule.unfit)
      take(rule)
      looks.begin(rule, held, resumed)
      fixStart(rule, held.at(-1)?.to ?? -1)
    }
    if (changed.length > MANY_CHANGED) matcher.sort()
    if (pausing || paused.size !== wasPaused) update.setPaused([...paused])
    windowed.refresh(known.values())
    lists.keep(known.values())
    generation++
    waitsForMarks = [...known.values()].some(({ input }) => typeof input.maxConfirmationCount === 'string')
    rulesKnown.set({ state: 'enabled' }, known.size - paused.size)
    rulesKnown.set({ state: 'paused' }, paused.size)
  }

  return {
    limits,
    refresh,
    /** Grows with each change; earlier matches do not include it. */
    get generation() {
      return generation
    },
    complete: matching.complete,
    match: matching.match,
    wants: matcher.wants,
    /** Changes for the writer; they must come before or with the first block matched by them. */
    takeUpdate: update.take,
    scans,
    ofState: looks.ofState,
    /** Enabled rules with `when` that know where they begin. */
    ofWindows: windowed.all,
    stateTrouble: troubles.setState,
    rollback: looks.rollback,
    rule: (id: number) => known.get(id),
    /** The watch lists of an account. */
    listsOf:
      (account: number): FindList =>
      name =>
        lists.of(account, name),
    get waitsForMarks() {
      return waitsForMarks
    },
    /** Starts rules that were created before the head was known above it, even if read later. */
    fixStarts(at: number) {
      head = at
      for (const rule of known.values()) fixStart(rule, -1)
    },
    /** Of blocks that are stored in part, windows would miss some without a sign. */
    noteScoped() {
      for (const id of windowed.ids())
        troubles.rules.add(
          id,
          'The rule has windows, which need whole blocks: this network stores chosen contracts only.',
        )
    },
    get waiting() {
      return matching.waiting()
    },
    troubles: troubles.rules.all,
    accountTroubles: troubles.accounts.all,
    close: rules.close,
  }
}

/** Records first blocks of rules. An unwritable account file delays no block; it is retried. */
const createRuleStarts = (rules: Pick<Rules, 'fixStart'>, log: Log, clock: Clock) => {
  /** Those that are not recorded yet, and the time of the next attempt. */
  const open = new Map<number, number>()
  let fixAt = 0
  return {
    /** A block that could not be recorded before stays. */
    record(id: number, firstBlock: number) {
      const start = open.get(id) ?? firstBlock
      try {
        rules.fixStart(id, start)
        open.delete(id)
      } catch (error) {
        log.warn('Failed to note where a rule begins, will retry', { rule: id, error })
        open.set(id, start)
        fixAt = clock.elapsed() + FIX_AGAIN_MS
      }
    },
    /** Rules to be tried again now. */
    due: (): number[] => (open.size > 0 && clock.elapsed() >= fixAt ? [...open.keys()] : []),
    forget: (id: number) => void open.delete(id),
  }
}

/** Rules with `when` that are matched. The writer keeps windows of all of them. */
const createWindowedRules = (
  { network, limits, matcher }: { network: string; limits: Limits; matcher: Pick<Matcher, 'has'> },
  changed: (all: WhenRules) => void,
) => {
  const windowed = new Map<number, StoredRule>()
  let matched: ReadonlyMap<number, number> = new Map()
  /** Rules with `when` may have been edited before the start. */
  let isTold = false
  return {
    refresh(known: Iterable<StoredRule>) {
      const before = windowed.size
      windowed.clear()
      for (const rule of known)
        if (hasWhen(rule) && rule.enabled && rule.startBlock !== null && isLookedAt(rule, network))
          windowed.set(rule.id, rule)
      // Blocks on their way keep the one that they were matched with.
      matched = new Map(
        [...windowed.values()].filter(({ id }) => matcher.has(id)).map(({ id, matching }) => [id, matching]),
      )
      if (isTold && before + windowed.size === 0) return
      isTold = true
      changed(toWhenRules([...windowed.values()], network, limits))
    },
    ids: () => windowed.keys(),
    all: (): StoredRule[] => [...windowed.values()],
    matched: () => matched,
  }
}

const createPendingUpdate = () => {
  let paused: readonly number[] | undefined
  let gone: number[] = []
  let scans = new Map<number, Scan>()
  let windows: WhenRules | undefined
  return {
    setWindows(all: WhenRules) {
      windows = all
    },
    setPaused(all: readonly number[]) {
      paused = all
    },
    setScan: (scan: Scan) => void scans.set(scan.rule, scan),
    setGone(rule: number) {
      scans.delete(rule)
      gone.push(rule)
    },
    take() {
      if (!paused && !windows && gone.length === 0 && scans.size === 0) return undefined
      const taken = { ...(paused && { paused }), ...windows, gone, scans: [...scans.values()] }
      paused = undefined
      windows = undefined
      gone = []
      scans = new Map()
      return taken
    },
  }
}

const hasWhen = ({ input }: StoredRule): boolean => input.config.when !== undefined

/** The steps of a rule may all be of other networks. */
const isLookedAt = (rule: StoredRule, network: string): boolean =>
  !isAcross(rule.input.config) || networksAcross(rule, [network]).includes(network)

interface WhenRules {
  windows: WindowRule[]
  sequences: SequenceRule[]
  across: AcrossRule[]
}

const toWhenRules = (all: readonly StoredRule[], own: string, limits: Limits): WhenRules => {
  const [across, others] = [true, false].map(it => all.filter(rule => isAcross(rule.input.config) === it)) as [
    StoredRule[],
    StoredRule[],
  ]
  return { ...toOwnRules(others, own, limits), across: across.map(rule => toWhenRule(rule, own, limits)) }
}

const toOwnRules = (all: readonly StoredRule[], own: string, limits: Limits): Omit<WhenRules, 'across'> => ({
  windows: all.flatMap(rule => {
    const { when } = rule.input.config
    return when === undefined || isSequence(when) ? [] : [{ ...toWhenRule(rule, own, limits), spec: when }]
  }),
  sequences: all.flatMap(rule => {
    const { when } = rule.input.config
    if (!isSequence(when)) return []
    const by = when.steps[0]!.by ?? []
    const { account } = rule
    return [{ ...toWhenRule(rule, own, limits), shape: sequenceShape(when), by, account, most: limits.ruleMatches }]
  }),
})

const toWhenRule = (
  { id, matching, startBlock, network, input }: StoredRule,
  own: string,
  { ruleKeys: keys, ruleRows: rows }: Limits,
): Omit<WindowRule, 'spec'> => ({
  ...{ rule: id, revision: matching, start: startBlock!, every: input.config.read?.every.blocks },
  ...{ targetType: targetOfAlerts(input), confirmations: input.maxConfirmationCount },
  ...{ notifyPending: notifiesPending(input), notifyResolved: input.config.notify?.resolved === true },
  again: repeatsOfRule(input.config),
  ...(isWide(network) && { network: own }),
  limits: { keys, rows },
})

/** Drops what matching does not need, since rules may be many. */
const withoutActions = (rule: StoredRule): StoredRule => {
  const { name, technology, blockchain, network, maxConfirmationCount, config } = rule.input
  const input = { name, technology, blockchain, network, maxConfirmationCount, config: { ...config, alerts: [] } }
  return { ...rule, input: { ...input, notifyPending: notifiesPending(rule.input) } }
}

const createRuleTroubles = (log: Log, limits: Limits) => {
  const rules = createTroubles(log, 'rule')
  const accounts = createTroubles(log, 'account')
  return {
    ...{ rules, accounts },
    note({ failed, cut }: Pick<BlockMatches, 'failed' | 'cut'>, block: number) {
      const why = `The rule could not be matched with all of block ${block}, because of a fault of the server.`
      for (const { rule, error } of failed) rules.add(rule.id, why, error)
      const tooMany = `Some matches in block ${block} make no alerts. ${overLimit('ruleMatches', limits).message}`
      for (const account of cut) accounts.add(account, tooMany)
    },
    /** Why a block is not read yet; undefined: it is. What was left out stays told. */
    setState(rule: number, why: string | undefined) {
      if (why !== undefined) rules.add(rule, why)
      else if (rules.all.get(rule)?.startsWith('The state of block ')) rules.forget(rule)
    },
    noteUnloaded: (rule: number, error: unknown) =>
      rules.add(rule, 'The rule is not matched: it could not be loaded, because of a fault of the server.', error),
    forget(rule: number, account: number | undefined) {
      rules.forget(rule)
      if (account !== undefined) accounts.forget(account)
    },
  }
}

const MAX_TROUBLES = 1_000

const MESSAGES = {
  rule: 'A rule does not work as it should',
  account: 'The rules of an account do not work as they should',
}

/** Logs each trouble once until its rule changes. */
const createTroubles = (log: Log, of: 'rule' | 'account') => {
  const all = new Map<number, string>()
  return {
    all,
    add(id: number, why: string, error?: unknown) {
      const known = all.delete(id)
      all.set(id, why)
      if (!known) log.error(MESSAGES[of], { [of]: id, why, ...(error !== undefined && { error }) })
      if (all.size > MAX_TROUBLES) for (const oldest of all.keys()) return void all.delete(oldest)
    },
    forget: (id: number) => void all.delete(id),
  }
}
