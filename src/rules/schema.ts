import { parseExact } from '../query/exact.ts'
import { checkRecipients, checkUrl, type RuleOptions } from './addresses.ts'
import { checkAttribute, checkOutermost } from './attributes.ts'
import {
  boolean,
  expected,
  type Fault,
  filled,
  integer,
  isRecord,
  list,
  listOf,
  object,
  oneOf,
  type Place,
  placeOf,
  string,
  wrongOf,
} from './place.ts'
import { type Action, OPERATORS, type Operator, type RuleInput, TARGET_TYPES, type TargetType } from './rule.ts'

export type { RuleOptions } from './addresses.ts'
export type { Fault } from './place.ts'

export type CheckedRule = { rule: RuleInput; faults: [] } | { rule?: undefined; faults: Fault[] }

/**
 * A rule as it came in a body, checked to the letter: every fault, in the order of the rule's parts. Any value at all may be handed in.
 * What is the server's is left out of the rule; what is nobody's is kept.
 *
 * Not by valibot: of an object's unknown properties it names the first alone, after a wrong discriminator it looks no further, and it takes
 * arrays for objects.
 */
export const checkRule = (value: unknown, options: RuleOptions = {}): CheckedRule => {
  const faults: Fault[] = []
  const rule = placeOf(value, faults, { label: 'The rule' })
  if (!isRecord(value)) {
    expected(rule, 'an object')
    return { faults }
  }
  const { kept, tooDeep } = split(value)
  // Whatever is nested so deep is no rule, and may not be walked by code that calls itself.
  if (tooDeep !== undefined) {
    rule.member(tooDeep).fault(`${tooDeep} is nested more than ${MOST_LEVELS} levels deep: make it flatter.`)
    return { faults }
  }

  string(rule.member('name'))
  integer(rule.member('maxConfirmationCount'), { min: 0, max: 100_000 })
  for (const name of NETWORK_PARTS) networkPart(rule.member(name))
  config(rule.member('config'), options)
  optional(rule.member('version'), integer)
  optional(rule.member('description'), place => {
    if (place.value !== null && typeof place.value !== 'string') expected(place, 'a string or null')
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
/** What an answer adds to a rule. It may come back with it, and is not stored. */
export const SERVERS: readonly string[] = ['id', 'createdAt', 'updatedAt', 'triggerCount', 'idle', 'warnings']

const MOST_LEVELS = 50

const split = (value: Record<string, unknown>): { kept: Record<string, unknown>; tooDeep: string | undefined } => {
  const own = Object.entries(value).filter(([name]) => !SERVERS.includes(name))
  return { kept: Object.fromEntries(own), tooDeep: own.find(([, inner]) => levelsExceed(inner, MOST_LEVELS))?.[0] }
}

/** Level by level, not by calling itself: the value may be deeper than the stack. */
const levelsExceed = (value: unknown, most: number): boolean => {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap(it => (typeof it === 'object' && it !== null ? Object.values(it) : []))
  }
  return false
}

const optional = (place: Place, check: (place: Place) => void) => {
  if (place.value !== undefined) check(place)
}

/** As a network's name is written in the configuration and in URLs. */
const NETWORK_PART = /^[a-z0-9][a-z0-9_.-]{0,63}$/

const networkPart = (place: Place) => {
  const what = `one part of a network's name, such as "ethereum"`
  const value = string(place, what)
  if (value === undefined || NETWORK_PART.test(value)) return
  const lower = value.toLowerCase()
  expected(
    place,
    what,
    NETWORK_PART.test(lower)
      ? `Write it in lower case: "${lower}".`
      : 'It has 1 to 64 lower-case letters, digits, "_", "." and "-", of which the first is a letter or digit.',
  )
}

/** What its owner keeps with the rule must come back as it was. */
const further = (place: Place) => {
  if (place.label === '__proto__') place.fault('"__proto__" cannot be kept: give the property another name.')
  const steps = inexact(place.value)
  if (!steps) return
  const it = steps.reduce((at, step) => (typeof step === 'number' ? at.element(step) : at.member(step)), place)
  it.fault(`${it.label} is a number that loses digits in JSON: write it as a string.`)
}

/** The way to the first number that is not kept exactly. */
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

const config = (place: Place, options: RuleOptions) => {
  if (!object(place, { what: 'the config', known: ['targetType', 'targetMap', 'alerts'] })) return
  const target = oneOf(place.member('targetType'), TARGET_TYPES, 'a kind of entity')
  const targets = [...list(place.member('targetMap'), { of: 'conditions', min: 1, max: 10 })]
  for (const it of targets) condition(it, 1, { target, steps: [], scaled: false })
  distinct(targets)
  const alerts = [...list(place.member('alerts'), { of: 'alerts', min: 1, max: 10 })]
  for (const it of alerts) action(it, options)
  distinct(alerts)
}

const distinct = (places: readonly Place[]) => {
  const seen = new Map<string, Place>()
  for (const place of places) {
    const key = JSON.stringify(place.value, sorted)
    const same = seen.get(key)
    if (same) place.fault(`${place.label} is the same as ${same.label}: leave one of them out.`)
    else seen.set(key, place)
  }
}

/** The order of an object's properties is no difference. */
const sorted = (_: string, value: unknown): unknown => {
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  return typeof value === 'bigint' ? String(value) : value
}

interface Way {
  /** Undefined where it is not known for a fault. */
  target: TargetType | undefined
  /** Names of the conditions around. */
  steps: readonly string[]
  /** An `Inspect` around asks for scaled values. */
  scaled: boolean
}

const CONDITION = ['name', 'operator', 'value', 'operatorParameters'] as const
const SECOND = ['name', 'operator', 'value', 'useScaledValue', 'operatorParameters'] as const
const COMPARING = OPERATORS.filter(it => it !== 'Inspect')
const WITH_LIST: readonly (Operator | undefined)[] = ['Equals any', 'Equals any (ignore case)']
/** Those whose entities have arguments. */
const WITH_ARGS: readonly TargetType[] = ['Event', 'Call', 'Method']

const condition = (place: Place, level: 1 | 2 | 3, around: Way) => {
  const { target, steps } = around
  const known = level === 2 ? SECOND : CONDITION
  if (!object(place, { what: 'a condition', known, elsewhere: ELSEWHERE })) return
  const name = filled(place.member('name'))
  const operator = operatorAt(place.member('operator'), level)
  operandAt(place.member('value'), operator)
  const scaled = level === 2 ? scaledAt(place.member('useScaledValue'), around) : around.scaled
  if (scaled) numericAt(place.member('value'), operator)

  const unknown =
    target && name !== undefined && operator === 'Inspect' && level === 1 ? checkOutermost(target, name) : undefined
  if (unknown !== undefined) place.member('name').fault(unknown)
  // What is inside of nothing is not told of once more.
  const inside = unknown === undefined && name !== undefined
  const way: Way = inside ? { target, steps: [...steps, name], scaled } : { target: undefined, steps: [], scaled }
  const inner = place.member('operatorParameters')
  const inspects = operator === 'Inspect' || (operator === undefined && Array.isArray(inner.value))
  if (inspects && level !== 3) {
    const min = operator === 'Inspect' ? 1 : 0
    const parameters = list(inner, { of: 'conditions on what is inspected', min })
    for (const parameter of parameters) condition(parameter, level === 1 ? 2 : 3, way)
  } else if (operator !== undefined && inner.value !== undefined && inner.value !== null)
    expected(
      inner,
      'null or left out',
      `Only "Inspect" takes it${level === 3 ? ', and the third level is the last' : ''}.`,
    )

  if (way.target === undefined || inspects) return
  const complaint = checkAttribute(way.target, way.steps)
  if (complaint !== undefined) place.member('name').fault(complaint)
}

const ELSEWHERE = {
  useScaledValue:
    'useScaledValue belongs to conditions of the second level, which compare an argument: leave it out here.',
}

const operatorAt = (place: Place, level: 1 | 2 | 3): Operator | undefined => {
  if (level < 3) return oneOf(place, OPERATORS, 'an operator')
  if (place.value !== 'Inspect') return oneOf(place, COMPARING, 'an operator')
  return expected(place, 'another operator', 'The third level is the last: it compares.')
}

const operandAt = (place: Place, operator: Operator | undefined) => {
  const { value } = place
  if (operator === undefined) return
  // Nothing is compared with it, but clients that fill every property send one.
  if (operator === 'Inspect' && (value === undefined || value === null)) return
  if (!WITH_LIST.includes(operator)) {
    const instead = operator === 'Equals (ignore case)' ? 'Equals any (ignore case)' : 'Equals any'
    if (Array.isArray(value))
      expected(place, `a string with "${operator}"`, operator.startsWith('Equals') ? `"${instead}" takes a list.` : '')
    else string(place, `a string with "${operator}"`)
  } else if (typeof value === 'string')
    expected(
      place,
      `a list of strings with "${operator}"`,
      `Put it in brackets, or use "${operator.replace(' any', '')}".`,
    )
  else if (!Array.isArray(value)) expected(place, `a list of strings with "${operator}"`)
  else for (const it of wrongOf(place, isString)) string(it)
}

const scaledAt = (place: Place, { target, steps }: Way): boolean => {
  if (place.value === undefined || boolean(place) !== true) return false
  if ((target !== undefined && !WITH_ARGS.includes(target)) || (steps.length > 0 && steps[0] !== 'args'))
    place.fault(
      `useScaledValue can be true for arguments alone, which are the "args" of ${listOf(WITH_ARGS)}: leave it out.`,
    )
  return true
}

const numericAt = (place: Place, operator: Operator | undefined) => {
  if (operator === undefined || operator === 'Inspect') return
  // Whatever is no text has been told of.
  const numeric = (operand: unknown) => typeof operand !== 'string' || parseExact(operand) !== undefined
  for (const operand of numeric(place.value) ? wrongOf(place, numeric) : [place])
    expected(operand, 'a decimal or 0x-hex number, since useScaledValue is true', 'Write an amount as "1000.5".')
}

const isString = (value: unknown) => typeof value === 'string'

type Check = (place: Place, options: RuleOptions) => unknown

const PARAMETERS = {
  'Webhook (GET)': { url: checkUrl },
  'Webhook (POST)': { url: checkUrl },
  Email: { recipients: checkRecipients },
  Chat: {
    url: checkUrl,
    text: place => string(place),
    channel: place => string(place),
    username: place => string(place),
  },
} as const satisfies Record<Action['type'], Record<string, Check>>
const TYPES = Object.keys(PARAMETERS) as Action['type'][]

const action = (place: Place, options: RuleOptions) => {
  if (!object(place, { what: 'an alert', known: ['type', 'parameters', 'payload'] })) return
  const type = oneOf(place.member('type'), TYPES, 'a way to alert')
  const parameters = place.member('parameters')
  if (type !== undefined) {
    const checks: Record<string, Check> = PARAMETERS[type]
    if (object(parameters, { what: `the parameters of "${type}"`, known: Object.keys(checks) }))
      for (const [name, check] of Object.entries(checks)) check(parameters.member(name), options)
  } else if (!isRecord(parameters.value)) expected(parameters, 'an object')
  optional(place.member('payload'), it => {
    const items = [...list(it, { of: 'fields', max: 10 })]
    for (const item of items) payloadItem(item, 1)
    distinct(items)
  })
}

const payloadItem = (place: Place, level: 1 | 2 | 3) => {
  if (!object(place, { what: 'a field of a payload', known: ['fieldType', 'fieldName', 'subPayloads'] })) return
  const type = place.member('fieldType')
  const sub = type.value === 'Sub Field'
  if (sub && level === 3) expected(type, '"Field"', 'The third level is the last.')
  else oneOf(type, ['Field', 'Sub Field'], 'one of two')
  filled(place.member('fieldName'))
  const inner = place.member('subPayloads')
  if (sub && level !== 3) for (const it of list(inner, { of: 'fields' })) payloadItem(it, level === 1 ? 2 : 3)
  else if (type.value === 'Field' && inner.value !== undefined && inner.value !== null)
    expected(inner, 'null or left out', 'Only "Sub Field" takes it.')
}
