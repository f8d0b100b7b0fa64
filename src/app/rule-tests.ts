import { isRecord } from '../lib/arrays.ts'
import { refuse } from '../lib/errors.ts'
import { checkFilled, checkInteger, checkList, checkObject, createInputPlace, type RuleFault } from '../rules/input.ts'
import { createQuietFilter } from '../rules/notify/messages.ts'
import type { RuleInput } from '../rules/rule.ts'
import { documentBlock, type RuleSimulation } from '../rules/search.ts'
import { secondsOf, wholeSourceText } from '../rules/windows/stored.ts'

/** What a rule must find in a range of stored blocks. */
export interface RuleTest {
  /** The rule, or the path of its file from that of the test. */
  rule: unknown
  from: number
  to: number
  alerts: ExpectedAlert[]
}

export interface ExpectedAlert {
  block: number
  /** Id of the document. */
  id: string
}

/** Alerts that are expected and not found, and the other way round, in the order of the chain. */
export interface RuleTestResult {
  found: number
  missing: ExpectedAlert[]
  further: ExpectedAlert[]
}

/** Most matches that a test compares. */
export const MAX_TESTED = 10_000

export const checkRuleTest = (
  value: unknown,
): { test: RuleTest; faults: [] } | { test?: undefined; faults: RuleFault[] } => {
  const faults: RuleFault[] = []
  const place = createInputPlace(value, faults, { label: 'The test' })
  if (!checkObject(place, { what: 'a test', known: ['rule', 'from', 'to', 'alerts'] })) return { faults }
  const rule = place.member('rule')
  if (!isRecord(rule.value)) checkFilled(rule, 'a rule, or the path of its file')
  const [from, to] = ['from', 'to'].map(name => checkInteger(place.member(name), { min: 0 }))
  if (from !== undefined && to !== undefined && to < from) place.member('to').fault('to must not be before from.')
  for (const alert of checkList(place.member('alerts'), { of: 'alerts', max: MAX_TESTED })) {
    if (!checkObject(alert, { what: 'an alert', known: ['block', 'id'] })) continue
    checkInteger(alert.member('block'), { min: 0 })
    checkFilled(alert.member('id'))
  }
  return faults.length === 0 ? { test: value as RuleTest, faults: [] } : { faults }
}

interface TestedHit {
  _id: string
  _source: Record<string, unknown>
}

/** Compares what a rule found in the range of a test with what it must find. */
export const compareAlerts = (rule: RuleInput, test: RuleTest, simulation: RuleSimulation): RuleTestResult => {
  const { total, hits, holes } = simulation
  if (holes.length > 0)
    throw refuse(
      'not_stored',
      `Blocks ${holes.map(({ from, to }) => (from === to ? from : `${from}-${to}`)).join(', ')} are not stored: index them first.`,
    )
  if (total > hits.length)
    throw refuse(
      'many_matches',
      `There are ${total} matches, of which a test compares ${MAX_TESTED}: take fewer blocks.`,
    )
  const found = withoutQuiet(rule, (hits as TestedHit[]).toReversed())
  const keyOf = ({ block, id }: ExpectedAlert) => `${block} ${id}`
  const [foundKeys, expectedKeys] = [found, test.alerts].map(list => new Set(list.map(keyOf)))
  return {
    found: found.length,
    missing: test.alerts.filter(it => !foundKeys!.has(keyOf(it))).toSorted((a, b) => a.block - b.block),
    further: found.filter(it => !expectedKeys!.has(keyOf(it))),
  }
}

/** The matches that are alerts, of those in the order of the chain. */
const withoutQuiet = ({ config }: RuleInput, hits: readonly TestedHit[]): ExpectedAlert[] => {
  const isAlert = createQuietFilter(config)
  return hits.flatMap(hit => {
    const { number: block } = documentBlock(hit)
    return isAlert({ block, time: secondsOf(hit), source: wholeSourceText(hit) }) ? [{ block, id: hit._id }] : []
  })
}
