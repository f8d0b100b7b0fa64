import type { RawBlock } from '../chain/wire.ts'
import type { AbiKnowledge, Code } from '../decode/abi-finder.ts'
import type { Document } from './document.ts'
import type { BlockParts } from './logs.ts'
import * as show from './show.ts'
import { createFailures, hasFailed } from './traces.ts'

export interface ContractCreation {
  address: string
  creator: string
  tx: number
  /** From its trace, `0x` hex; undefined without traces. */
  code: string | undefined
  /** Contract to which its constructor delegated a call. */
  delegate: string | undefined
}

export type ShownCode = Omit<Code, 'proxy' | 'features'>

export interface BlockContract {
  address: string
  creator: string
  tx: number
  /** Null if the code is not known. */
  code: Code | null
  implementation: string | null
  abi: AbiKnowledge
}

/** All contracts that a block creates, including self-destructed, excluding failed ones. */
export const creationsIn = ({ block, receipts, traces }: RawBlock): ContractCreation[] => {
  const creations: ContractCreation[] = []
  if (traces === undefined) {
    for (const [i, receipt] of receipts.entries()) {
      const { contractAddress } = receipt
      if (typeof contractAddress !== 'string' || hasFailed(receipt)) continue
      const { from, transactionIndex } = block.transactions[i]!
      const rest = { code: undefined, delegate: undefined }
      creations.push({ address: contractAddress, creator: from, tx: Number(transactionIndex), ...rest })
    }
    return creations
  }
  const failures = createFailures()
  let transaction = -1
  /**
   * Creations of one transaction: a block may have a thousand of them and a hundred thousand calls
   * to look up.
   */
  const own = new Map<string, ContractCreation>()
  for (const trace of traces) {
    if (trace.type === 'reward') continue
    const { transactionPosition } = trace
    if (transactionPosition !== transaction) own.clear()
    transaction = transactionPosition
    if (failures(trace)) continue
    if (trace.type === 'create' && trace.result?.address) {
      const { address, code } = trace.result
      const creation = { address, creator: trace.action.from, tx: transactionPosition, code, delegate: undefined }
      own.set(address.toLowerCase(), creation)
      creations.push(creation)
    } else if (trace.type === 'call' && trace.action.callType === 'delegatecall') {
      const created = own.get(trace.action.from.toLowerCase())
      if (created) created.delegate ??= trace.action.to
    }
  }
  return creations
}

export interface ContractPlace {
  block: BlockParts
  transactionHash: string
  origin: string
}

/** Expects checksummed addresses, and hex in lower case. */
export const contractDocument = (
  { block, transactionHash, origin }: ContractPlace,
  { address, creator, code, implementation, abi }: Omit<BlockContract, 'tx' | 'code'> & { code: ShownCode | null },
  big: show.BigIntegers,
): Document => ({
  _id: address.toLowerCase(),
  _source: {
    address,
    creator,
    origin,
    transactionHash,
    blockNumber: show.formatQuantity(block.number, big),
    blockHash: block.hash,
    timestamp: block.datetime,
    codeHash: code?.hash ?? null,
    codeSize: code?.size ?? null,
    selectors: code?.selectors ?? [],
    topics: code?.topics ?? [],
    name: abi.name,
    standard: code?.standard ?? null,
    standardSource: code?.standardSource ?? null,
    implementation,
    abi: { source: abi.source },
    probability: abi.probability,
  },
})
