import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { type AcrossDecision, createAcrossDecision } from '../../alerts/across-decision.ts'
import type { DecidedRule } from '../../alerts/across-running.ts'
import type { AcrossChange } from '../../alerts/across-store.ts'
import type { AlertUpdate } from '../../alerts/alert-store.ts'
import type { DocumentReader } from '../../engine/port.ts'
import type { Log } from '../../lib/log.ts'
import type { Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import { kindOfTarget, notifiesPending, type StoredRule } from '../../rules/rule.ts'
import { isAcross, networksAcross } from '../../rules/windows/across.ts'
import { isSequence, sequenceShape, targetOfAlerts, windowSpecOf } from '../../rules/windows/steps.ts'
import { createAcrossReaders } from './across-readers.ts'

export interface AcrossRulesOptions {
  network: string
  /** Enabled rules with `when` that know where they begin. */
  rules(): readonly StoredRule[]
  /** Changes with the rules. */
  generation(): number
  /** Store files of the networks that take part, by their paths. */
  stores(): ReadonlyMap<string, string>
  open(): DocumentReader
  tell(update: AlertUpdate): Promise<void>
  /** Epoch milliseconds. */
  now(): number
  limits: Limits
  log: Log
  signal: AbortSignal
}

interface KnownRule {
  /** What it was made of, as JSON. */
  key: string
  decision: ReturnType<typeof createAcrossDecision>
  /** Of faults in a row. */
  pauseMs: number
  /** Not looked at before, in epoch milliseconds. */
  after: number
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** Decides the rules over several networks, for the alerts of one of them. */
export const createAcrossRules = (options: AcrossRulesOptions) => {
  const { network, rules, stores, open, tell, now, log, signal } = options
  const known = new Map<number, KnownRule>()
  const readers = createAcrossReaders({ now, log })
  const notes = new Map<number, string>()
  let across: { generation: number; rules: readonly StoredRule[] } = { generation: -1, rules: [] }
  let seen = ''

  const knownOf = (rule: DecidedRule): KnownRule => {
    const key = JSON.stringify(rule)
    const found = known.get(rule.rule)
    if (found?.key === key) return found
    const made = { key, decision: createAcrossDecision(rule), pauseMs: 0, after: 0 }
    known.set(rule.rule, made)
    return made
  }

  /** A part at once, since all of it may take long. */
  const lookAt = async (
    rule: DecidedRule,
    files: ReadonlyMap<string, string>,
  ): Promise<'done' | 'goes on' | 'later'> => {
    const one = knownOf(rule)
    const absent = rule.networks.find(it => !files.has(it))
    const unread = rule.networks.find(it => readers.isFaulty(it))
    if (absent !== undefined || unread !== undefined) {
      one.decision.forget()
      notes.set(
        rule.rule,
        absent === undefined
          ? `It waits for ${unread}, whose store cannot be read, because of a fault of the server: nothing is decided before.`
          : `It waits for ${absent}, which this server does not follow with all its blocks: nothing is decided before.`,
      )
      return absent === undefined ? 'later' : 'done'
    }
    if (one.after > now()) return 'later'
    try {
      const { change, note, goesOn } = one.decision.look(readers.all(), now())
      if (note === undefined) notes.delete(rule.rule)
      else notes.set(rule.rule, note)
      if (change) await tell({ hits: [], acrossChanges: [await withSources(change, open)] })
      if (goesOn) return 'goes on'
      one.pauseMs = 0
      return 'done'
    } catch (error) {
      // The fault may be that of another network's store, which does not stop this one.
      one.decision.forget()
      readers.reopen(rule.networks)
      signal.throwIfAborted()
      if (one.pauseMs === 0)
        log.error('Failed to decide a rule over several networks, will retry', { rule: rule.rule, error })
      one.pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, one.pauseMs * 2))
      one.after = now() + one.pauseMs
      notes.set(rule.rule, 'It could not be decided, because of a fault of the server, and is tried again.')
      return 'later'
    }
  }

  return {
    /** What the owners of the rules should know. */
    notes: notes as ReadonlyMap<number, string>,
    async look() {
      const generation = options.generation()
      if (generation !== across.generation)
        across = { generation, rules: rules().filter(({ input }) => isAcross(input.config)) }
      if (across.rules.length + known.size === 0) return
      const files = stores()
      const all = across.rules
        .map(rule => ({ ...decidedRule(rule, network, [...files.keys()]), most: options.limits.ruleMatches }))
        .filter(({ networks }) => networks.includes(network))
      const ids = new Set(all.map(({ rule }) => rule))
      for (const kept of [known, notes]) for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id)
      readers.keep(new Map(all.flatMap(({ networks }) => networks.map(one => [one, files.get(one)]))))
      const state = JSON.stringify([all, readers.versions()])
      if (state === seen) return
      seen = ''
      let isDone = true
      for (let left = all; left.length > 0; ) {
        const more: typeof all = []
        for (const rule of left) {
          const how = await lookAt(rule, files)
          if (how === 'goes on') more.push(rule)
          if (how === 'later') isDone = false
          await yieldToEventLoop()
          signal.throwIfAborted()
        }
        left = more
      }
      if (isDone) seen = state
    },
    close: () => readers.keep(new Map()),
  }
}

