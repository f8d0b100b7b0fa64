import type { GivenDocument } from '../back-test/documents.ts'
import { checkGivenFields, checkGivenReading } from '../back-test/given-fields.ts'
import { isRecord } from '../lib/arrays.ts'
import { refuse } from '../lib/errors.ts'
import {
  checkFilled,
  checkInteger,
  checkList,
  checkObject,
  checkOneOf,
  checkOptional,
  createInputPlace,
  type InputPlace,
  type RuleFault,
} from '../rules/input.ts'
import { createQuietFilter } from '../rules/notify/messages.ts'
import { DOCUMENT_TARGETS, type RuleInput, TARGET_KINDS } from '../rules/rule.ts'
import { documentBlock, type RuleSimulation } from '../rules/search.ts'
import { isSequence } from '../rules/windows/steps.ts'
import { canonicalText, secondsOf, wholeSourceText } from '../rules/windows/stored.ts'

/** What a rule must find in a range of blocks. */
export interface RuleTest {
  /** The rule, or the path of its file from that of the test. */
  rule: unknown
  from: number
  to: number
  /** In place of the stored blocks: all that happens in the range, as searches return it. */
  documents?: GivenDocument[]
  /** Between blocks of which no document says the time; 12 by default. */
  blockSeconds?: number
  alerts: ExpectedAlert[]
}

/** Of a rule with `when` an episode, else a match. */
export type ExpectedAlert = ExpectedMatch | ExpectedEpisode

interface ExpectedMatch {
  block: number
  /** Id of the document. */
  id: string
}

interface ExpectedEpisode {
  key: Record<string, string | null>
  opened: number
  /** Null while it is open, and with `First`. */
  ended?: number | null
  /** Ids of the steps, of a rule with steps. */
  steps?: string[]
}

/** Alerts that are expected and not found, and the other way round, in the order of the chain. */
export interface RuleTestResult {
  found: number
  missing: ExpectedAlert[]
  further: ExpectedAlert[]
}

/** Most matches that a test compares. */
export const MAX_TESTED = 10_000
const GIVEN_TYPES = [...new Set(DOCUMENT_TARGETS.map(target => TARGET_KINDS[target])), 'state'] as const
/** Most blocks of a test with documents. */
const MAX_TESTED_BLOCKS = 100_000

export const checkRuleTest = (
  value: unknown,
): { test: RuleTest; faults: [] } | { test?: undefined; faults: RuleFault[] } => {
  const faults: RuleFault[] = []
  const place = createInputPlace(value, faults, { label: 'The test' })
  const known = ['rule', 'from', 'to', 'documents', 'blockSeconds', 'alerts']
  if (!checkObject(place, { what: 'a test', known })) return { faults }
  const rule = place.member('rule')
  if (!isRecord(rule.value)) checkFilled(rule, 'a rule, or the path of its file')
  const [from, to] = ['from', 'to'].map(name => checkInteger(place.member(name), { min: 0 }))
  if (from !== undefined && to !== undefined && to < from) place.member('to').fault('to must not be before from.')
  const documents = place.member('documents')
  checkOptional(documents, it => {
    if (from === undefined || to === undefined) return
    if (to - from >= MAX_TESTED_BLOCKS)
      place.member('to').fault(`A test with documents has at most ${MAX_TESTED_BLOCKS} blocks: take fewer.`)
    const places = new Map<string, string>()
    for (const one of checkList(it, { of: 'documents', max: MAX_TESTED })) {
      checkDocument(one, from, to)
      const [type, id] = [one.member('_type').value, one.member('_id')]
      const name = JSON.stringify([type, id.value])
      const before = places.get(name)
      if (before !== undefined) id.fault(`_id is that of ${before} too: give each document once.`)
      else if (typeof id.value === 'string') places.set(name, one.path)
    }
  })
  checkOptional(place.member('blockSeconds'), it => {
    checkInteger(it, { min: 1 })
    if (documents.value === undefined) it.fault('blockSeconds belongs to documents: stored blocks have their times.')
  })
  for (const alert of checkList(place.member('alerts'), { of: 'alerts', max: MAX_TESTED })) checkExpected(alert)
  return faults.length === 0 ? { test: value as RuleTest, faults: [] } : { faults }
}

const checkDocument = (place: InputPlace, from: number, to: number) => {
  if (!isRecord(place.value)) return place.fault(`${place.label} must be a document as a search returns it.`)
  checkFilled(place.member('_id'))
  const type = checkOneOf(place.member('_type'), GIVEN_TYPES, 'one of')
  const source = place.member('_source')
  if (!isRecord(source.value)) return source.fault('_source must be the fields of the document.')
  let block: number | undefined
  try {
    block = documentBlock({ _source: source.value }).number
  } catch {}
  if (!Number.isSafeInteger(block))
    return source.fault('_source must have the number of its block, as blockNumber.num.')
  if (block! < from || block! > to)
    return source.fault(`_source is of block ${block}, which is not in the range of the test.`)
  if (!Number.isFinite(secondsOf({ _source: source.value })))
    return source.member('timestamp').fault('timestamp must be the time of the block: a date, or seconds.')
  if (type === 'state') checkGivenReading(source)
  else if (type !== undefined) checkGivenFields(source, type)
}

