import { type Json, type JsonObject, listAt, textAt, valueAt } from '../../api/json.ts'
import type { SearchHit } from '../../api/wire.ts'

/** Exact quantity of `{num, raw}`; undefined if absent. */
export const unitsAt = (source: Json | undefined, path: string): bigint | undefined => {
  const raw = textAt(source, `${path}.raw`)
  return raw !== undefined && /^0x[0-9a-f]+$/i.test(raw) ? BigInt(raw) : undefined
}

export const numberAt = (source: Json | undefined, path: string): number | undefined => {
  const found = valueAt(source, path)
  return typeof found === 'number' || typeof found === 'bigint' ? Number(found) : undefined
}

/** Epoch seconds or ISO text. */
export const timestampOf = (source: JsonObject): number | string | undefined => {
  const found = source.timestamp
  return typeof found === 'number' || typeof found === 'string' ? found : undefined
}

/** Buckets of a `terms` aggregation. */
export const termsBuckets = (aggregations: JsonObject | undefined, name: string): { key: string; count: number }[] =>
  listAt(aggregations, `${name}.buckets`).map(bucket => ({
    key: String(valueAt(bucket, 'key')),
    count: numberAt(bucket, 'doc_count') ?? 0,
  }))

export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`
export const isAddress = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text)
export const isSameAddress = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && one.toLowerCase() === other?.toLowerCase()
export const isHashText = (text: string): boolean => /^0x[0-9a-f]{64}$/i.test(text)

/** 32-byte words from a byte offset; the last may be shorter. */
export const hexWords = (hex: string, from = 0): string[] => hex.slice(2 + from * 2).match(/.{1,64}/g) ?? []

const WORD = 64
/** Longer lists are cut; the raw value has the rest. */
const MAX_ELEMENTS = 200

/** Elements of an ABI-encoded list of static types; undefined for others. */
export const elementsOf = (type: string, hex: string): string[] | undefined => {
  const [, element] = /^(u?int\d*|address|bool|bytes32)\[\d*\]$/.exec(type) ?? []
  if (element === undefined) return undefined
  const isDynamic = type.endsWith('[]')
  const words = hexWords(hex)
  const [first, length] = [words[0] ?? '', words[1] ?? '']
  if (isDynamic && (first.length !== WORD || BigInt(`0x${first}`) !== 32n || length.length !== WORD)) return undefined
  const items = isDynamic ? words.slice(2) : words
  if (items.some(word => word.length !== WORD)) return undefined
  if (isDynamic && BigInt(`0x${length}`) !== BigInt(items.length)) return undefined
  return items.slice(0, MAX_ELEMENTS).map(word => elementOf(element, word))
}

const elementOf = (type: string, word: string): string => {
  if (type === 'address') return `0x${word.slice(24)}`
  if (type === 'bytes32') return `0x${word}`
  if (type === 'bool') return word.endsWith('1') ? 'true' : 'false'
  return String(type.startsWith('u') ? BigInt(`0x${word}`) : BigInt.asIntN(256, BigInt(`0x${word}`)))
}

/** Signed or unsigned integer of an argument; undefined for other types. */
export const argumentInteger = (type: string, hex: string): bigint | undefined => {
  const [, unsigned, bits = '256'] = /^(u?)int(\d*)$/.exec(type) ?? []
  if (unsigned === undefined || !/^0x[0-9a-f]+$/i.test(hex)) return undefined
  return unsigned === 'u' ? BigInt(hex) : BigInt.asIntN(Number(bits || 256), BigInt(hex))
}

/** Decodes UTF-8; invalid bytes become U+FFFD. */
export const utf8Of = (hex: string): string =>
  new TextDecoder().decode(Uint8Array.from(hex.slice(2).match(/../g) ?? [], byte => Number.parseInt(byte, 16)))

/** An execution step, from its trace and call as far as indexed. */
export interface ExecutionStep {
  /** Trace address; empty for the transaction. */
  path: readonly number[]
  /** `call`, `staticcall`, `delegatecall`, `create`, `suicide`. */
  type: string
  from: string | undefined
  to: string | undefined
  value: bigint | undefined
  method: string | undefined
  selector: string | undefined
  args: readonly Json[]
  gasUsed: number | undefined
  /** Its own failure. */
  error: string | undefined
  /** Reverted by a failed parent. */
  isUndone: boolean
  traceId: string | undefined
}

/** In execution order; the first is the transaction itself, indexed or not. */
export const stepsOf = (tx: JsonObject, traces: readonly SearchHit[], calls: readonly SearchHit[]): ExecutionStep[] => {
  const steps = new Map<string, ExecutionStep>([['', ofTransaction(tx)]])
  for (const hit of [...traces, ...calls]) {
    const path = pathOf(hit._source)
    const key = path.join()
    const before = steps.get(key)
    if (hit._type === 'trace') steps.set(key, ofTrace(hit, path))
    else steps.set(key, before ? { ...before, ...named(hit._source) } : ofCall(hit._source, path))
  }
  const failed = [...steps.values()].filter(({ error }) => error !== undefined).map(({ path }) => path)
  return [...steps.values()]
    .map(step => ({ ...step, isUndone: step.isUndone || failed.some(path => isBelow(step.path, path)) }))
    .sort((a, b) => order(a.path, b.path))
}

/** Reverted steps move nothing. */
export const moves = ({ type, value, error, isUndone }: ExecutionStep): boolean =>
  (value ?? 0n) > 0n && error === undefined && !isUndone && type !== 'delegatecall' && type !== 'callcode'

const pathOf = (source: JsonObject): number[] => listAt(source, 'traceAddress').map(Number)

const isBelow = (path: readonly number[], above: readonly number[]): boolean =>
  path.length > above.length && above.every((place, i) => path[i] === place)

const order = (a: readonly number[], b: readonly number[]): number => {
  const i = a.findIndex((place, i) => place !== b[i])
  if (i === -1) return a.length - b.length
  return b[i] === undefined ? 1 : a[i]! - b[i]
}

/** Defaults of unknown members. */
const UNKNOWN_STEP = {
  ...{ method: undefined, selector: undefined, args: [], gasUsed: undefined, error: undefined },
  ...{ isUndone: false, traceId: undefined },
}

const ofTrace = ({ _id, _source }: SearchHit, path: readonly number[]): ExecutionStep => {
  const text = (name: string) => textAt(_source, name)
  const failed = [text('error'), text('revertReason')].filter(Boolean).join(': ')
  return {
    ...UNKNOWN_STEP,
    path,
    type: text('callType') ?? text('type') ?? 'step',
    from: text('action.from') ?? text('action.address'),
    to: text('action.to') ?? text('result.address') ?? text('action.refundAddress'),
    value: unitsAt(_source, 'action.value') ?? unitsAt(_source, 'action.balance'),
    gasUsed: numberAt(_source, 'result.gasUsed.num'),
    error: text('error') === undefined ? undefined : failed,
    traceId: _id,
  }
}

const ofTransaction = (source: JsonObject): ExecutionStep => {
  const to = textAt(source, 'to')
  return {
    ...UNKNOWN_STEP,
    path: [],
    type: to === undefined ? 'create' : 'call',
    from: textAt(source, 'from'),
    to: to ?? textAt(source, 'contractAddress'),
    value: unitsAt(source, 'value'),
    error: valueAt(source, 'status') === false ? (textAt(source, 'error') ?? 'failed') : undefined,
  }
}

const ofCall = (source: JsonObject, path: readonly number[]): ExecutionStep => {
  const reason = textAt(source, 'revertReason')
  return {
    ...UNKNOWN_STEP,
    path,
    type: textAt(source, 'callType') ?? 'call',
    from: textAt(source, 'from'),
    to: textAt(source, 'to'),
    value: unitsAt(source, 'value'),
    error: reason === undefined ? undefined : `Reverted: ${reason}`,
    isUndone: valueAt(source, 'reverted') === true && reason === undefined,
    ...named(source),
  }
}

const named = (source: JsonObject) => ({
  method: textAt(source, 'method'),
  selector: textAt(source, 'selector'),
  args: listAt(source, 'args'),
})

export interface Movement {
  token: string
  from: string
  to: string
  items: readonly MovedItem[]
}

export interface MovedItem {
  /** Token id (ERC-721, ERC-1155). */
  id?: bigint
  /** Smallest units. */
  value?: bigint
}

/** Undefined if the arguments do not fit. */
export const movementOf = (
  { _source }: SearchHit,
  indexed?: ReturnType<typeof fullyIndexedLogs>,
): Movement | undefined => {
  const args = listAt(_source, 'args')
  const name = textAt(_source, 'event')
  const [from, to, last] = name === 'Transfer' ? args : args.slice(1)
  if (argumentType(from) !== 'address' || argumentType(to) !== 'address') return undefined
  const items =
    name === 'Transfer' ? itemsOfTransfer(args, last, isItemId(_source, last, indexed)) : itemsOfMany(name, args)
  if (!items) return undefined
  return { token: textAt(_source, 'address') ?? '', from: argumentHex(from), to: argumentHex(to), items }
}

const itemsOfTransfer = (args: Json[], last: Json | undefined, isItem: boolean): MovedItem[] | undefined => {
  const units = argumentInteger(argumentType(last), argumentHex(last))
  if (units === undefined || args.length !== 3) return undefined
  return [isItem ? { id: units } : { value: units }]
}

/** Indices of logs with three indexed arguments: the last one of ERC-721 is an id, whatever its name. */
export const fullyIndexedLogs = (logs: readonly SearchHit[]): ReadonlySet<number | undefined> =>
  new Set(
    logs.flatMap(({ _source }) => (listAt(_source, 'topics').length === 4 ? [numberAt(_source, 'logIndex.num')] : [])),
  )

/** Where logs are not read, the name tells. */
export const isItemId = (
  event: JsonObject,
  last: Json | undefined,
  indexed?: ReturnType<typeof fullyIndexedLogs>,
): boolean => indexed?.has(numberAt(event, 'logIndex.num')) || /id$/i.test(textAt(last, 'name') ?? '')

const itemsOfMany = (name: string | undefined, args: Json[]): MovedItem[] | undefined => {
  const [, , , id, value] = args
  if (args.length !== 5) return undefined
  if (name === 'TransferSingle') {
    const [one, amount] = [id, value].map(argument => argumentInteger(argumentType(argument), argumentHex(argument)))
    return one === undefined || amount === undefined ? undefined : [{ id: one, value: amount }]
  }
  const [ids, values] = [id, value].map(argument => elementsOf(argumentType(argument), argumentHex(argument)))
  return ids && values && ids.length === values.length
    ? ids.map((one, i) => ({ id: BigInt(one), value: BigInt(values[i]!) }))
    : undefined
}

export const argumentType = (argument: Json | undefined): string => textAt(argument, 'value.type') ?? ''
export const argumentHex = (argument: Json | undefined): string => textAt(argument, 'value.hex') ?? ''
