import { isHex } from '../lib/bytes.ts'
import { type Field, type FieldKind, isListField, MAPPING, wireName } from '../mapping/index.ts'

/**
 * Members of a block, or of a transaction with its receipt, beyond the fields that all chains have.
 * What no field can show is stored as it is.
 */
export interface Rest {
  kind: RestKind
  /** Fields of few chains, in the order of the wire; never null. */
  rare: ReadonlyMap<string, unknown>
  /** All other members that are not null. */
  extra: Record<string, unknown> | undefined
}

type WireObject = Readonly<Record<string, unknown>>
export type RestKind = 'block' | 'tx'

/**
 * Members that place an object in the chain, which the store knows, or repeat another. They were
 * checked before.
 */
const PLACED = ['blockHash', 'blockNumber', 'blockTimestamp', 'transactionIndex', 'transactionHash']
const OWN_MEMBERS = {
  block: ['number', 'timestamp', 'transactions', 'transactionCount'],
  tx: PLACED,
  receipt: [...PLACED, 'logs'],
}
interface Repeated {
  hasForm(value: unknown): boolean
  isSame(a: unknown, b: unknown): boolean
}

const REPEATED_ADDRESS: Repeated = {
  hasForm: value => isHexOfLength(value, 42, 42),
  isSame: (a, b) => isSameValue(a, b),
}
/** Receipt members that repeat the transaction's; invalid values are ignored. */
const REPEATED: ReadonlyMap<string, Repeated> = new Map([
  ['from', REPEATED_ADDRESS],
  ['to', REPEATED_ADDRESS],
  // Nodes write 2, "0x2" and "0x02".
  ['type', { hasForm: value => isWireInteger(value), isSame: (a, b) => Number(a) === Number(b) }],
])

const wireNames = (kind: RestKind, origins: readonly Field['origin'][]): string[] =>
  Object.entries(MAPPING[kind].fields).flatMap(([name, field]) =>
    origins.includes(field.origin) && (isListField(field) || field.rare === undefined) ? [wireName(name, field)] : [],
  )

const KNOWN_MEMBERS = {
  block: new Set([...OWN_MEMBERS.block, ...wireNames('block', ['wire'])]),
  tx: new Set([...OWN_MEMBERS.tx, ...wireNames('tx', ['wire'])]),
  receipt: new Set([...OWN_MEMBERS.receipt, ...wireNames('tx', ['receipt'])]),
}

const rareOf = (kind: RestKind): ReadonlyMap<string, Field> =>
  new Map(
    Object.entries(MAPPING[kind].fields).flatMap(([name, field]) =>
      isListField(field) || field.rare === undefined ? [] : [[name, field]],
    ),
  )

export const RARE: Readonly<Record<RestKind, ReadonlyMap<string, Field>>> = { block: rareOf('block'), tx: rareOf('tx') }

export const restOfBlock = (block: WireObject): Rest | undefined => {
  const into = newRest('block')
  for (const name in block) if (!KNOWN_MEMBERS.block.has(name)) addMember(into, name, block[name])
  return finishRest(into)
}

/** `extra.receipt` has members whose values differ from the transaction's. */
export const restOfTx = (tx: WireObject, receipt: WireObject): Rest | undefined => {
  const into = newRest('tx')
  for (const name in tx) if (!KNOWN_MEMBERS.tx.has(name)) addMember(into, name, tx[name])
  let other: Record<string, unknown> | undefined
  for (const name in receipt) {
    if (KNOWN_MEMBERS.receipt.has(name)) continue
    const value = receipt[name]
    const repeated = REPEATED.get(name)
    if (value === null || value === undefined || repeated?.hasForm(value) === false) continue
    const told = repeated ? tx[name] : (into.rare.get(name) ?? into.extra?.[name])
    if (told === undefined || told === null) addMember(into, name, value)
    else if (!(repeated?.isSame ?? isSameValue)(told, value)) {
      other ??= Object.create(null) as Record<string, unknown>
      other[name] = value
    }
  }
  if (other) extraOf(into).receipt = other
  return finishRest(into)
}

interface Gathered {
  kind: RestKind
  rare: Map<string, unknown>
  extra: Record<string, unknown> | undefined
}

const NO_RARE_FIELDS: Rest['rare'] = new Map()
const newRest = (kind: RestKind): Gathered => ({ kind, rare: NO_RARE_FIELDS as Map<string, unknown>, extra: undefined })
const finishRest = (rest: Gathered): Rest | undefined => (rest.rare.size === 0 && !rest.extra ? undefined : rest)

/** Names come from outside: `__proto__` may be one. */
const extraOf = (rest: Gathered): Record<string, unknown> => {
  rest.extra ??= Object.create(null) as Record<string, unknown>
  return rest.extra
}

const addMember = (rest: Gathered, name: string, value: unknown) => {
  if (value === null || value === undefined) return
  const field = RARE[rest.kind].get(name)
  if (field && fitsField(field, value)) {
    if (rest.rare === NO_RARE_FIELDS) rest.rare = new Map()
    rest.rare.set(name, value)
  } else extraOf(rest)[name] = value
}

const isSameValue = (a: unknown, b: unknown): boolean =>
  a === b ||
  (typeof a === 'string' && typeof b === 'string'
    ? a.toLowerCase() === b.toLowerCase()
    : JSON.stringify(a) === JSON.stringify(b))

const isHexOfLength = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'string' && value.length >= least && value.length <= most && isHex(value)

const isWireInteger = (value: unknown): boolean =>
  typeof value === 'number' ? Number.isSafeInteger(value) && value >= 0 : isHexOfLength(value, 3, 66)

const FIT_BY_KIND: Partial<Record<FieldKind, (value: unknown, field: Field) => boolean>> = {
  address: value => isHexOfLength(value, 42, 42),
  hex: (value, { bytes }) => {
    const [least, most] = bytes === undefined ? [2, Number.POSITIVE_INFINITY] : [2 + 2 * bytes, 2 + 2 * bytes]
    return isHexOfLength(value, least, most) && (value as string).length % 2 === 0
  },
  quantity: isWireInteger,
  amount: isWireInteger,
  boolean: value => value === true || value === false,
  keyword: value => typeof value === 'string' && value.length > 0 && value.length <= 64,
}

const fitsField = (field: Field, value: unknown): boolean => FIT_BY_KIND[field.kind]?.(value, field) ?? false
