import { ChainsieveError, refuse } from '../../../lib/errors.ts'
import { countIntegers } from '../../../lib/ranges.ts'
import { DEFAULT_LIMITS, overLimit } from '../../../limits/index.ts'
import { checkBlock } from '../../check/check-block.ts'
import type { Hex, RawBlock, RpcLog, RpcReceipt, RpcTransaction } from '../../wire.ts'
import type { PackLine, PackOptions } from '../pack.ts'
import type { CryoFolder } from './folder.ts'
import { type CryoColumns, type CryoRow, createCursor, hexOf, integerOf, quantityOf } from './rows.ts'

export const CRYO_COLUMNS = {
  blocks: {
    needed: ['block_number', 'block_hash', 'parent_hash', 'timestamp', 'author', 'gas_used', 'logs_bloom'],
    integers: ['total_difficulty', 'difficulty'],
    optional: [
      ...['state_root', 'transactions_root', 'receipts_root', 'extra_data', 'total_difficulty', 'size'],
      ...['base_fee_per_gas', 'chain_id', 'gas_limit', 'difficulty', 'mix_hash', 'nonce', 'uncles_hash'],
    ],
  },
  transactions: {
    needed: [
      ...['block_number', 'transaction_index', 'transaction_hash', 'nonce', 'from_address', 'to_address', 'value'],
      ...['input', 'gas_limit', 'gas_used', 'gas_price'],
    ],
    integers: ['value', 'gas_price', 'max_fee_per_gas', 'max_priority_fee_per_gas'],
    optional: ['transaction_type', 'max_fee_per_gas', 'max_priority_fee_per_gas', 'success'],
  },
  logs: {
    needed: [
      ...['block_number', 'transaction_index', 'log_index', 'transaction_hash', 'address'],
      ...['topic0', 'topic1', 'topic2', 'topic3', 'data'],
    ],
    integers: [],
    optional: [],
  },
} as const satisfies Record<string, CryoColumns>

const BLOCK_COLUMNS: readonly [column: string, member: string, kind: typeof hexOf][] = [
  ['parent_hash', 'parentHash', hexOf],
  ['uncles_hash', 'sha3Uncles', hexOf],
  ['author', 'miner', hexOf],
  ['state_root', 'stateRoot', hexOf],
  ['transactions_root', 'transactionsRoot', hexOf],
  ['receipts_root', 'receiptsRoot', hexOf],
  ['logs_bloom', 'logsBloom', hexOf],
  ['difficulty', 'difficulty', quantityOf],
  ['total_difficulty', 'totalDifficulty', quantityOf],
  ['gas_limit', 'gasLimit', quantityOf],
  ['gas_used', 'gasUsed', quantityOf],
  ['timestamp', 'timestamp', quantityOf],
  ['extra_data', 'extraData', hexOf],
  ['mix_hash', 'mixHash', hexOf],
  ['nonce', 'nonce', hexOf],
  ['base_fee_per_gas', 'baseFeePerGas', quantityOf],
  ['size', 'size', quantityOf],
]

const TRANSACTION_COLUMNS: typeof BLOCK_COLUMNS = [
  ['transaction_hash', 'hash', hexOf],
  ['nonce', 'nonce', quantityOf],
  ['from_address', 'from', hexOf],
  ['value', 'value', quantityOf],
  ['input', 'input', hexOf],
  ['gas_limit', 'gas', quantityOf],
  ['gas_price', 'gasPrice', quantityOf],
  ['max_fee_per_gas', 'maxFeePerGas', quantityOf],
  ['max_priority_fee_per_gas', 'maxPriorityFeePerGas', quantityOf],
  ['transaction_type', 'type', quantityOf],
]

/** A block as a node would send it; throws a `RangeError` where rows do not belong together. */
const assembleBlock = (row: CryoRow, transactions: readonly CryoRow[], logs: readonly CryoRow[]): RawBlock => {
  const hash = hexOf(row('block_hash'), 'block_hash') ?? missing('block_hash')
  const number = `0x${integerOf(row('block_number'), 'block_number').toString(16)}`
  const at = { blockHash: hash, blockNumber: number }
  const members = membersOf(BLOCK_COLUMNS, row)
  const own = transactions.map((tx, i) => toTransaction(tx, at, i))
  const used = cumulate(transactions)
  if (BigInt(members.gasUsed ?? missing('gas_used')) !== (used.at(-1) ?? 0n))
    throw new RangeError(
      `its ${own.length} transactions use ${used.at(-1) ?? 0} gas, but it says ${BigInt(members.gasUsed!)}: transactions are missing, or belong to another block`,
    )
  const logsOf = groupLogs(logs, at, own.length)
  const chainId = row('chain_id')
  return {
    ...(chainId !== undefined && chainId !== null && { chainId: integerOf(chainId, 'chain_id') }),
    block: { ...members, number, hash, transactions: own } as RawBlock['block'],
    receipts: own.map((tx, i): RpcReceipt => {
      const success = transactions[i]!('success')
      return {
        ...at,
        transactionHash: tx.hash,
        transactionIndex: tx.transactionIndex,
        gasUsed: `0x${(used[i]! - (used[i - 1] ?? 0n)).toString(16)}`,
        cumulativeGasUsed: `0x${used[i]!.toString(16)}`,
        effectiveGasPrice: tx.gasPrice,
        ...(typeof success === 'boolean' && { status: success ? '0x1' : '0x0' }),
        logs: logsOf[i]!,
      }
    }),
  }
}

