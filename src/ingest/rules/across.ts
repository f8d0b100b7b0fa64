import { type AcrossDecision, createAcrossDecision } from '../../alerts/across-decision.ts'
import { type AcrossReader, createAcrossReader } from '../../alerts/across-reader.ts'
import type { DecidedRule } from '../../alerts/across-running.ts'
import type { AcrossChange } from '../../alerts/across-store.ts'
import type { AlertUpdate } from '../../alerts/alert-store.ts'
import { openForReading } from '../../engine/open.ts'
import type { DocumentReader } from '../../engine/port.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import type { Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import { kindOfTarget, notifiesPending, type StoredRule } from '../../rules/rule.ts'
import { isAcross, networksAcross } from '../../rules/windows/across.ts'
import { isSequence, sequenceShape, targetOfAlerts, windowSpecOf } from '../../rules/windows/steps.ts'
import { fileIdentity } from '../../sqlite/verify-pages.ts'

export interface AcrossRulesOptions {
  network: string
  /** Enabled rules with `when` that know where they begin. */
  rules(): readonly StoredRule[]
  /** Changes with the rules. */
  generation(): number
  /** Store files of all networks by their paths. */
  stores(): ReadonlyMap<string, string>
  open(): DocumentReader
  tell(update: AlertUpdate): Promise<void>
  /** Epoch milliseconds. */
  now(): number
  limits: Limits
  log: Log
  signal: AbortSignal
}

/** Decides the rules over several networks, for the alerts of one of them. */
export const createAcrossRules = (options: AcrossRulesOptions) => {
  const { network, rules, stores, open, tell, now, log, signal } = options
  const decisions = new Map<number, { key: string; decision: ReturnType<typeof createAcrossDecision> }>()
  const readers = createAcrossReaders()
  const notes = new Map<number, string>()
  let across: { generation: number; rules: readonly StoredRule[] } = { generation: -1, rules: [] }
  let seen = ''

  const decisionOf = (rule: DecidedRule) => {
    const key = JSON.stringify(rule)
    const known = decisions.get(rule.rule)
    if (known?.key === key) return known.decision
    const decision = createAcrossDecision(rule)
    decisions.set(rule.rule, { key, decision })
    return decision
  }

  const lookAt = async (rule: DecidedRule) => {
    const decision = decisionOf(rule)
    try {
      const { change, note } = decision.look(readers.all(), now())
      if (note === undefined) notes.delete(rule.rule)
      else notes.set(rule.rule, note)
      if (change) await tell({ hits: [], acrossChanges: [await withSources(change, open)] })
      return true
    } catch (error) {
      // The fault may be that of another network's store, which does not stop this one.
      decision.forget()
      signal.throwIfAborted()
      const why = `It could not be decided, because of a fault of the server: ${messageOf(error)}.`
      if (notes.get(rule.rule) !== why)
        log.error('Failed to decide a rule over several networks, will retry', { rule: rule.rule, error })
      notes.set(rule.rule, why)
      return false
    }
  }

  return {
    /** What the owners of the rules should know. */
    notes: notes as ReadonlyMap<number, string>,
    async look() {
      const generation = options.generation()
      if (generation !== across.generation)
        across = { generation, rules: rules().filter(({ input }) => isAcross(input.config)) }
      if (across.rules.length + decisions.size === 0) return
      const files = stores()
      const all = across.rules
        .map(rule => ({ ...decidedRule(rule, network, [...files.keys()]), most: options.limits.ruleMatches }))
        .filter(({ networks }) => networks.includes(network))
      const known = new Set(all.map(({ rule }) => rule))
      for (const kept of [decisions, notes]) for (const id of kept.keys()) if (!known.has(id)) kept.delete(id)
      readers.keep(new Map(all.flatMap(({ networks }) => networks.map(one => [one, files.get(one)]))))
      const state = JSON.stringify([all, readers.versions()])
      if (state === seen) return
      seen = ''
      let isDone = true
      for (const rule of all) isDone = (await lookAt(rule)) && isDone
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

/** Stores that are open for reading; opened again where another file takes their place. */
const createAcrossReaders = () => {
  const opened = new Map<string, { identity: string; reader: AcrossReader; close(): void }>()
  const openOne = (network: string, file: string | undefined) => {
    const identity = file === undefined ? undefined : fileIdentity(file)
    const known = opened.get(network)
    if (known?.identity === identity) return
    known?.close()
    opened.delete(network)
    if (identity === undefined) return
    try {
      const db = openForReading(file!, nativeBinding())
      opened.set(network, { identity, reader: createAcrossReader(db), close: () => void db.close() })
    } catch {
      // Not written yet: it is looked for again.
    }
  }
  return {
    all: (): ReadonlyMap<string, AcrossReader> =>
      new Map([...opened].map(([network, { reader }]) => [network, reader])),
    versions: () => [...opened].map(([network, { identity, reader }]) => [network, identity, reader.version()]),
    keep(files: ReadonlyMap<string, string | undefined>) {
      for (const [network, { close }] of opened) {
        if (files.has(network)) continue
        close()
        opened.delete(network)
      }
      for (const [network, file] of files) openOne(network, file)
    },
  }
}

/** Alerts whose documents are gone are left out, as their blocks are gone, too. */
const withSources = async (
  change: AcrossDecision['change'] & {},
  open: () => DocumentReader,
): Promise<AcrossChange> => {
  if (change.opened.length === 0) return { ...change, opened: [] }
  const documents = open()
  try {
    const opened: AcrossChange['opened'] = []
    for (const one of change.opened) {
      const { _id, _type } = one.match.entity
      const { hits } = await documents.search(searchById(_type as Kind, _id), { deadline: Number.POSITIVE_INFINITY })
      const [hit] = hits
      if (hit) opened.push({ ...one, match: { ...one.match, source: JSON.stringify(hit.document._source) } })
    }
    return { ...change, opened }
  } finally {
    await documents.close()
  }
}

const searchById = (kind: Kind, id: string): SearchRequest => ({
  parts: [{ kind, query: { op: 'ids', values: [id.toLowerCase()] } }],
  sort: [{ by: '_doc', fields: {}, order: 'asc', missing: '_last' }],
  ...{ from: 0, size: 1, source: true, trackTotal: false },
})
