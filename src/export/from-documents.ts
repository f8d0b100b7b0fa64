import type { RawBlock, RpcBlock, RpcLog, RpcReceipt, RpcTrace, RpcTransaction } from '../chain/wire.ts'
import { retry } from '../lib/errors.ts'
import { type Field, type FieldOrigin, isListField, type Kind, type ListField, MAPPING } from '../mapping/index.ts'

/** Converts documents back to a node's answers. */

export type ExportedSource = Record<string, unknown>

/** A member that a field came from, and the conversion to the node's format. */
interface PackMember {
  field: string
  wire: string
  back(value: unknown): unknown
}

const membersFrom = (kind: Kind, origin: FieldOrigin): PackMember[] =>
  Object.entries(MAPPING[kind].fields as Record<string, Field | ListField>).flatMap(([field, declaration]) => {
    if (declaration.origin !== origin) return []
    const wire = 'wire' in declaration && declaration.wire ? declaration.wire : field
    return [{ field, wire, back: backOf(declaration) }]
  })

const quantityMember = (value: unknown): unknown => (value as { raw: string }).raw
const numberMember = (value: unknown): unknown => `0x${Number(value).toString(16)}`
const same = (value: unknown): unknown => value

const backOf = (declaration: Field | ListField): ((value: unknown) => unknown) => {
  if (isListField(declaration)) {
    const { members } = declaration
    return list => (list as ExportedSource[]).map(item => mapMembers(item, name => backOf(members[name]!)))
  }
  switch (declaration.kind) {
    case 'quantity':
    case 'wide':
    case 'amount':
      return quantityMember
    case 'boolean':
      return value => (value ? '0x1' : '0x0')
    case 'seconds':
      return numberMember
    case 'address':
      return value => (value as string).toLowerCase()
    default:
      return same
  }
}

const mapMembers = (item: ExportedSource, of: (name: string) => (value: unknown) => unknown): ExportedSource =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, value === null ? null : of(name)(value)]))

const BLOCK_MEMBERS = membersFrom('block', 'wire')
const TX_MEMBERS = membersFrom('tx', 'wire')
const RECEIPT_MEMBERS = membersFrom('tx', 'receipt')
const TRACE_MEMBERS = membersFrom('trace', 'wire')

/** Omits absent fields; null stays null. */
const takeMember = (members: readonly PackMember[], source: ExportedSource): ExportedSource => {
  const made: ExportedSource = {}
  for (const { field, wire, back } of members) {
    const value = source[field]
    if (value !== undefined) made[wire] = value === null ? null : back(value)
  }
  return made
}

/** A block with hashes in place of its transactions. */
export interface BareBlock {
  number: string
  hash: string
  transactions: string[]
}

export const blockOfDocument = (source: ExportedSource): BareBlock =>
  ({
    ...{ number: quantityMember(source.number), ...takeMember(BLOCK_MEMBERS, source), ...extraMembers(source) },
    transactions: source.transactions as string[],
  }) as unknown as BareBlock

/** Members without a field of their own. */
const extraMembers = ({ extra }: ExportedSource): ExportedSource => (extra as ExportedSource | undefined) ?? {}

/** Position of a transaction, receipt or log in the chain. */
const packLogPlace = ({ blockHash, blockNumber, transactionIndex }: ExportedSource) => ({
  blockHash,
  blockNumber: quantityMember(blockNumber),
  transactionIndex: quantityMember(transactionIndex),
})

export const txOfDocument = (source: ExportedSource): { transaction: RpcTransaction; receipt: ExportedSource } => {
  const place = packLogPlace(source)
  const { receipt: extra, ...more } = extraMembers(source)
  return {
    transaction: { ...takeMember(TX_MEMBERS, source), ...more, ...place } as RpcTransaction,
    receipt: {
      ...takeMember(RECEIPT_MEMBERS, source),
      ...(extra as ExportedSource | undefined),
      transactionHash: source.hash,
      ...place,
    },
  }
}

export const logOfDocument = (source: ExportedSource): RpcLog => {
  const { address, topics, data, logIndex, transactionHash } = source
  const own = { address: (address as string).toLowerCase(), topics, data, logIndex: quantityMember(logIndex) }
  return { ...own, transactionHash, ...packLogPlace(source), removed: false } as RpcLog
}

/** `callType` is in `action`; `error` is absent if the step succeeded. */
export const traceOfDocument = (source: ExportedSource): ExportedSource => {
  const action: ExportedSource = {}
  const result: ExportedSource = {}
  const { type, callType, subtraces, traceAddress, error } = source
  if (type === 'call') action.callType = callType
  for (const { field, back } of TRACE_MEMBERS) {
    const [group, name] = field.split('.')
    const value = name === undefined ? undefined : (source[group!] as ExportedSource | null | undefined)?.[name]
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
    blockNumber: Number(quantityMember(source.blockNumber)),
    ...(isOfTransaction && { transactionHash, transactionPosition: Number(quantityMember(transactionPosition)) }),
  }
}

export interface PackedParts {
  chainId: number | undefined
  txs: ExportedSource[]
  logs: ExportedSource[]
  traces?: ExportedSource[]
}

/** Rebuilds a block in the node's format from its documents. */
export const rawOfDocuments = (document: ExportedSource, parts: PackedParts): RawBlock => {
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
