import type { RpcLog, RpcReceipt, RpcTransaction } from '../chain/wire.ts'
import type { DecodedArg, DecodedLog } from '../decode/types.ts'
import { BLOCK_LISTS, type BlockDocuments, type BlockDocumentsInput, type Document } from '../documents/document.ts'
import { COIN_DECIMALS } from '../documents/show.ts'
import { type DecodedTrace, traceReader } from '../documents/traces.ts'
import { isTrue } from '../lib/bytes.ts'
import { checksumAddress } from '../lib/keccak.ts'
import { type FieldKind, isListField, type Kind, MAPPING } from '../mapping/index.ts'
import type { Exact } from '../query/ast.ts'
import { type ComparedValue, facesAt, hexFace, integerFace, NO_FACES } from '../query/compare.ts'
import { exactOf, showExact, simplifyExact } from '../query/exact.ts'
import { keyOfHex, keyOfInteger, keyOfNumber, keyOfText, keysOfFace } from '../query/value-keys.ts'

export interface BlockEntities extends BlockDocumentsInput {
  /** Whether the decimals of that address are not known *yet*. */
  undecided?(address: string): boolean
  documents: BlockDocuments
}

/** Most entities are found by no rule, by data from the wire alone, and never become documents. */
export interface Entity {
  kind: Kind
  /** Unique: caches of one entity's values compare it. */
  stamp: number
  block: BlockEntities
  /** Place among the block's entities of the kind; of an event, that of its log. */
  index: number
  tx: RpcTransaction | undefined
  receipt: RpcReceipt | undefined
  log: RpcLog | undefined
  decoded: DecodedEntity | undefined
}

type DecodedEntity = Pick<DecodedLog, 'args' | 'signature'>

/** Undefined for an event without a known name. */
export const entityDocument = ({ kind, index, block: { documents } }: Entity): Document | undefined =>
  documents[kind](index)

/**
 * Place in the block: by transaction, and in one of them itself, its calls, its traces, the contracts
 * that it creates, and its logs. The block comes first, new tokens come last.
 */
export const placeInBlock = ({ kind, index, log, block }: Entity): number => {
  if (kind === 'block') return 0
  if (kind === 'tx') return placeOfKind(kind, index, 0)
  if (kind === 'call') return placeOfKind(kind, block.calls[index]!.tx, index)
  if (kind === 'trace') return placeOfKind(kind, transactionOfTrace(block.traces[index]!), index)
  if (kind === 'contract') return placeOfKind(kind, block.contracts[index]!.tx, index)
  if (log) return placeOfKind(kind, Number(log.transactionIndex), index)
  return placeOfKind(kind, NO_TRANSACTION, index)
}

/** Traces of rewards have none. */
const transactionOfTrace = (trace: DecodedTrace): number =>
  'transactionPosition' in trace ? trace.transactionPosition : NO_TRANSACTION

/** In place of the transaction of what has none, and is no block. */
export const NO_TRANSACTION = 2 ** 24
/** Of one transaction, what comes first. */
export const RANK_IN_TRANSACTION: Readonly<Record<Kind, number>> = {
  ...{ block: 0, tx: 0, call: 1, trace: 2, contract: 3, log: 4, event: 4, token: 5 },
}
const placeOfKind = (kind: Kind, transaction: number, index: number): number =>
  ((transaction + 1) * 8 + RANK_IN_TRANSACTION[kind]) * 2 ** 24 + index

let lastStamp = 0