const decidedRule = (rule: StoredRule, own: string, known: readonly string[]): Omit<DecidedRule, 'most'> => {
  const { id, matching, input } = rule
  const { when } = input.config
  const targetType = targetOfAlerts(input)
  return {
    ...{ rule: id, revision: matching, own, networks: networksAcross(rule, known), targetType },
    ...(isSequence(when)
      ? { of: sequenceShape(when), by: when.steps[0]!.by ?? [] }
      : { of: windowSpecOf(input.config), by: windowSpecOf(input.config).by ?? [] }),
    ...{ kind: kindOfTarget(targetType), confirmations: input.maxConfirmationCount },
    notifyPending: notifiesPending(input),
  }
}

/** Reads the documents of alerts. */
const withSources = async (
  change: AcrossDecision['change'] & {},
  open: () => DocumentReader,
): Promise<AcrossChange> => {
  if (change.opened.length === 0) return { ...change, opened: [] }
  const sources = new Map<string, string>()
  const documents = open()
  try {
    const byKind = Map.groupBy(change.opened, ({ match }) => match.entity._type as Kind)
    for (const [kind, all] of byKind) {
      const ids = [...new Set(all.map(({ match }) => match.entity._id.toLowerCase()))]
      for (let i = 0; i < ids.length; i += IDS_PER_SEARCH) {
        const search = searchByIds(kind, ids.slice(i, i + IDS_PER_SEARCH))
        const { hits } = await documents.search(search, { deadline: Number.POSITIVE_INFINITY })
        for (const { document } of hits)
          sources.set(`${kind} ${document._id.toLowerCase()}`, JSON.stringify(document._source))
      }
    }
  } finally {
    await documents.close()
  }
  const opened = change.opened.map(one => {
    const { _id, _type } = one.match.entity
    const source = sources.get(`${_type} ${_id.toLowerCase()}`)
    // Its block may have been reorganised away just now: the next look does not find it any more.
    if (source === undefined) throw new Error(`there is no ${_type} ${_id}, of which an alert was found`)
    return { ...one, match: { ...one.match, source } }
  })
  return { ...change, opened }
}

const IDS_PER_SEARCH = 500

const searchByIds = (kind: Kind, values: string[]): SearchRequest => ({
  parts: [{ kind, query: { op: 'ids', values } }],
  sort: [{ by: '_doc', fields: {}, order: 'asc', missing: '_last' }],
  ...{ from: 0, size: values.length, source: true, trackTotal: false },
})
