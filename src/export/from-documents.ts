import type { RawBlock, RpcBlock, RpcLog, RpcReceipt, RpcTrace, RpcTransaction } from '../chain/wire.ts'
import { retry } from '../lib/errors.ts'
import { type Field, isList, type Kind, type List, MAPPING, type Origin } from '../mapping/index.ts'

/** From documents back to what a node said. */

export type Source = Record<string, unknown>

/** A member that a field came from, and its value as nodes write it. */
interface Member {
  field: string
  wire: string
  back(value: unknown): unknown
}

const membersFrom = (kind: Kind, origin: Origin): Member[] =>
  Object.entries(MAPPING[kind].fields as Record<string, Field | List>).flatMap(([field, declaration]) => {
    if (declaration.origin !== origin) return []
    const wire = 'wire' in declaration && declaration.wire ? declaration.wire : field
    return [{ field, wire, back: backOf(declaration) }]
  })

const quantity = (value: unknown): unknown => (value as { raw: string }).raw
const number = (value: unknown): unknown => `0x${Number(value).toString(16)}`
const same = (value: unknown): unknown => value

const backOf = (declaration: Field | List): ((value: unknown) => unknown) => {
  if (isList(declaration)) {
    const { members } = declaration
    return list => (list as Source[]).map(item => mapMembers(item, name => backOf(members[name]!)))
  }
  switch (declaration.kind) {
    case 'quantity':
    case 'wide':
    case 'amount':
      return quantity
    case 'boolean':
      return value => (value ? '0x1' : '0x0')
    case 'seconds':
      return number
    case 'address':
      return value => (value as string).toLowerCase()
    default:
      return same
  }
}

const mapMembers = (item: Source, of: (name: string) => (value: unknown) => unknown): Source =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, value === null ? null : of(name)(value)]))

const BLOCK = membersFrom('block', 'wire')
const TX = membersFrom('tx', 'wire')
const RECEIPT = membersFrom('tx', 'receipt')
const TRACE = membersFrom('trace', 'wire')

/** What a document does not have is not there; null stays null. */
const take = (members: readonly Member[], source: Source): Source => {
  const made: Source = {}
  for (const { field, wire, back } of members) {
    const value = source[field]
    if (value !== undefined) made[wire] = value === null ? null : back(value)
  }
  return made
}

/** A block whose transactions are their hashes yet. */
export interface BareBlock {
  number: string
  hash: string
  transactions: string[]
}

export const blockOfDocument = (source: Source): BareBlock =>
  ({
    ...{ number: quantity(source.number), ...take(BLOCK, source), ...extraOf(source) },
    transactions: source.transactions as string[],
  }) as unknown as BareBlock

/** Members that are no fields. */
const extraOf = ({ extra }: Source): Source => (extra as Source | undefined) ?? {}

/** Where a transaction, a receipt or a log stands. */
const placeOf = ({ blockHash, blockNumber, transactionIndex }: Source) => ({
  blockHash,
  blockNumber: quantity(blockNumber),
  transactionIndex: quantity(transactionIndex),
})

export const txOfDocument = (source: Source): { transaction: RpcTransaction; receipt: Source } => {
  const place = placeOf(source)
  const { receipt: extra, ...more } = extraOf(source)
  return {
    transaction: { ...take(TX, source), ...more, ...place } as RpcTransaction,
    receipt: { ...take(RECEIPT, source), ...(extra as Source | undefined), transactionHash: source.hash, ...place },
  }
}

export const logOfDocument = (source: Source): RpcLog => {
  const { address, topics, data, logIndex, transactionHash } = source
  const own = { address: (address as string).toLowerCase(), topics, data, logIndex: quantity(logIndex) }
  return { ...own, transactionHash, ...placeOf(source), removed: false } as RpcLog
}

/** A step's type of call stands among its other members; nothing stands where nothing went wrong. */
export const traceOfDocument = (source: Source): Source => {
  const action: Source = {}
  const result: Source = {}
  const { type, callType, subtraces, traceAddress, error } = source
  if (type === 'call') action.callType = callType
  for (const { field, back } of TRACE) {
    const [group, name] = field.split('.')
    const value = name === undefined ? undefined : (source[group!] as Source | null | undefined)?.[name]
    if (value === undefined || value === null) continue
    const into = group === 'action' ? action : result
    into[name!] = back(value)
  }
  const { transactionHash, transactionPosition } = source
  const isOfTransaction = transactionHash !== undefined && transactionHash !== null
  return {
    ...{ type, action, result: Object.keys(result).length > 0 ? result : null, subtraces, traceAddress },
    ...(error !== undefined && error !== null && { error }),
    blockHash: source.blockHash,
    blockNumber: Number(quantity(source.blockNumber)),
    ...(isOfTransaction && { transactionHash, transactionPosition: Number(quantity(transactionPosition)) }),
  }
}

export interface Parts {
  chainId: number | undefined
  txs: Source[]
  logs: Source[]
  traces?: Source[]
}

/** A block as a node told it, of its document and those of what is in it. */
export const rawOfDocuments = (document: Source, parts: Parts): RawBlock => {
  const { chainId, txs, logs, traces = [] } = parts
  const block = blockOfDocument(document)
  if (txs.length !== block.transactions.length)
    throw retry('block_changed', `block ${Number(block.number)} was replaced while it was read: run the export again`)
  const transactions: RpcTransaction[] = []
  const receipts: RpcReceipt[] = []
  const logsOf = new Map<string, RpcLog[]>()
  for (const source of logs) {
    const log = logOfDocument(source)
    const list = logsOf.get(log.transactionHash) ?? []
    if (list.length === 0) logsOf.set(log.transactionHash, list)
    list.push(log)
  }
  for (const source of txs) {
    const { transaction, receipt } = txOfDocument(source)
    transactions.push(transaction)
    receipts.push({ ...receipt, logs: logsOf.get(transaction.hash) ?? [] } as unknown as RpcReceipt)
  }
  return {
    ...(chainId !== undefined && { chainId }),
    block: { ...block, transactions } as unknown as RpcBlock,
    receipts,
    ...(traces.length > 0 && { traces: traces.map(traceOfDocument) as unknown as RpcTrace[] }),
  }
}