/** In the order of the chain: an event follows its log. */
export function* entitiesOf(block: BlockEntities, kinds: { has(kind: Kind): boolean }): Generator<Entity, void> {
  const { raw, logs } = block
  // All members each time: objects of one shape are read faster.
  const entity = (
    kind: Kind,
    index: number,
    tx?: RpcTransaction,
    receipt?: RpcReceipt,
    log?: RpcLog,
    decoded?: DecodedEntity,
  ): Entity => ({ kind, stamp: ++lastStamp, block, index, tx, receipt, log, decoded })

  if (kinds.has('block')) yield entity('block', 0)
  const [hasTxs, hasLogs, hasEvents] = [kinds.has('tx'), kinds.has('log'), kinds.has('event')]
  let index = 0
  for (const [i, receipt] of raw.receipts.entries()) {
    const tx = raw.block.transactions[i]!
    if (hasTxs) yield entity('tx', i, tx, receipt)
    if (hasLogs || hasEvents)
      for (const log of receipt.logs) {
        const decoded = logs[index]!
        if (hasLogs) yield entity('log', index, tx, receipt, log, decoded)
        if (hasEvents && decoded.signature.event !== null) yield entity('event', index, tx, receipt, log, decoded)
        index++
      }
  }
  for (const kind of LISTED_KINDS)
    if (kinds.has(kind))
      for (const i of BLOCK_LISTS[kind](block).keys())
        yield entity(kind, i, undefined, undefined, undefined, kind === 'call' ? block.calls[i] : undefined)
}

const LISTED_KINDS = Object.keys(BLOCK_LISTS) as (keyof typeof BLOCK_LISTS)[]

export type EntityKeys = undefined | string | readonly string[]

/** Reads what a condition compares, from data of the wire if possible. */
export interface EntityValues {
  /** As `valuesAt` reads from the document. */
  faces(entity: Entity): readonly ComparedValue[]
  /** Keys of everything that the values may be equal to. */
  keys(entity: Entity): EntityKeys
  /** Whether there would be a value if the decimals were known. */
  needsDecimals(entity: Entity): boolean
}

export const entityValues = (kind: Kind, steps: readonly string[], scaled: boolean): EntityValues => {
  const [name = '', ...rest] = steps
  const fields = MAPPING[kind].fields
  const field = Object.hasOwn(fields, name) ? fields[name]! : undefined
  if (field && isListField(field) && name === 'args' && rest.length === 1) return argumentSource(rest[0]!, scaled)
  const read = scaled ? undefined : own(ENTITY_READERS[kind] ?? {}, name)
  if (read && field && !isListField(field) && rest.length < 2) {
    const [inner = ''] = rest
    const form = own(COMPARED_FORMS[field.kind] ?? {}, inner)
    if (form) return wireSource(read, form)
    const place = argumentPlaceOf(inner)
    if (field.kind === 'hexList' && place !== undefined)
      return wireSource(entity => (read(entity) as unknown[])[place], hexValue)
  }
  return documentValues(kind, steps, scaled)
}

/** Names come from rules. */
const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const documentValues = (kind: Kind, steps: readonly string[], scaled: boolean): EntityValues => {
  const values = facesAt(steps, scaled, kind)
  const faces = (entity: Entity) => {
    const document = entityDocument(entity)
    return document === undefined ? NO_FACES : values(document)
  }
  return {
    faces,
    keys: entity => faces(entity).flatMap(keysOfFace),
    needsDecimals(entity) {
      const document = entityDocument(entity)
      if (document?.decoding === undefined) return false
      return values({ _source: document._source, decoding: { ...document.decoding, decimals: 0 } }).length > 0
    },
  }
}

type ReadEntity = (entity: Entity) => unknown

const BLOCK_READERS: Readonly<Record<string, ReadEntity>> = {
  blockNumber: ({ block }) => block.raw.block.number,
  blockHash: ({ block }) => block.raw.block.hash,
}
const LOG_READERS: Readonly<Record<string, ReadEntity>> = {
  address: ({ log }) => log!.address,
  transactionHash: ({ log }) => log!.transactionHash,
  logIndex: ({ log }) => log!.logIndex,
  ...BLOCK_READERS,
}

