import { at, type Json, type JsonObject, listAt, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'

/** A quantity such as `{num, raw}`, of any size; undefined where it is null or absent. */
export const unitsAt = (source: Json | undefined, path: string): bigint | undefined => {
  const raw = textAt(source, `${path}.raw`)
  return raw !== undefined && /^0x[0-9a-f]+$/i.test(raw) ? BigInt(raw) : undefined
}

export const numberAt = (source: Json | undefined, path: string): number | undefined => {
  const found = at(source, path)
  return typeof found === 'number' || typeof found === 'bigint' ? Number(found) : undefined
}

/** Seconds, or ISO text. */
export const timeOf = (source: JsonObject): number | string | undefined => {
  const found = source.timestamp
  return typeof found === 'number' || typeof found === 'string' ? found : undefined
}

/** Entries of a `terms` aggregation. */
export const bucketsOf = (aggregations: JsonObject | undefined, name: string): { key: string; count: number }[] =>
  listAt(aggregations, `${name}.buckets`).map(bucket => ({
    key: String(at(bucket, 'key')),
    count: numberAt(bucket, 'doc_count') ?? 0,
  }))

export const ZERO = `0x${'0'.repeat(40)}`
export const isAddress = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text)
export const isHash = (text: string): boolean => /^0x[0-9a-f]{64}$/i.test(text)

/** The 32-byte words of a hex text from a byte on; the last one may be shorter. */
export const wordsOf = (hex: string, from = 0): string[] => hex.slice(2 + from * 2).match(/.{1,64}/g) ?? []

const WORD = 64
/** Lists are shown up to here; the rest stands in the raw value. */
const MOST = 200

/** Elements of an ABI-encoded list of plain integers, addresses, booleans or words; undefined for anything else. */
export const elementsOf = (type: string, hex: string): string[] | undefined => {
  const [, element] = /^(u?int\d*|address|bool|bytes32)\[\d*\]$/.exec(type) ?? []
  if (element === undefined) return undefined
  const isDynamic = type.endsWith('[]')
  const words = wordsOf(hex)
  const [first, length] = [words[0] ?? '', words[1] ?? '']
  if (isDynamic && (first.length !== WORD || BigInt(`0x${first}`) !== 32n || length.length !== WORD)) return undefined
  const items = isDynamic ? words.slice(2) : words
  if (items.some(word => word.length !== WORD)) return undefined
  if (isDynamic && BigInt(`0x${length}`) !== BigInt(items.length)) return undefined
  return items.slice(0, MOST).map(word => elementOf(element, word))
}

const elementOf = (type: string, word: string): string => {
  if (type === 'address') return `0x${word.slice(24)}`
  if (type === 'bytes32') return `0x${word}`
  if (type === 'bool') return word.endsWith('1') ? 'true' : 'false'
  return String(type.startsWith('u') ? BigInt(`0x${word}`) : BigInt.asIntN(256, BigInt(`0x${word}`)))
}

/** An argument's integer in its own sign; undefined where it is none. */
export const integerOf = (type: string, hex: string): bigint | undefined => {
  const [, unsigned, bits = '256'] = /^(u?)int(\d*)$/.exec(type) ?? []
  if (unsigned === undefined || !/^0x[0-9a-f]+$/i.test(hex)) return undefined
  return unsigned === 'u' ? BigInt(hex) : BigInt.asIntN(Number(bits || 256), BigInt(hex))
}

/** Bytes as text; what is not UTF-8 becomes U+FFFD. */
export const utf8Of = (hex: string): string =>
  new TextDecoder().decode(Uint8Array.from(hex.slice(2).match(/../g) ?? [], byte => Number.parseInt(byte, 16)))

/** A step of a transaction's execution, of its trace and its call as far as these are indexed. */
export interface Step {
  /** Places below each step above it; none of the transaction's own. */
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
  /** Why it failed by itself. */
  error: string | undefined
  /** It succeeded, and a step above it failed. */
  isUndone: boolean
  traceId: string | undefined
}

