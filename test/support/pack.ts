import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Hex, RawBlock, RpcLog, RpcReceipt, RpcTransaction } from '../../src/chain/wire.ts'

export interface ChainOptions {
  from?: number
  blocks: number
  txs?: number
  logs?: number
  chainId?: number
  /** Block that the first one follows; without it the first one names an invented parent. */
  parent?: RawBlock
  /** Chains of different salts have different blocks, so that a branch differs from the trunk it leaves. */
  salt?: string
}

/** A chain of made-up blocks in which everything that a node's answer is checked for is right. */
export const makeChain = (options: ChainOptions): RawBlock[] => {
  const { blocks, txs = 2, logs = 2, chainId = 31337, salt = '', parent } = options
  const first = parent === undefined ? (options.from ?? 0) : Number(parent.block.number) + 1
  const chain: RawBlock[] = []
  let parentHash = parent?.block.hash ?? hash(`parent of ${first} ${salt}`)
  for (let number = first; number < first + blocks; number++) {
    const blockHash = hash(`block ${number} ${salt} ${parentHash}`)
    const transactions: RpcTransaction[] = []
    const receipts: RpcReceipt[] = []
    let logIndex = 0
    for (let i = 0; i < txs; i++) {
      const transactionHash = hash(`tx ${number} ${i} ${salt}`)
      const where = { blockHash, blockNumber: hex(number), transactionIndex: hex(i) }
      transactions.push({
        ...where,
        hash: transactionHash,
        from: address(`from ${i}`),
        to: address(`to ${i % 3}`),
        value: hex(number * 1000 + i),
        input: '0x',
        nonce: hex(number),
        gas: '0x5208',
        gasPrice: '0x1',
        type: '0x0',
      })
      const own: RpcLog[] = []
      for (let l = 0; l < logs; l++) {
        own.push({
          ...where,
          transactionHash,
          address: address(`token ${l % 5}`),
          topics: [hash('event'), hash(`holder ${(number * 7 + i + l) % 50}`)].slice(0, l % 3),
          data: `0x${'00'.repeat(31)}${(l % 256).toString(16).padStart(2, '0')}`,
          logIndex: hex(logIndex++),
          removed: false,
        })
      }
      receipts.push({
        ...where,
        transactionHash,
        logs: own,
        status: '0x1',
        gasUsed: '0x5208',
        cumulativeGasUsed: '0x5208',
      })
    }
    chain.push({
      chainId,
      block: {
        number: hex(number),
        hash: blockHash,
        parentHash,
        timestamp: hex(1_700_000_000 + number * 12),
        logsBloom: bloomOf(receipts),
        miner: address('miner'),
        transactions,
      },
      receipts,
    })
    parentHash = blockHash
  }
  return chain
}

/** The bloom by the yellow paper's words: bits from the low 11 bits of the first three pairs of bytes of each hash. */
export const bloomOf = (receipts: readonly RpcReceipt[]): Hex => {
  let bloom = 0n
  for (const receipt of receipts) {
    for (const log of receipt.logs) {
      for (const value of [log.address, ...log.topics]) {
        const digest = Buffer.from(keccak_256(Buffer.from(value.slice(2), 'hex')))
        for (const at of [0, 2, 4]) bloom |= 1n << BigInt(digest.readUInt16BE(at) & 2047)
      }
    }
  }
  return `0x${bloom.toString(16).padStart(512, '0')}`
}

export const hex = (value: number): Hex => `0x${value.toString(16)}`
const hash = (text: string): Hex => `0x${Buffer.from(keccak_256(Buffer.from(text))).toString('hex')}`
const address = (text: string): Hex => hash(text).slice(0, 42)

/** Real mainnet blocks, where the folder that holds them is at hand; tests of it skip otherwise. */
export const mainnetFolder = fileURLToPath(new URL('../../../shared/mainnet/', import.meta.url))
export const mainnetPack = join(mainnetFolder, 'blocks.ndjson.gz')
export const hasMainnet = existsSync(mainnetPack)

/** A folder that is removed after the test, and a way to put files into it. */
export const tempFolder = async (t: { after(fn: () => Promise<void>): void }) => {
  const folder = await mkdtemp(join(tmpdir(), 'chainsieve-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return async (name: string, content: string | Uint8Array): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }
}

export const gunzipLines = (bytes: Uint8Array): string[] => gunzipSync(bytes).toString().trimEnd().split('\n')
