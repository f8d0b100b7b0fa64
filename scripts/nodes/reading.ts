import { createPublicClient, decodeEventLog, getAddress, type Hex, http, toHex } from 'viem'
import type { RealNode } from './nodes.ts'
import { ABI } from './traffic.ts'

/** What documents have to hold, by their paths, and by kind and `_id`. Amounts are compared by their hex, which has all digits. */
export type Reading = Record<'block' | 'tx' | 'log' | 'event', Map<string, Record<string, unknown>>> & {
  /** The number of the block of each document. */
  numbers: Map<string, number>
}

const quantity = (value: bigint | number | undefined | null) =>
  value === undefined || value === null ? undefined : toHex(value)
const address = (value: string | null | undefined) => (value ? getAddress(value) : undefined)

/** Reads the chain by viem, which shares nothing with the program. */
export const readChain = async ({ url }: RealNode, from: number, to: number): Promise<Reading> => {
  const client = createPublicClient({ transport: http(url, { batch: true, timeout: 60_000 }) })
  const reading: Reading = { block: new Map(), tx: new Map(), log: new Map(), event: new Map(), numbers: new Map() }
  for (let number = from; number <= to; number++) {
    const block = await client.getBlock({ blockNumber: BigInt(number), includeTransactions: true })
    const add = (kind: 'block' | 'tx' | 'log' | 'event', id: string, fields: Record<string, unknown>) => {
      reading[kind].set(id, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)))
      reading.numbers.set(id, number)
    }
    add('block', block.hash, {
      ...{ 'number.num': number, hash: block.hash, parentHash: block.parentHash, miner: address(block.miner) },
      ...{ timestamp: Number(block.timestamp), stateRoot: block.stateRoot, receiptsRoot: block.receiptsRoot },
      ...{ transactionsRoot: block.transactionsRoot, extraData: block.extraData, logsBloom: block.logsBloom },
      ...{ 'gasUsed.raw': quantity(block.gasUsed), 'gasLimit.raw': quantity(block.gasLimit) },
      ...{ 'baseFeePerGas.raw': quantity(block.baseFeePerGas), 'size.raw': quantity(block.size) },
      transactions: block.transactions.map(({ hash }) => hash),
    })
    const receipts = await Promise.all(block.transactions.map(({ hash }) => client.getTransactionReceipt({ hash })))
    for (const [i, tx] of block.transactions.entries()) {
      const receipt = receipts[i]!
      add('tx', tx.hash, {
        ...{ hash: tx.hash, blockHash: block.hash, 'blockNumber.num': number, from: address(tx.from) },
        ...{ to: address(tx.to), input: tx.input, timestamp: Number(block.timestamp), r: tx.r, s: tx.s },
        ...{ 'value.raw': quantity(tx.value), 'nonce.raw': quantity(tx.nonce), 'gas.raw': quantity(tx.gas) },
        ...{ 'transactionIndex.num': i, 'gasUsed.raw': quantity(receipt.gasUsed), 'type.raw': tx.typeHex },
        'cumulativeGasUsed.raw': quantity(receipt.cumulativeGasUsed),
        'effectiveGasPrice.raw': quantity(receipt.effectiveGasPrice),
        'maxFeePerGas.raw': quantity(tx.maxFeePerGas),
        ...{ status: receipt.status === 'success', contractAddress: address(receipt.contractAddress) },
      })
      for (const log of receipt.logs) {
        const place = {
          ...{ address: address(log.address), 'logIndex.num': log.logIndex, transactionHash: tx.hash },
          ...{ blockHash: block.hash, 'blockNumber.num': number, 'transactionIndex.num': i },
        }
        add('log', `${tx.hash}_l_${log.logIndex}`, { ...place, topics: log.topics, data: log.data })
        const decoded = decode(log)
        if (decoded) add('event', `${tx.hash}_e_${log.logIndex}`, { ...place, ...decoded })
      }
    }
  }
  return reading
}

const decode = ({ topics, data }: { topics: readonly Hex[]; data: Hex }) => {
  if (topics.length === 0) return undefined
  try {
    const { eventName, args } = decodeEventLog({ abi: ABI, topics: topics as [Hex], data })
    const { inputs } = ABI.find(it => it.type === 'event' && it.name === eventName)!
    const told = inputs.map(({ name, type }) => {
      const value = (args as Record<string, unknown>)[name!]
      const isHashed = type.endsWith(']') || type === 'string'
      return { name, type, ...(isHashed ? {} : { hex: typeof value === 'bigint' ? toHex(value) : value }) }
    })
    return { event: eventName, args: told, error: null }
  } catch {
    return undefined
  }
}
