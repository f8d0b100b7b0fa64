import { LOGIC_OPERATORS } from '../../../rules/rule.ts'
import { isJsonObject, type Json, type JsonObject, listAt, textAt } from '../../api/json.ts'

export const INSPECT = 'Inspect'

/** A condition as one line of the form: the `Inspect`s around it are its path of names. */
export interface RuleLine {
  /** Such as `['args', 'value']`; empty for what is no object. */
  names: readonly string[]
  /** Operator, value and the like. */
  rest: JsonObject
  /** Place in the rule, for faults. */
  path: string
  /** What is no object, or has conditions of which one or none must hold. */
  odd?: Json
}

/** Conditions below an `Or` or `Not`, or on one element of a list, are no lines of their own. */
export const hasLogic = (conditions: readonly Json[]): boolean =>
  conditions.some(
    it =>
      LOGIC_OPERATORS.some(operator => operator === textAt(it, 'operator')) ||
      (isJsonObject(it) && it.sameElement === true) ||
      hasLogic(listAt(it, 'operatorParameters')),
  )

/** All conditions must hold, so that nested ones mean the same as a flat list. */
export const toRuleLines = (
  conditions: readonly Json[],
  place = 'config.targetMap',
  around: readonly string[] = [],
  isScaled = false,
): RuleLine[] =>
  conditions.flatMap((condition, i): RuleLine[] => {
    const path = `${place}[${i}]`
    if (!isJsonObject(condition) || hasLogic([condition])) return [{ path, names: [], rest: {}, odd: condition }]
    const { name, ...rest } = condition
    const names = [...around, String(name ?? '')]
    const scaled = isScaled || rest.useScaledValue === true
    const inner = listAt(rest, 'operatorParameters')
    if (rest.operator === INSPECT && inner.length > 0)
      return toRuleLines(inner, `${path}.operatorParameters`, names, scaled)
    return [{ path, names, rest: scaled ? { ...rest, useScaledValue: true } : rest }]
  })

/** Neighbours inside of the same thing share an `Inspect`, since rules have few conditions at the top. */
export const toTargetMap = (rows: readonly RuleLine[]): Json[] => {
  const conditions: Json[] = []
  let open: { name: string; inner: Json[] } | undefined
  for (const {
    names: [first = '', ...inner],
    rest,
    odd,
  } of rows) {
    if (odd !== undefined || inner.length === 0) {
      conditions.push(odd ?? { name: first, ...rest })
      open = undefined
      continue
    }
    if (open?.name !== first) {
      open = { name: first, inner: [] }
      conditions.push({ name: first, operator: INSPECT, operatorParameters: open.inner })
    }
    open.inner.push(toInspect(inner, rest))
  }
  return conditions
}

/** Units belong to the argument, which is the second level. */
const toInspect = ([name = '', ...inner]: readonly string[], rest: JsonObject): JsonObject => {
  if (inner.length === 0) return { name, ...rest }
  const { useScaledValue, ...own } = rest
  const units = useScaledValue === undefined ? {} : { useScaledValue }
  return { name, operator: INSPECT, ...units, operatorParameters: [toInspect(inner, own)] }
}

export type ConditionRole = 'what' | 'contract' | 'sender' | 'receiver' | 'amount'

/** What people ask for, by the names that it has. */
const CONDITION_ROLES: Record<ConditionRole, { label: string; names: readonly string[] }> = {
  what: { label: 'Event or method', names: ['event', 'method'] },
  contract: { label: 'Token or contract', names: ['address'] },
  sender: { label: 'Sender', names: ['from', '_from', 'src', 'sender'] },
  receiver: { label: 'Receiver', names: ['to', '_to', 'dst', 'recipient'] },
  amount: { label: 'Amount', names: ['value.coin', 'value', '_value', 'amount', '_amount', 'wad', 'assets'] },
}
const ROLE_NAMES = Object.keys(CONDITION_ROLES) as ConditionRole[]

/** The name without `args`. */
export const plainName = ([first = '', ...inner]: readonly string[]): string =>
  first === 'args' && inner.length > 0 ? inner.join('.') : [first, ...inner].join('.')

export const roleOf = ({ names }: Pick<RuleLine, 'names'>): ConditionRole | undefined =>
  ROLE_NAMES.find(role => CONDITION_ROLES[role].names.includes(plainName(names)))

/** Conditions to offer: the first known name of each role that no row has. */
export const offersFor = (known: readonly string[], rows: readonly RuleLine[]) => {
  const used = new Set(rows.map(roleOf))
  return ROLE_NAMES.flatMap(role => {
    const { label, names } = CONDITION_ROLES[role]
    const name = used.has(role) ? undefined : names.find(it => known.includes(it))
    return name === undefined ? [] : [{ label, name, operator: role === 'amount' ? 'Greater' : 'Equals' }]
  })
}

/** The name of a watch list in the place of values. */
export const listNamed = ({ value }: JsonObject): string | undefined => textAt(value, 'list')

export const takesList = (operator: string): boolean => operator.startsWith('Equals any')

/** Converts the value for the operator: a list, one of several values, or a text. */
export const withOperator = (rest: JsonObject, operator: string): JsonObject => {
  const { value } = rest
  if (takesList(operator) && listNamed(rest) !== undefined) return { ...rest, operator }
  const texts = Array.isArray(value) ? value : typeof value === 'string' && value !== '' ? [value] : []
  return { ...rest, operator, value: takesList(operator) ? texts : (texts[0] ?? '') }
}

export const isComplete = ({ names, rest: { value }, odd }: RuleLine): boolean =>
  odd !== undefined ||
  (!names.includes('') && (Array.isArray(value) ? value.length > 0 : value !== undefined && value !== ''))