type At = { blockHash: Hex; blockNumber: Hex }

const toTransaction = (tx: CryoRow, at: At, due: number): RpcTransaction => {
  const index = integerOf(tx('transaction_index'), 'transaction_index')
  if (index !== due) throw new RangeError(`it has transaction ${index} at place ${due}: transactions are missing`)
  const to = hexOf(tx('to_address'), 'to_address')
  return {
    ...membersOf(TRANSACTION_COLUMNS, tx),
    ...at,
    transactionIndex: `0x${index.toString(16)}`,
    // Some versions write nothing, some no bytes, where a contract is created.
    to: to === '0x' ? null : to,
  } as RpcTransaction
}

const cumulate = (transactions: readonly CryoRow[]): bigint[] => {
  let gas = 0n
  return transactions.map(tx => {
    gas += BigInt(quantityOf(tx('gas_used'), 'gas_used') ?? missing('gas_used'))
    return gas
  })
}

const groupLogs = (logs: readonly CryoRow[], at: At, transactions: number): RpcLog[][] => {
  const groups: RpcLog[][] = Array.from({ length: transactions }, () => [])
  for (const log of [...logs].sort((a, b) => indexOf(a) - indexOf(b))) {
    const index = integerOf(log('transaction_index'), 'transaction_index')
    if (index >= transactions)
      throw new RangeError(`log ${indexOf(log)} is of transaction ${index}, but there are ${transactions}`)
    groups[index]!.push(toLog(log, at, index))
  }
  return groups
}

const membersOf = (table: typeof BLOCK_COLUMNS, row: CryoRow): Record<string, Hex> => {
  const members: Record<string, Hex> = {}
  for (const [column, member, read] of table) {
    const value = read(row(column), column)
    if (value !== null) members[member] = value
  }
  return members
}

const toLog = (log: CryoRow, at: At, transaction: number): RpcLog => {
  const topics = [0, 1, 2, 3].map(i => hexOf(log(`topic${i}`), `topic${i}`))
  const count = topics.findLastIndex(topic => topic !== null) + 1
  return {
    ...at,
    address: hexOf(log('address'), 'address') ?? missing('address'),
    topics: topics.slice(0, count).map((topic, i) => topic ?? missing(`topic${i}`)),
    data: hexOf(log('data'), 'data') ?? missing('data'),
    transactionHash: hexOf(log('transaction_hash'), 'transaction_hash') ?? missing('transaction_hash'),
    transactionIndex: `0x${transaction.toString(16)}`,
    logIndex: `0x${indexOf(log).toString(16)}`,
    removed: false,
  }
}

const indexOf = (log: CryoRow): number => integerOf(log('log_index'), 'log_index')

const missing = (column: string): never => {
  throw new RangeError(`it has no ${column}`)
}

export async function* readCryo({ files, size }: CryoFolder, options: PackOptions = {}): AsyncGenerator<PackLine> {
  const { signal, onRead, stored, limits = DEFAULT_LIMITS, allocate = bytes => new Uint8Array(bytes) } = options
  const cursors = {
    blocks: createCursor(files.blocks, CRYO_COLUMNS.blocks),
    transactions: createCursor(files.transactions, CRYO_COLUMNS.transactions),
    logs: createCursor(files.logs, CRYO_COLUMNS.logs),
  }
  const all = countIntegers(files.blocks)
  let done = 0
  try {
    for (const { path, from, to } of files.blocks)
      for (let number = from; number <= to; number++) {
        signal?.throwIfAborted()
        onRead?.(Math.floor((size * ++done) / all))
        const { rows } = await cursors.blocks.take(number)
        const where = `${path}, block ${number}`
        const [row] = rows
        if (!row || rows.length > 1)
          throw refuse('cryo_incomplete', `${where}: it has ${rows.length} rows of this block. ${CRYO_REMEDY}`)
        const hash = stored?.(number)?.hash
        if (hash !== undefined && hash === hexOf(row('block_hash'), 'block_hash')) continue
        const transactions = await cursors.transactions.take(number)
        const logs = await cursors.logs.take(number)
        const raw = assemble(where, () => assembleBlock(row, transactions.rows, logs.rows))
        const text = Buffer.from(JSON.stringify(raw))
        if (text.length > limits.packLine) throw overLimit('packLine', limits, where)
        const bytes = allocate(text.length)
        bytes.set(text)
        yield { path, line: number, bytes, last: false, form: 'cryo' }
      }
  } finally {
    for (const cursor of Object.values(cursors)) await cursor.close()
  }
}

export const parseCryoBlock = ({ path, line, bytes }: PackLine, options: PackOptions = {}): RawBlock => {
  const where = `${path}, block ${line}`
  const raw = JSON.parse(Buffer.from(bytes).toString()) as RawBlock
  const { chainId } = options
  if (chainId !== undefined && raw.chainId !== undefined && raw.chainId !== chainId)
    throw refuse(
      'pack_other_chain',
      `${where}: this is a block of chain ${raw.chainId}, but the network holds chain ${chainId}. Import it into a network of its own`,
    )
  assemble(where, () => checkBlock(raw, options))
  return raw
}

const CRYO_REMEDY = 'Delete the files of this range, and let cryo write them again'

const assemble = <T>(where: string, make: () => T): T => {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof ChainsieveError)) throw error
    throw refuse('pack_inconsistent_block', `${where}: ${error.message}. ${CRYO_REMEDY}`, error)
  }
}