/** Members of the wire that fields show as they are. Other fields are read from documents. */
const ENTITY_READERS: Readonly<Partial<Record<Kind, Readonly<Record<string, ReadEntity>>>>> = {
  block: Object.fromEntries(
    ['number', 'hash', 'miner', 'gasUsed', 'gasLimit', 'baseFeePerGas'].map(name => [
      name,
      ({ block }: Entity) => block.raw.block[name],
    ]),
  ),
  tx: {
    hash: ({ tx }) => tx!.hash,
    from: ({ tx }) => tx!.from,
    to: ({ tx }) => tx!.to,
    value: ({ tx }) => tx!.value,
    gas: ({ tx }) => tx!.gas,
    gasPrice: ({ tx }) => tx!.gasPrice,
    nonce: ({ tx }) => tx!.nonce,
    type: ({ tx }) => tx!.type,
    method: ({ block, index }) => block.methods[index],
    status: ({ receipt }) => receipt!.status,
    gasUsed: ({ receipt }) => receipt!.gasUsed,
    contractAddress: ({ receipt }) => receipt!.contractAddress,
    ...BLOCK_READERS,
  },
  log: {
    signature: ({ log }) => log!.topics[0],
    topics: ({ log }) => log!.topics,
    ...LOG_READERS,
  },
  event: {
    event: ({ decoded }) => decoded!.signature.event!.name,
    ...LOG_READERS,
  },
  call: {
    from: ({ block, index }) => block.calls[index]!.from,
    to: ({ block, index }) => block.calls[index]!.to,
    value: ({ block, index }) => block.calls[index]!.value,
    callType: ({ block, index }) => block.calls[index]!.callType,
    method: ({ decoded }) => decoded!.signature.event?.name,
    selector: ({ decoded }) => decoded!.signature.topic,
    depth: ({ block, index }) => block.calls[index]!.depth,
    reverted: ({ block, index }) => block.calls[index]!.reverted,
    ...BLOCK_READERS,
  },
  trace: {
    type: ({ block, index }) => block.traces[index]!.type,
    ...Object.fromEntries(
      ['callType', 'action.from', 'action.to', 'action.value', 'action.address', 'result.address', 'error'].map(
        path => {
          const read = traceReader(path)
          return [path, ({ block, index }: Entity) => read(block.traces[index]!)]
        },
      ),
    ),
    transactionHash: ({ block, index }) => {
      const trace = block.traces[index]!
      return trace.type === 'reward' ? undefined : trace.transactionHash
    },
    ...BLOCK_READERS,
  },
}

/** Converts a wire value for comparison and to a key. */
interface ComparedForm {
  face(value: never): ComparedValue
  key(value: never): string
}

const textEntityFace = (text: string): ComparedValue => ({ text, number: undefined })
const booleanEntityFace = (value: boolean): ComparedValue => ({ text: String(value), number: exactOf(value ? 1n : 0n) })

/** The text is lazy: operands are nearly always numbers. A class, as V8 makes a shape for each object literal with a getter. */
class FractionFace implements ComparedValue {
  readonly number: Exact
  constructor(number: Exact) {
    this.number = number
  }
  get text(): string {
    return showExact(simplifyExact(this.number))
  }
}

const addressValue: ComparedForm = { face: (text: string) => hexFace(checksumAddress(text)), key: keyOfHex }
const checksummedValue: ComparedForm = { face: (text: string) => textEntityFace(checksumAddress(text)), key: keyOfHex }
const hexValue: ComparedForm = { face: (text: string) => hexFace(text.toLowerCase()), key: keyOfHex }
const comparedText: ComparedForm = { face: textEntityFace, key: keyOfText }
/** Some nodes write zero as `0x`. */
const toInteger = (value: string | number): bigint => (value === '0x' ? 0n : BigInt(value))
const wholeValue: ComparedForm = {
  face: (value: string | number) => integerFace(toInteger(value)),
  key: (value: string | number) =>
    typeof value === 'string' && value !== '0x' ? keyOfHex(value) : keyOfInteger(toInteger(value)),
}
const coinValue: ComparedForm = {
  face: (value: string | number) => new FractionFace({ digits: toInteger(value), scale: COIN_DECIMALS }),
  key: (value: string | number) => keyOfNumber({ digits: toInteger(value), scale: COIN_DECIMALS }),
}
const booleanValue: ComparedForm = {
  face: (value: unknown) => booleanEntityFace(isTrue(value)),
  key: (value: unknown) => (isTrue(value) ? '1' : '0'),
}

