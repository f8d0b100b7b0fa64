import { createBloom } from '../../lib/bloom.ts'
import { retry } from '../../lib/errors.ts'
import { DEFAULT_LIMITS, type Limits } from '../../limits/index.ts'
import type { BlockRef } from '../source.ts'
import type { Hex, RawBlock, RpcBlock } from '../wire.ts'
import { BLOCK, RECEIPTS } from './schema.ts'
import { describeValue, faultOf, type Shape } from './shape.ts'

export interface CheckOptions {
  /** Whether blooms must equal those of the logs; some rollups send zeros. Default true. */
  bloom?: boolean
  /** Whether a block may have fewer transactions than its `transactionCount`. Default false. */
  excerpts?: boolean
  limits?: Limits
}

/**
 * Verifies a block: throws `retry('block_inconsistent')` unless header, transactions and receipts
 * belong to one complete block. Files of era1 verify the roots (transactionsRoot, receiptsRoot) as
 * well. A surplus bit in the logs bloom means missing logs. An empty bloom fails as well, since a
 * forged answer could have one. Repeated addresses and topics are interned.
 */
export const checkBlock = (raw: RawBlock, options: CheckOptions = {}): void => {
  const { block, receipts } = raw
  const { limits = DEFAULT_LIMITS } = options
  const number = checkHeader(block)
  const { hash, transactions } = block
  const where = `block ${number}`
  if (Array.isArray(transactions) && transactions.some(it => typeof it === 'string'))
    throw inconsistent(`${where} has only the hashes of its transactions, not the transactions`)
  checkShape(BLOCK, '', block, where, limits)
  checkShape(RECEIPTS, 'receipts', receipts, where, limits)
  if (receipts.length !== transactions.length) {
    throw inconsistent(`${where} has ${transactions.length} transactions but ${receipts.length} receipts`)
  }
  const stated = block.transactionCount
  const excerpt = options.excerpts === true && typeof stated === 'number' && stated > transactions.length

  let lastTransaction = -1
  let lastLog = -1
  bloom.clear()
  for (let i = 0; i < transactions.length; i++) {
    const tx = transactions[i]!
    const receipt = receipts[i]!
    const index = excerpt ? parseIndex(tx.transactionIndex) : i
    if (excerpt ? !(index > lastTransaction && index < stated) : !isIndex(tx.transactionIndex, i)) {
      throw inconsistent(`${where} has transaction index ${describeValue(tx.transactionIndex)} at place ${i}`)
    }
    lastTransaction = index
    if (tx.blockHash !== hash || !isSameNumber(tx.blockNumber, block.number, number)) {
      throw inconsistent(
        `${where} ${hash}: transaction ${index} says block ${describeValue(tx.blockNumber)} ${describeValue(tx.blockHash)}`,
      )
    }
    if (receipt.blockHash !== hash || !isSameNumber(receipt.blockNumber, block.number, number)) {
      throw inconsistent(
        `${where} ${hash}: receipt ${index} is of block ${describeValue(receipt.blockNumber)} ${describeValue(receipt.blockHash)}`,
      )
    }
    if (receipt.transactionHash !== tx.hash || !isIndex(receipt.transactionIndex, index)) {
      throw inconsistent(
        `${where}: receipt ${index} is of transaction ${describeValue(receipt.transactionIndex)} ${describeValue(receipt.transactionHash)}, not ${tx.hash}`,
      )
    }
    const { logs } = receipt
    receiptBloom.clear()
    for (const log of logs) {
      const next = excerpt ? parseIndex(log.logIndex) : lastLog + 1
      // BNB chain omits the block hash in logs of system transactions; the receipt has it.
      if (log.blockHash === NO_HASH) log.blockHash = hash
      const fault =
        log.blockHash !== hash || !isSameNumber(log.blockNumber, block.number, number)
          ? `is of block ${describeValue(log.blockNumber)} ${describeValue(log.blockHash)}, not ${hash}`
          : log.transactionHash !== tx.hash || !isIndex(log.transactionIndex, index)
            ? `is of transaction ${describeValue(log.transactionIndex)} ${describeValue(log.transactionHash)}, not ${index} ${tx.hash}`
            : (excerpt ? !(next > lastLog) : !isIndex(log.logIndex, next))
              ? `has index ${describeValue(log.logIndex)} instead of ${lastLog + 1}`
              : log.removed === true
                ? 'is marked as removed'
                : undefined
      if (fault !== undefined) throw inconsistent(`${where}: log ${lastLog + 1} (of transaction ${index}) ${fault}`)
      lastLog = next
      log.address = receiptBloom.add(log.address)
      const { topics } = log
      for (let i = 0; i < topics.length; i++) topics[i] = receiptBloom.add(topics[i]!)
    }
    if (logs.length > 0) bloom.include(receiptBloom)
    const ofReceipt = receipt.logsBloom
    if (options.bloom !== false && typeof ofReceipt === 'string' && !matches(ofReceipt, logs.length))
      throw inconsistent(`${where}: the logs bloom of receipt ${index} does not match its ${logs.length} logs`)
  }
  if (lastTransaction >= MAX_PLACES || lastLog >= MAX_PLACES)
    throw inconsistent(`${where} has more than ${MAX_PLACES} transactions or logs`)
  if (!excerpt && options.bloom !== false) checkBloom(block.logsBloom, lastLog + 1, where)
}

