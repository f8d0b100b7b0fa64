import { isRecord } from '../../lib/arrays.ts'
import { parseTime } from '../../lib/time.ts'
import type { Limits } from '../../limits/index.ts'
import { CHANNEL_TYPES, type ChannelType, channelNamed } from '../channels.ts'
import {
  checkByteLength,
  checkFilled,
  checkInteger,
  checkList,
  checkObject,
  checkOneOf,
  checkString,
  createInputPlace,
  type InputPlace,
  quotedList,
  type RuleFault,
  reportExpected,
} from '../input.ts'

/** What a silence is about: all that is named must hold. */
export interface SilenceMatcher {
  /** Numbers of rules. */
  rules?: number[]
  /** A network, or a pattern as rules have it. */
  network?: string
  channel?: ChannelType
  /** Values of the rule's own further properties, such as `team`. */
  labels?: Record<string, string>
  /** Values of the document's fields, by dotted names. */
  fields?: Record<string, string>
}

/** A time in which alerts are not sent, in epoch milliseconds: `from` to before `to`. */
export interface SilenceInput {
  matcher: SilenceMatcher
  from: number
  to: number
  reason: string
}

type SilenceCheck = { silence: SilenceInput; faults: [] } | { silence?: undefined; faults: RuleFault[] }

const MATCHER_PARTS = ['rules', 'network', 'channel', 'labels', 'fields'] as const satisfies (keyof SilenceMatcher)[]
const MAX_RULES = 100
const MAX_MATCHER_VALUES = 10
const SILENCED_NETWORK = /^(\*|[a-z0-9][a-z0-9_.,-]*)(\/(\*|[a-z0-9][a-z0-9_.,-]*)){2}$/

/** Checks a silence as its author wrote it; without `from` it begins now. */
export const checkSilence = (value: unknown, { now, limits }: { now: number; limits: Limits }): SilenceCheck => {
  const faults: RuleFault[] = []
  const place = createInputPlace(value, faults, { label: 'The silence' })
  if (!checkObject(place, { what: 'a silence', known: ['matcher', 'from', 'to', 'reason'] })) return { faults }
  const matcher = checkMatcher(place.member('matcher'), limits)
  const from = place.member('from').value === undefined ? now : checkTime(place.member('from'))
  const end = place.member('to')
  const to = checkTime(end)
  if (to !== undefined && to <= Math.max(from ?? 0, now))
    reportExpected(end, from === undefined || from <= now ? 'a time that is not over' : 'later than from')
  const reason = checkFilled(place.member('reason'), 'a text that says why')
  checkByteLength(place.member('reason'), 'ruleText', limits)
  return faults.length === 0 ? { silence: { matcher, from: from!, to: to!, reason: reason! }, faults: [] } : { faults }
}

const checkTime = (place: InputPlace): number | undefined => {
  const what = 'a time such as "2024-05-17T12:00:00Z"'
  const text = checkString(place, what)
  const at = text === undefined ? undefined : parseTime(text)
  return text === undefined || at !== undefined ? at : reportExpected(place, what)
}

const checkMatcher = (place: InputPlace, limits: Limits): SilenceMatcher => {
  const given: Record<string, unknown> = isRecord(place.value) ? place.value : {}
  if (!checkObject(place, { what: 'a matcher', known: MATCHER_PARTS })) return {}
  if (MATCHER_PARTS.every(name => given[name] === undefined))
    place.fault(
      `${place.label} must have ${quotedList(MATCHER_PARTS, 'or')}. For all alerts, write {"network": "*/*/*"}.`,
    )
  const has = <T>(name: (typeof MATCHER_PARTS)[number], read: (place: InputPlace) => T | undefined) => {
    if (given[name] === undefined) return {}
    const known = read(place.member(name))
    return known === undefined ? {} : { [name]: known }
  }
  return {
    ...has('rules', it => checkRules(it)),
    ...has('network', it => {
      const what = 'the name of a network such as "ethereum/ethereum/mainnet", with "*" for any part'
      const name = checkString(it, what)
      return name === undefined || SILENCED_NETWORK.test(name) ? name : reportExpected(it, what)
    }),
    ...has('channel', it => channelNamed(it.value) ?? checkOneOf(it, CHANNEL_TYPES, 'a type of receiver')),
    ...has('labels', it => checkValues(it, limits)),
    ...has('fields', it => checkValues(it, limits)),
  }
}

const checkRules = (place: InputPlace): number[] =>
  [...checkList(place, { of: 'numbers of rules', min: 1, max: MAX_RULES })].flatMap(
    it => checkInteger(it, { min: 1 }) ?? [],
  )

const checkValues = (place: InputPlace, limits: Limits): Record<string, string> | undefined => {
  const { value } = place
  const names = isRecord(value) ? Object.keys(value) : []
  if (names.length === 0 || names.length > MAX_MATCHER_VALUES)
    return reportExpected(place, `an object with 1 to ${MAX_MATCHER_VALUES} names and their values`)
  for (const name of names) {
    const member = place.member(name)
    if (checkString(member) === '') reportExpected(member, 'a string that is not empty')
    checkByteLength(member, 'ruleValue', limits)
  }
  return value as Record<string, string>
}