/** In the order of execution. The first is the transaction's own, also where neither its trace nor its call is indexed. */
export const stepsOf = (tx: JsonObject, traces: readonly Hit[], calls: readonly Hit[]): Step[] => {
  const steps = new Map<string, Step>([['', ofTransaction(tx)]])
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

/** A step that was undone moved nothing. */
export const moves = ({ type, value, error, isUndone }: Step): boolean =>
  (value ?? 0n) > 0n && error === undefined && !isUndone && type !== 'delegatecall' && type !== 'callcode'

const pathOf = (source: JsonObject): number[] => listAt(source, 'traceAddress').map(Number)

const isBelow = (path: readonly number[], above: readonly number[]): boolean =>
  path.length > above.length && above.every((place, i) => path[i] === place)

const order = (a: readonly number[], b: readonly number[]): number => {
  const i = a.findIndex((place, i) => place !== b[i])
  if (i === -1) return a.length - b.length
  return b[i] === undefined ? 1 : a[i]! - b[i]
}

/** What no document of a step tells. */
const UNKNOWN = {
  ...{ method: undefined, selector: undefined, args: [], gasUsed: undefined, error: undefined },
  ...{ isUndone: false, traceId: undefined },
}

const ofTrace = ({ _id, _source }: Hit, path: readonly number[]): Step => {
  const text = (name: string) => textAt(_source, name)
  const failed = [text('error'), text('revertReason')].filter(Boolean).join(': ')
  return {
    ...UNKNOWN,
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

const ofTransaction = (source: JsonObject): Step => {
  const to = textAt(source, 'to')
  return {
    ...UNKNOWN,
    path: [],
    type: to === undefined ? 'create' : 'call',
    from: textAt(source, 'from'),
    to: to ?? textAt(source, 'contractAddress'),
    value: unitsAt(source, 'value'),
    error: at(source, 'status') === false ? (textAt(source, 'error') ?? 'failed') : undefined,
  }
}

const ofCall = (source: JsonObject, path: readonly number[]): Step => {
  const reason = textAt(source, 'revertReason')
  return {
    ...UNKNOWN,
    path,
    type: textAt(source, 'callType') ?? 'call',
    from: textAt(source, 'from'),
    to: textAt(source, 'to'),
    value: unitsAt(source, 'value'),
    error: reason === undefined ? undefined : `Reverted: ${reason}`,
    isUndone: at(source, 'reverted') === true && reason === undefined,
    ...named(source),
  }
}

const named = (source: JsonObject) => ({
  method: textAt(source, 'method'),
  selector: textAt(source, 'selector'),
  args: listAt(source, 'args'),
})

/** What one event moved. */
export interface Movement {
  token: string
  from: string
  to: string
  items: readonly Item[]
}

interface Item {
  /** Of one of many tokens of a contract (ERC-721, ERC-1155). */
  id?: bigint
  /** In the token's smallest unit. */
  value?: bigint
}

/** Undefined for an event of such a name with other arguments. */
export const movementOf = ({ _source }: Hit): Movement | undefined => {
  const args = listAt(_source, 'args')
  const name = textAt(_source, 'event')
  const [from, to, last] = name === 'Transfer' ? args : args.slice(1)
  if (typeOf(from) !== 'address' || typeOf(to) !== 'address') return undefined
  const items = name === 'Transfer' ? itemsOfTransfer(args, last) : itemsOfMany(name, args)
  if (!items) return undefined
  return { token: textAt(_source, 'address') ?? '', from: hexOf(from), to: hexOf(to), items }
}

const itemsOfTransfer = (args: Json[], last: Json | undefined): Item[] | undefined => {
  const units = integerOf(typeOf(last), hexOf(last))
  if (units === undefined || args.length !== 3) return undefined
  return [/id$/i.test(textAt(last, 'name') ?? '') ? { id: units } : { value: units }]
}

const itemsOfMany = (name: string | undefined, args: Json[]): Item[] | undefined => {
  const [, , , id, value] = args
  if (args.length !== 5) return undefined
  if (name === 'TransferSingle') {
    const [one, amount] = [id, value].map(argument => integerOf(typeOf(argument), hexOf(argument)))
    return one === undefined || amount === undefined ? undefined : [{ id: one, value: amount }]
  }
  const [ids, values] = [id, value].map(argument => elementsOf(typeOf(argument), hexOf(argument)))
  return ids && values && ids.length === values.length
    ? ids.map((one, i) => ({ id: BigInt(one), value: BigInt(values[i]!) }))
    : undefined
}

const typeOf = (argument: Json | undefined): string => textAt(argument, 'value.type') ?? ''
const hexOf = (argument: Json | undefined): string => textAt(argument, 'value.hex') ?? ''