/** Throws `retry('block_unlinked')` unless `block` follows `parent` by number and parent hash. */
export const checkLink = (
  parent: BlockRef,
  block: Pick<RpcBlock, 'hash' | 'parentHash'> & { number: Hex | number },
): void => {
  const number = Number(block.number)
  if (number === parent.number + 1 && block.parentHash === parent.hash) return
  throw retry(
    'block_unlinked',
    `block ${number} ${block.hash} names ${block.parentHash} as its parent, but block ${parent.number} is ${parent.hash}`,
  )
}

export const refOf = (block: RpcBlock): BlockRef => ({ number: Number(block.number), hash: block.hash })

/** Throws `retry('block_inconsistent')` with the path of the first malformed value. */
export const checkShape = (shape: Shape, name: string, value: unknown, where: string, limits: Limits): void => {
  const fault = faultOf(shape, name, value, limits)
  if (fault !== undefined) throw inconsistent(`${where}: ${fault}`)
}

export const checkHeader = (block: Pick<RpcBlock, 'number' | 'hash' | 'parentHash' | 'timestamp'>): number => {
  if (typeof block !== 'object' || block === null) throw inconsistent(`the block is ${describeValue(block)}`)
  const number = parseIndex(block.number)
  if (!(number <= MAX_BLOCK)) throw inconsistent(`the block has no usable number: ${describeValue(block.number)}`)
  for (const name of ['hash', 'parentHash'] as const) {
    if (!isHash(block[name]))
      throw inconsistent(`block ${number} has a malformed ${name}: ${describeValue(block[name])}`)
  }
  if (!(parseIndex(block.timestamp) <= LAST_SECOND)) {
    throw inconsistent(`block ${number} has a malformed timestamp: ${describeValue(block.timestamp)}`)
  }
  return number
}

/** A position is block number x 2^22 + ordinal and stays below 2^53. */
const MAX_BLOCK = 2 ** 31 - 1
export const MAX_PLACES = 2 ** 22
const LAST_SECOND = 8_640_000_000_000

export const inconsistent = (what: string) => retry('block_inconsistent', what)

const NO_HASH = `0x${'0'.repeat(64)}`
const HASH = /^0x[0-9a-f]{64}$/
export const isHash = (value: unknown): value is Hex => typeof value === 'string' && HASH.test(value)

const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/
/** NaN if the value is not a hex quantity. */
const parseIndex = (value: unknown): number =>
  typeof value === 'string' && QUANTITY.test(value) ? Number(value) : Number.NaN

/** Cached hex of indices: comparing text avoids parsing, as nodes omit leading zeros. */
const indexText: Hex[] = []
const isIndex = (value: unknown, due: number): boolean => {
  let text = indexText[due]
  if (text === undefined) {
    text = `0x${due.toString(16)}`
    if (due < 65_536) indexText[due] = text
  }
  return value === text || parseIndex(value) === due
}

const isSameNumber = (value: unknown, text: Hex, number: number): boolean =>
  value === text || parseIndex(value) === number

/** Shared by all calls: `checkBlock` is synchronous and not recursive. */
const bloom = createBloom()
const receiptBloom = createBloom()

/** Most receipts have no logs: comparing the text is enough. */
const matches = (stated: Hex, logs: number): boolean =>
  logs === 0 ? stated === NO_BLOOM : stated.length === 514 && receiptBloom.compare(stated) === 'equal'
const NO_BLOOM = `0x${'0'.repeat(512)}`

const checkBloom = (stated: unknown, logs: number, where: string): void => {
  if (typeof stated !== 'string' || stated.length !== 514)
    throw inconsistent(`${where} has no logs bloom: ${describeValue(stated)}`)
  switch (bloom.compare(stated)) {
    case 'equal':
      return
    case 'malformed':
      throw inconsistent(`${where} has a malformed logs bloom`)
    case 'empty':
      throw inconsistent(
        `${where} has ${logs} logs but an empty logs bloom. If this chain does not fill its blooms, set skip-bloom for this network`,
      )
    case 'misses':
      throw inconsistent(`${where}: its logs bloom does not cover its ${logs} logs: they belong to another block`)
    case 'exceeds':
      throw inconsistent(`${where}: its logs bloom has more logs than the ${logs} received: some are missing`)
  }
}
