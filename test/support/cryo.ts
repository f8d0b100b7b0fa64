import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import type { CompressionCodec, SchemaElement } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import type { Hex, RawBlock, RpcLog, RpcReceipt, RpcTransaction } from '../../src/chain/wire.ts'

type Kind = 'u32' | 'u64' | 'binary' | 'string' | 'f64' | 'bool'
type Column = [name: string, kind: Kind, values: unknown[]]

export interface CryoOptions {
  /** Blocks of a file; cryo's own default is 1000. */
  chunk?: number
  codec?: CompressionCodec
  hex?: boolean
  /** Forms of large numbers; cryo's own default are all three. */
  integers?: readonly ('binary' | 'string' | 'f64')[]
  without?: readonly string[]
  rowGroup?: number
}

/** Writes blocks as cryo does, with the columns of `--include-columns all`. */
export const writeCryo = async (folder: string, blocks: readonly RawBlock[], options: CryoOptions = {}) => {
  await mkdir(folder, { recursive: true })
  const { chunk = 1000 } = options
  const first = Number(blocks[0]!.block.number)
  for (let at = 0; at < blocks.length; at += chunk) {
    const some = blocks.slice(at, at + chunk)
    const [from, to] = [first + at, first + at + some.length - 1].map(it => String(it).padStart(8, '0'))
    for (const [datatype, columns] of Object.entries(tablesOf(some, options)))
      await writeFile(join(folder, `demo__${datatype}__${from}_to_${to}.parquet`), parquetOf(columns, options))
  }
}

export const tablesOf = (blocks: readonly RawBlock[], { integers = ['binary', 'string', 'f64'] }: CryoOptions) => {
  const large = (name: string, values: (Hex | undefined)[]): Column[] =>
    integers.map(form => [
      `${name}_${form}`,
      form,
      values.map(value => {
        if (value === undefined) return null
        if (form === 'binary') return bytesOf(`0x${value.slice(2).padStart(64, '0')}`)
        return form === 'string' ? String(BigInt(value)) : Number(value)
      }),
    ])
  const of =
    <T>(list: readonly T[]) =>
    (name: string, kind: Kind, read: (item: T) => unknown): Column => [name, kind, list.map(read)]
  const block = of(blocks.map(it => it.block as Record<string, unknown>))
  const txs = blocks.flatMap(({ block, receipts }) =>
    block.transactions.map((tx, i) => ({ ...tx, receipt: receipts[i]! }) as RpcTransaction & { receipt: RpcReceipt }),
  )
  const tx = of(txs)
  const logs = blocks.flatMap(({ receipts }) => receipts.flatMap(receipt => receipt.logs))
  const log = of<RpcLog>(logs)
  return {
    blocks: [
      block('block_hash', 'binary', it => it.hash),
      block('parent_hash', 'binary', it => it.parentHash),
      block('author', 'binary', it => it.miner),
      block('state_root', 'binary', it => it.stateRoot),
      block('transactions_root', 'binary', it => it.transactionsRoot),
      block('receipts_root', 'binary', it => it.receiptsRoot),
      block('block_number', 'u32', it => it.number),
      block('gas_used', 'u64', it => it.gasUsed),
      block('extra_data', 'binary', it => it.extraData),
      block('logs_bloom', 'binary', it => it.logsBloom),
      block('timestamp', 'u32', it => it.timestamp),
      ...large(
        'total_difficulty',
        blocks.map(it => it.block.totalDifficulty as Hex),
      ),
      block('size', 'u32', it => it.size),
      block('base_fee_per_gas', 'u64', it => it.baseFeePerGas),
      ['chain_id', 'u64', blocks.map(it => it.chainId)],
    ] as Column[],
    transactions: [
      tx('block_number', 'u32', it => it.blockNumber),
      tx('transaction_index', 'u64', it => it.transactionIndex),
      tx('transaction_hash', 'binary', it => it.hash),
      tx('nonce', 'u64', it => it.nonce),
      tx('from_address', 'binary', it => it.from),
      tx('to_address', 'binary', it => it.to),
      ...large(
        'value',
        txs.map(it => it.value),
      ),
      tx('input', 'binary', it => it.input),
      tx('gas_limit', 'u64', it => it.gas),
      tx('gas_used', 'u64', it => it.receipt.gasUsed),
      tx('gas_price', 'u64', it => it.gasPrice),
      tx('transaction_type', 'u32', it => it.type),
      tx('max_priority_fee_per_gas', 'u64', it => it.maxPriorityFeePerGas),
      tx('max_fee_per_gas', 'u64', it => it.maxFeePerGas),
      tx('success', 'bool', it => it.receipt.status === '0x1'),
      tx('chain_id', 'u64', () => '0x7a69'),
    ],
    logs: [
      log('block_number', 'u32', it => it.blockNumber),
      log('transaction_index', 'u32', it => it.transactionIndex),
      log('log_index', 'u32', it => it.logIndex),
      log('transaction_hash', 'binary', it => it.transactionHash),
      log('address', 'binary', it => it.address),
      ...[0, 1, 2, 3].map(i => log(`topic${i}`, 'binary', it => it.topics[i])),
      log('data', 'binary', it => it.data),
      log('chain_id', 'u64', () => '0x7a69'),
    ],
  }
}

const ELEMENTS: Record<Kind, Omit<SchemaElement, 'name'>> = {
  u32: { type: 'INT32', converted_type: 'UINT_32' },
  u64: { type: 'INT64', converted_type: 'UINT_64' },
  binary: { type: 'BYTE_ARRAY' },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  f64: { type: 'DOUBLE' },
  bool: { type: 'BOOLEAN' },
}

export const parquetOf = (all: readonly Column[], options: CryoOptions = {}): Uint8Array => {
  const { codec = 'SNAPPY', hex = false, without = [], rowGroup } = options
  const columns = all
    .filter(([name]) => !without.includes(name))
    .map(
      ([name, kind, values]): Column => [
        name,
        hex && kind === 'binary' ? 'string' : kind,
        values.map(value => shown(kind, value, hex)),
      ],
    )
  const buffer = parquetWriteBuffer({
    columnData: columns.map(([name, , data]) => ({ name, data })),
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(([name, kind]) => ({ name, repetition_type: 'OPTIONAL', ...ELEMENTS[kind] }) as const),
    ],
    codec,
    compressors: { ZSTD: input => zstdCompressSync(input), LZ4_RAW: literals },
    ...(rowGroup !== undefined && { rowGroupSize: rowGroup }),
  })
  return new Uint8Array(buffer)
}

const shown = (kind: Kind, value: unknown, hex: boolean): unknown => {
  if (value === undefined || value === null) return null
  if (kind === 'u32') return Number(value)
  if (kind === 'u64') return BigInt(value as Hex)
  if (kind !== 'binary') return value
  if (hex) return typeof value === 'string' ? value : `0x${Buffer.from(value as Uint8Array).toString('hex')}`
  return typeof value === 'string' ? bytesOf(value) : value
}

const bytesOf = (hex: Hex): Uint8Array => new Uint8Array(Buffer.from(hex.slice(2), 'hex'))

/** The simplest form of LZ4: one sequence of literals. */
const literals = (input: Uint8Array): Uint8Array => {
  const more: number[] = []
  if (input.length >= 15) {
    let rest = input.length - 15
    for (; rest >= 255; rest -= 255) more.push(255)
    more.push(rest)
  }
  return Buffer.concat([Buffer.from([Math.min(15, input.length) << 4, ...more]), input])
}