/** Comparison forms by encoding; other values are read from documents. */
const COMPARED_FORMS: Readonly<Partial<Record<FieldKind, Readonly<Record<string, ComparedForm | undefined>>>>> = {
  address: { '': addressValue, raw: checksummedValue },
  hex: { '': hexValue },
  hexList: { '': hexValue },
  quantity: { '': wholeValue, num: wholeValue },
  amount: { '': wholeValue, num: wholeValue, coin: coinValue },
  boolean: { '': booleanValue },
  long: { '': wholeValue },
  keyword: { '': comparedText },
  text: { '': comparedText, raw: comparedText },
}

const wireSource = (read: ReadEntity, { face, key }: ComparedForm): EntityValues => ({
  faces(entity) {
    const value = read(entity)
    if (value === null || value === undefined) return NO_FACES
    return Array.isArray(value) ? value.map(item => face(item as never)) : [face(value as never)]
  },
  keys(entity) {
    const value = read(entity)
    if (value === null || value === undefined) return undefined
    return Array.isArray(value) ? value.map(item => key(item as never)) : key(value as never)
  },
  needsDecimals: () => false,
})

/** An argument by its name, or if none has that name by its position. */
const argumentSource = (name: string, scaled: boolean): EntityValues => {
  const place = argumentPlaceOf(name)
  const read = <T>({ args }: DecodedEntity, of: (arg: DecodedArg) => T): T | T[] | undefined => {
    if (args === null) return undefined
    let found: T | undefined
    let more: T[] | undefined
    for (const arg of args) {
      if (arg.name !== name) continue
      if (more !== undefined) more.push(of(arg))
      else if (found !== undefined) more = [found, of(arg)]
      else found = of(arg)
    }
    if (more !== undefined || found !== undefined) return more ?? found
    return place !== undefined && place < args.length ? of(args[place]!) : undefined
  }
  const list = <T>(found: T | T[] | undefined): readonly T[] =>
    found === undefined ? [] : Array.isArray(found) ? found : [found]

  if (scaled)
    return {
      faces(entity) {
        const decimals = entityDecimals(entity)
        if (decimals === undefined) return NO_FACES
        return list(read(entity.decoded!, arg => arg)).flatMap(arg =>
          isAmount(arg) ? [new FractionFace({ digits: arg.int, scale: decimals })] : [],
        )
      },
      keys: () => undefined,
      needsDecimals: entity => list(read(entity.decoded!, arg => arg)).some(isAmount),
    }
  return {
    faces: ({ decoded }) => list(read(decoded!, arg => faceOf(arg, decoded!))),
    keys: ({ decoded }) => read(decoded!, arg => keyOfArgument(arg, decoded!)),
    needsDecimals: () => false,
  }
}

const argumentPlaceOf = (step: string): number | undefined => (/^\d{1,15}$/.test(step) ? Number(step) : undefined)

const isAmount = (arg: DecodedArg): arg is DecodedArg & { int: bigint } => arg.int !== null && arg.type !== 'bool'

const faceOf = (arg: DecodedArg, log: DecodedEntity): ComparedValue => {
  const { int, type, hex } = arg
  if (int !== null) return type === 'bool' ? booleanEntityFace(int === 1n) : integerFace(int)
  if (isTextArgument(arg, log)) return textEntityFace(utf8(hex))
  return hexFace(type === 'address' && hex.length === 42 ? checksumAddress(hex) : hex)
}

const keyOfArgument = (arg: DecodedArg, log: DecodedEntity): string =>
  arg.int !== null ? keyOfInteger(arg.int) : isTextArgument(arg, log) ? keyOfText(utf8(arg.hex)) : keyOfHex(arg.hex)

const isTextArgument = ({ type, pos }: DecodedArg, { signature }: DecodedEntity): boolean =>
  type === 'string' && signature.event?.inputs[pos]?.indexed !== true

const utf8 = (hex: string): string => Buffer.from(hex.slice(2), 'hex').toString()

/** Decimals of the token that emitted the event, or that is called. */
const entityDecimals = ({ block, index, log }: Entity): number | undefined =>
  block.decimals(log ? emitterOf(log) : emitterOf({ address: block.calls[index]!.to }))

/** 40 lower-case digits. */
export const emitterOf = ({ address }: Pick<RpcLog, 'address'>): string => address.slice(2).toLowerCase()
