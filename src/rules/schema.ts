import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../lib/record.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../limits/index.ts'
import { checkAlerts, type RuleOptions } from './check-alerts.ts'
import { checkConditions } from './check-conditions.ts'
import type { OwnAbis } from './declared.ts'
import {
  atMost,
  boolean,
  expected,
  type Fault,
  integer,
  listOf,
  object,
  oneOf,
  optional,
  type Place,
  placeOf,
  string,
} from './place.ts'
import { FINALITY_TAGS, type FinalityTag, type RuleInput, TARGET_TYPES } from './rule.ts'

export type { RuleOptions } from './check-alerts.ts'
export type { Fault } from './place.ts'

export type CheckedRule = { rule: RuleInput; faults: [] } | { rule?: undefined; faults: Fault[] }

export interface CheckOptions extends RuleOptions {
  limits?: Limits
  /** The rule that it replaces: its conditions may come from an earlier version. */
  before?: RuleInput | undefined
  /** ABIs beside the bundled ones. */
  abis?: OwnAbis
}

/**
 * Checks a rule from a body, whatever it is, and reports every fault in the order of the rule's
 * parts. Properties of the server are dropped, unknown ones kept. Not by valibot, which reports
 * only the first unknown property, stops at a wrong discriminator and takes arrays for objects.
 */
export const checkRule = (
  value: unknown,
  { refusedHost, limits = DEFAULT_LIMITS, before, abis = () => [] }: CheckOptions = {},
): CheckedRule => {
  const faults: Fault[] = []
  const rule = placeOf(value, faults, { label: 'The rule' })
  if (!isRecord(value)) {
    expected(rule, 'an object')
    return { faults }
  }
  const { kept, tooDeep } = split(value)
  // It is not a rule, and recursive code must not walk it.
  if (tooDeep !== undefined) {
    rule.member(tooDeep).fault(`${tooDeep} is nested more than ${MAX_LEVELS} levels deep: make it flatter.`)
    return { faults }
  }
  if (bytesOf(kept) > limits.rule) {
    rule.fault(overLimit('rule', limits, rule.label).message)
    return { faults }
  }

  string(rule.member('name'))
  atMost(rule.member('name'), 'ruleName', limits)
  confirmations(rule.member('maxConfirmationCount'))
  for (const name of NETWORK_PARTS) networkPart(rule.member(name))
  config(rule.member('config'), { ...(refusedHost && { refusedHost }), limits, before, abis })
  optional(rule.member('version'), integer)
  optional(rule.member('description'), place => {
    if (place.value !== null && typeof place.value !== 'string') expected(place, 'a string or null')
    atMost(place, 'ruleText', limits)
  })
  optional(rule.member('enabled'), boolean)
  optional(rule.member('startBlock'), place => integer(place, { min: 0, orNull: true }))
  optional(rule.member('notifyPending'), boolean)
  for (const name of Object.keys(kept)) if (!OWN.includes(name)) further(rule.member(name))
  return faults.length === 0 ? { rule: kept as RuleInput, faults: [] } : { faults }
}

const NETWORK_PARTS = ['technology', 'blockchain', 'network'] as const
const OWN: readonly string[] = [
  'name',
  'maxConfirmationCount',
  ...NETWORK_PARTS,
  'config',
  'version',
  'description',
  'enabled',
  'startBlock',
  'notifyPending',
]
/** Properties that responses add. They may be sent back, and are not stored. */
export const SERVERS: readonly string[] = [
  ...['id', 'createdAt', 'updatedAt', 'triggerCount', 'idle', 'failing', 'warnings'],
  'cancelledDeliveries',
]

const MAX_LEVELS = 50

const split = (value: Record<string, unknown>): { kept: Record<string, unknown>; tooDeep: string | undefined } => {
  const own = Object.entries(value).filter(([name]) => !SERVERS.includes(name))
  return { kept: Object.fromEntries(own), tooDeep: own.find(([, inner]) => levelsExceed(inner, MAX_LEVELS))?.[0] }
}

/** Level by level, since it may be deeper than the stack. */
const levelsExceed = (value: unknown, most: number): boolean => {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap(it => (typeof it === 'object' && it !== null ? Object.values(it) : []))
  }
  return false
}

const bytesOf = (rule: object): number =>
  Buffer.byteLength(JSON.stringify(rule, (_, value) => (typeof value === 'bigint' ? String(value) : value)))

const confirmations = (place: Place) => {
  const { value } = place
  if (FINALITY_TAGS.includes(value as FinalityTag)) return
  if (typeof value !== 'string' || /^-?\d+$/.test(value)) integer(place, { min: 0, max: 100_000 })
  else expected(place, `an integer from 0 to 100000, or ${listOf(FINALITY_TAGS, 'or')}`)
}

const NETWORK_PART = /^[a-z0-9][a-z0-9_.-]{0,63}$/

const networkPart = (place: Place) => {
  if (place.value === '*') return
  if (Array.isArray(place.value)) return networkNames(place, place.value)
  networkName(place)
}

const MAX_NAMES = 100

const networkNames = (place: Place, names: readonly unknown[]) => {
  if (names.length === 0 || names.length > MAX_NAMES)
    return place.fault(`${place.label} must have 1 to ${MAX_NAMES} names, not ${names.length}. Write "*" for any.`)
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) < i) place.element(i).fault(`${place.label}[${i}] is in the list twice: leave it out.`)
    else networkName(place.element(i))
  }
}

const networkName = (place: Place) => {
  const what = `one part of a network's name, such as "ethereum"`
  const value = string(place, what)
  if (value === undefined || NETWORK_PART.test(value)) return
  const lower = value.toLowerCase()
  expected(
    place,
    what,
    NETWORK_PART.test(lower)
      ? `Write it in lower case: "${lower}".`
      : 'It has 1 to 64 lower-case letters, digits, "_", "." and "-", and begins with a letter or digit.',
  )
}

/** Further properties must come back as they were. */
const further = (place: Place) => {
  if (place.label === '__proto__') place.fault('"__proto__" cannot be kept: give the property another name.')
  const steps = inexact(place.value)
  if (!steps) return
  const it = steps.reduce((at, step) => (typeof step === 'number' ? at.element(step) : at.member(step)), place)
  it.fault(`${it.label} is a number that loses digits in JSON: write it as a string.`)
}

/** The path to the first number that JSON does not keep. */
const inexact = (value: unknown): (string | number)[] | undefined => {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value)) ? undefined : []
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(value)) {
    const steps = inexact(inner)
    if (steps) return [Array.isArray(value) ? Number(name) : name, ...steps]
  }
  return undefined
}

const config = (place: Place, options: CheckOptions & { limits: Limits; abis: OwnAbis }) => {
  if (!object(place, { what: 'the config', known: ['targetType', 'targetMap', 'alerts'] })) return
  const target = oneOf(place.member('targetType'), TARGET_TYPES, 'a kind of entity')
  const conditions = place.member('targetMap')
  const { limits, before, abis } = options
  const isKept = before?.config.targetType === target && isDeepStrictEqual(before?.config.targetMap, conditions.value)
  checkConditions(conditions, target, { limits, isKept, abis })
  checkAlerts(place.member('alerts'), options)
}
