import { isJsonObject, type Json, type JsonObject, listAt } from '../../api/json.ts'

export const INSPECT = 'Inspect'

/** A condition as one line of the form: the `Inspect`s around it are its path of names. */
export interface ConditionRow {
  /** Such as `['args', 'value']`; empty for what is no object. */
  names: readonly string[]
  /** Operator, value and the like. */
  rest: JsonObject
  /** Place in the rule, for faults. */
  path: string
  /** What is no object. */
  odd?: Json
}

/** All conditions must hold, so that nested ones mean the same as a flat list. */
export const rowsOf = (
  conditions: readonly Json[],
  place = 'config.targetMap',
  around: readonly string[] = [],
  isScaled = false,
): ConditionRow[] =>
  conditions.flatMap((condition, i): ConditionRow[] => {
    const path = `${place}[${i}]`
    if (!isJsonObject(condition)) return [{ path, names: [], rest: {}, odd: condition }]
    const { name, ...rest } = condition
    const names = [...around, String(name ?? '')]
    const scaled = isScaled || rest.useScaledValue === true
    const inner = listAt(rest, 'operatorParameters')
    if (rest.operator === INSPECT && inner.length > 0) return rowsOf(inner, `${path}.operatorParameters`, names, scaled)
    return [{ path, names, rest: scaled ? { ...rest, useScaledValue: true } : rest }]
  })

/** Neighbours inside of the same thing share an `Inspect`, since rules have few conditions at the top. */
export const conditionsOf = (rows: readonly ConditionRow[]): Json[] => {
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
    open.inner.push(nested(inner, rest))
  }
  return conditions
}

/** Units belong to the argument, which is the second level. */
const nested = ([name = '', ...inner]: readonly string[], rest: JsonObject): JsonObject => {
  if (inner.length === 0) return { name, ...rest }
  const { useScaledValue, ...own } = rest
  const units = useScaledValue === undefined ? {} : { useScaledValue }
  return { name, operator: INSPECT, ...units, operatorParameters: [nested(inner, own)] }
}

export type Role = 'what' | 'contract' | 'sender' | 'receiver' | 'amount'

/** What people ask for, by the names that it has. */
const ROLES: Record<Role, { label: string; names: readonly string[] }> = {
  what: { label: 'Event or method', names: ['event', 'method'] },
  contract: { label: 'Token or contract', names: ['address'] },
  sender: { label: 'Sender', names: ['from', '_from', 'src', 'sender'] },
  receiver: { label: 'Receiver', names: ['to', '_to', 'dst', 'recipient'] },
  amount: { label: 'Amount', names: ['value.coin', 'value', '_value', 'amount', '_amount', 'wad', 'assets'] },
}
const ROLE_NAMES = Object.keys(ROLES) as Role[]

/** The name without `args`. */
export const plainName = ([first = '', ...inner]: readonly string[]): string =>
  first === 'args' && inner.length > 0 ? inner.join('.') : [first, ...inner].join('.')

export const roleOf = ({ names }: Pick<ConditionRow, 'names'>): Role | undefined =>
  ROLE_NAMES.find(role => ROLES[role].names.includes(plainName(names)))

/** Conditions to offer: the first known name of each role that no row has. */
export const offersFor = (known: readonly string[], rows: readonly ConditionRow[]) => {
  const used = new Set(rows.map(roleOf))
  return ROLE_NAMES.flatMap(role => {
    const { label, names } = ROLES[role]
    const name = used.has(role) ? undefined : names.find(it => known.includes(it))
    return name === undefined ? [] : [{ label, name, operator: role === 'amount' ? 'Greater' : 'Equals' }]
  })
}

export const isComplete = ({ names, rest: { value } }: ConditionRow): boolean =>
  names.length > 0 &&
  !names.includes('') &&
  (Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '')
