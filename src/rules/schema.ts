import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../lib/arrays.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../limits/index.ts'
import type { OwnAbis } from './argument-types.ts'
import { checkAlerts, type RuleOptions } from './check-alerts.ts'
import { checkConditions } from './check-conditions.ts'
import { restoreKeys } from './hidden-keys.ts'
import {
  checkBoolean,
  checkByteLength,
  checkInteger,
  checkObject,
  checkOneOf,
  checkOptional,
  checkString,
  createInputPlace,
  type InputPlace,
  quotedList,
  type RuleFault,
  reportExpected,
} from './input.ts'
import { checkNotify } from './notify/check.ts'
import { FINALITY_TAGS, type FinalityTag, networkOf, type RuleInput, TARGET_TYPES } from './rule.ts'
import { checkState } from './state/check.ts'
import { checkStateWhen } from './state/check-when.ts'
import { checkWhen, type WhenContext } from './windows/check.ts'
import { checkSteps } from './windows/check-steps.ts'

export type { RuleOptions } from './check-alerts.ts'
export type { RuleFault } from './input.ts'

export type RuleCheck = { rule: RuleInput; faults: [] } | { rule?: undefined; faults: RuleFault[] }

export interface RuleCheckOptions extends RuleOptions {
  limits?: Limits
  /** The rule that it replaces: its conditions may come from an earlier version. */
  before?: RuleInput | undefined
  /** ABIs in addition to the bundled ones. */
  abis?: OwnAbis
  /** Whether the account has a watch list; unknown without. */
  hasList?: ((name: string) => boolean) | undefined
}

/**
 * Validates a rule from any body, and reports every fault in the order of the rule's
 * parts. Properties of the server are dropped, unknown ones kept. Not by valibot, which reports
 * only the first unknown property, stops at a wrong discriminator and takes arrays for objects.
 */
export const checkRule = (
  written: unknown,
  { refusedHost, draft = false, limits = DEFAULT_LIMITS, before, abis = () => [], hasList }: RuleCheckOptions = {},
): RuleCheck => {
  const value = before ? restoreKeys(written, before) : written
  const faults: RuleFault[] = []
  const rule = createInputPlace(value, faults, { label: 'The rule' })
  if (!isRecord(value)) {
    reportExpected(rule, 'an object')
    return { faults }
  }
  const { kept, tooDeep } = splitProperties(value)
  // Too deep for a rule, and recursive code must not walk it.
  if (tooDeep !== undefined) {
    rule.member(tooDeep).fault(`${tooDeep} is nested more than ${MAX_LEVELS} levels deep: make it flatter.`)
    return { faults }
  }
  if (ruleBytes(kept) > limits.rule) {
    rule.fault(overLimit('rule', limits, rule.label).message)
    return { faults }
  }

  checkString(rule.member('name'))
  checkByteLength(rule.member('name'), 'ruleName', limits)
  checkConfirmations(rule.member('maxConfirmationCount'))
  for (const name of NETWORK_PARTS) checkNetworkPart(rule.member(name))
  const network = faults.length === 0 ? networkOf(value as unknown as RuleInput) : undefined
  checkConfig(rule.member('config'), {
    ...{ ...(refusedHost && { refusedHost }), draft, limits, before, abis, hasList, network },
  })
  checkOptional(rule.member('version'), checkInteger)
  checkOptional(rule.member('description'), place => {
    if (place.value !== null && typeof place.value !== 'string') reportExpected(place, 'a string or null')
    checkByteLength(place, 'ruleText', limits)
  })
  checkOptional(rule.member('enabled'), checkBoolean)
  checkOptional(rule.member('startBlock'), place => checkInteger(place, { min: 0, orNull: true }))
  for (const name of ['notifyPending', 'sendPendingAlerts']) checkOptional(rule.member(name), checkBoolean)
  for (const name of Object.keys(kept)) if (!OWN_PROPERTIES.includes(name)) checkFurther(rule.member(name))
  return faults.length === 0 ? { rule: kept as RuleInput, faults: [] } : { faults }
}

const NETWORK_PARTS = ['technology', 'blockchain', 'network'] as const
export const OWN_PROPERTIES: readonly string[] = [
  'name',
  'maxConfirmationCount',
  ...NETWORK_PARTS,
  'config',
  'version',
  'description',
  'enabled',
  'startBlock',
  'notifyPending',
  'sendPendingAlerts',
]
/** Properties that responses add. They may be sent back, and are not stored. */
export const SERVER_PROPERTIES: readonly string[] = [
  ...['id', 'createdAt', 'updatedAt', 'triggerCount', 'idle', 'failing', 'warnings'],
  'cancelledDeliveries',
]

const MAX_LEVELS = 50