const checkExpected = (alert: InputPlace) => {
  if (isRecord(alert.value) && ('opened' in alert.value || 'key' in alert.value)) {
    if (!checkObject(alert, { what: 'an alert of windows', known: ['key', 'opened', 'ended', 'steps'] })) return
    const key = alert.member('key')
    if (!isRecord(key.value) || !Object.values(key.value).every(it => it === null || typeof it === 'string'))
      key.fault('key must have the values of the fields in by, as texts: {} without by.')
    checkInteger(alert.member('opened'), { min: 0 })
    const ended = alert.member('ended')
    if (ended.value !== null) checkOptional(ended, it => checkInteger(it, { min: 0 }))
    checkOptional(alert.member('steps'), it => {
      for (const id of checkList(it, { of: 'ids', min: 1 })) checkFilled(id)
    })
    return
  }
  if (!checkObject(alert, { what: 'an alert', known: ['block', 'id'] })) return
  checkInteger(alert.member('block'), { min: 0 })
  checkFilled(alert.member('id'))
}

/** Alerts that do not have the form of those of the rule. */
export const alertsOfOtherForm = ({ config: { when } }: RuleInput, { alerts }: RuleTest): RuleFault[] => {
  const [has, message] = !when
    ? [['block'], 'An alert of a rule without "when" has "block" and "id".']
    : isSequence(when)
      ? [['opened', 'steps'], 'An alert of a rule with steps has "key", "opened" and "steps": their ids.']
      : [['opened'], 'An alert of a rule with "when" has "key", "opened" and "ended".']
  const other = (alert: ExpectedAlert) =>
    has.some(name => !(name in alert)) || (isSequence(when) ? 'ended' : 'steps') in alert
  return alerts.flatMap((alert, i) => (other(alert) ? [{ path: `alerts[${i}]`, message }] : []))
}

interface TestedHit {
  _id: string
  _source: Record<string, unknown>
}

/** Compares what a rule found in the range of a test with what it must find. */
export const compareAlerts = (rule: RuleInput, test: RuleTest, simulation: RuleSimulation): RuleTestResult => {
  const { total, hits, holes } = simulation
  if (holes.length > 0) throw refuse('not_stored', `Blocks ${saidRanges(holes)} are not stored: index them first.`)
  if (!rule.config.when && total > hits.length)
    throw refuse(
      'many_matches',
      `There are ${total} matches, of which a test compares ${MAX_TESTED}: take fewer blocks.`,
    )
  const found = rule.config.when ? episodesIn(simulation) : withoutQuiet(rule, (hits as TestedHit[]).toReversed())
  const [foundKeys, expectedKeys] = [found, test.alerts].map(list => new Set(list.map(keyOfAlert)))
  return {
    found: found.length,
    missing: test.alerts
      .filter(it => !foundKeys!.has(keyOfAlert(it)))
      .toSorted((a, b) => placeOfAlert(a) - placeOfAlert(b)),
    further: found.filter(it => !expectedKeys!.has(keyOfAlert(it))),
  }
}

export const placeOfAlert = (alert: ExpectedAlert): number => ('opened' in alert ? alert.opened : alert.block)

const keyOfAlert = (alert: ExpectedAlert): string => {
  if (!('opened' in alert)) return `${alert.block} ${alert.id}`
  const key = Object.entries(alert.key).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([key, alert.opened, alert.steps ?? alert.ended ?? null], (_, value) =>
    typeof value === 'string' ? canonicalText(value) : value,
  )
}

/** In the order of the chain. */
const episodesIn = ({ alerts, windows, warnings = [] }: RuleSimulation): ExpectedEpisode[] => {
  if (!windows) throw refuse('windows_untold', warnings.join(' '))
  const { episodes, undecided } = windows
  if (undecided.length > 0)
    throw refuse(
      'not_stored',
      `At blocks ${saidRanges(undecided)} a window reaches into blocks that are not stored: index these first, or take later ones.`,
    )
  if (episodes.length < alerts!)
    throw refuse(
      'many_matches',
      `There are ${alerts} alerts, of which a test compares ${MAX_TESTED}: take fewer blocks.`,
    )
  return episodes.toReversed().map(({ key, opened, ended, steps }) => ({
    ...{ key: { ...key }, opened: opened.block },
    ...(steps ? { steps: steps.flatMap(it => ('_id' in it ? [it._id] : [])) } : { ended: ended?.block ?? null }),
  }))
}

const saidRanges = (ranges: readonly { from: number; to: number }[]): string =>
  ranges.map(({ from, to }) => (from === to ? from : `${from}-${to}`)).join(', ')

/** The matches that are alerts, of those in the order of the chain. */
const withoutQuiet = ({ config }: RuleInput, hits: readonly TestedHit[]): ExpectedMatch[] => {
  const isAlert = createQuietFilter(config)
  return hits.flatMap(hit => {
    const { number: block } = documentBlock(hit)
    return isAlert({ block, time: secondsOf(hit), source: wholeSourceText(hit) }) ? [{ block, id: hit._id }] : []
  })
}