const splitProperties = (
  value: Record<string, unknown>,
): { kept: Record<string, unknown>; tooDeep: string | undefined } => {
  const own = Object.entries(value).filter(([name]) => !SERVER_PROPERTIES.includes(name))
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

const ruleBytes = (rule: object): number =>
  Buffer.byteLength(JSON.stringify(rule, (_, value) => (typeof value === 'bigint' ? String(value) : value)))

const checkConfirmations = (place: InputPlace) => {
  const { value } = place
  if (FINALITY_TAGS.includes(value as FinalityTag)) return
  if (typeof value !== 'string' || /^-?\d+$/.test(value)) checkInteger(place, { min: 0, max: 100_000 })
  else reportExpected(place, `an integer from 0 to 100000, or ${quotedList(FINALITY_TAGS, 'or')}`)
}

const NETWORK_PART = /^[a-z0-9][a-z0-9_.-]{0,63}$/

const checkNetworkPart = (place: InputPlace) => {
  if (place.value === '*') return
  if (Array.isArray(place.value)) return checkNetworkNames(place, place.value)
  checkNetworkName(place)
}

const MAX_NETWORK_NAMES = 100

const checkNetworkNames = (place: InputPlace, names: readonly unknown[]) => {
  if (names.length === 0 || names.length > MAX_NETWORK_NAMES)
    return place.fault(
      `${place.label} must have 1 to ${MAX_NETWORK_NAMES} names, not ${names.length}. Write "*" for any.`,
    )
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) < i) place.element(i).fault(`${place.label}[${i}] is in the list twice: leave it out.`)
    else checkNetworkName(place.element(i))
  }
}

const checkNetworkName = (place: InputPlace) => {
  const what = `one part of a network's name, such as "ethereum"`
  const value = checkString(place, what)
  if (value === undefined || NETWORK_PART.test(value)) return
  const lower = value.toLowerCase()
  reportExpected(
    place,
    what,
    NETWORK_PART.test(lower)
      ? `Write it in lower case: "${lower}".`
      : 'It has 1 to 64 lower-case letters, digits, "_", "." and "-", and begins with a letter or digit.',
  )
}

/** Further properties must come back as they were. */
const checkFurther = (place: InputPlace) => {
  if (place.label === '__proto__') place.fault('"__proto__" cannot be kept: give the property another name.')
  const steps = inexactPath(place.value)
  if (!steps) return
  const it = steps.reduce((at, step) => (typeof step === 'number' ? at.element(step) : at.member(step)), place)
  it.fault(`${it.label} is a number that loses digits in JSON: write it as a string.`)
}

/** The path to the first number that JSON does not keep. */
const inexactPath = (value: unknown): (string | number)[] | undefined => {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value)) ? undefined : []
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(value)) {
    const steps = inexactPath(inner)
    if (steps) return [Array.isArray(value) ? Number(name) : name, ...steps]
  }
  return undefined
}

const checkConfig = (
  place: InputPlace,
  options: RuleCheckOptions & { limits: Limits; abis: OwnAbis; network: string | undefined },
) => {
  if (
    !checkObject(place, { what: 'the config', known: ['targetType', 'targetMap', 'alerts', 'read', 'when', 'notify'] })
  )
    return
  const target = checkTargetType(place.member('targetType'))
  const conditions = place.member('targetMap')
  const { limits, before, abis, hasList, network } = options
  const isKept = before?.config.targetType === target && isDeepStrictEqual(before?.config.targetMap, conditions.value)
  const read = place.member('read')
  const when = place.member('when')
  const resolve = when.member('resolve')
  if (target === 'State') checkState(read, [conditions, resolve], limits)
  else if (read.value !== undefined) read.fault('read goes with the targetType "State": leave it out.')
  checkConditions(conditions, target, { limits, isKept, abis, hasList })
  checkAlerts(place.member('alerts'), options)
  const hasSteps = isRecord(when.value) && 'steps' in when.value
  let alerted = target
  checkOptional(when, it => {
    if (target === 'State') {
      checkStateWhen(it, { read, conditions })
      return checkOptional(resolve, ends => checkConditions(ends, target, { limits, isKept: false, abis, hasList }))
    }
    const context: WhenContext = {
      ...{ target, limits, network },
      checkTargetMap: (at, target) =>
        checkConditions(at, target, {
          isKept: isDeepStrictEqual(before?.config.when, when.value),
          ...{ limits, abis, hasList },
        }),
    }
    if (hasSteps) alerted = checkSteps(it, context)
    else checkWhen(it, context)
  })
  checkOptional(place.member('notify'), it =>
    checkNotify(it, {
      target: alerted,
      ...{ when, conditions },
      hasWindows: when.value !== undefined,
      hasSteps: hasSteps && target !== 'State',
    }),
  )
}

const checkTargetType = (place: InputPlace) =>
  place.value === 'Balance'
    ? void place.fault('"Balance" is not supported: write "State", with the addresses in config.read.balances.')
    : checkOneOf(place, TARGET_TYPES, 'a kind of entity')
