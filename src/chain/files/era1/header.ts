import { keccak256 } from '../../../lib/keccak.ts'
import { decodeRlpList, type Rlp, rlpBytes } from '../../../lib/rlp.ts'
import type { Hex } from '../../wire.ts'

/** Members of a header in the order of its RLP. Chains add theirs at the end; pre-merge ones end at `nonce`, or since London at the base fee. */
const MEMBERS: readonly [name: string, kind: 'bytes' | 'quantity'][] = [
  ['parentHash', 'bytes'],
  ['sha3Uncles', 'bytes'],
  ['miner', 'bytes'],
  ['stateRoot', 'bytes'],
  ['transactionsRoot', 'bytes'],
  ['receiptsRoot', 'bytes'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'bytes'],
  ['mixHash', 'bytes'],
  ['nonce', 'bytes'],
  ['baseFeePerGas', 'quantity'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 'bytes'],
  ['requestsHash', 'bytes'],
]
/** Up to the nonce. */
const LEAST = 15

export interface Header {
  hash: Hex
  number: number
  parentHash: Hex
  difficulty: bigint
  /** As JSON-RPC shows it, but for its hash. */
  members: Readonly<Record<string, Hex>>
}

export const decodeHeader = (rlp: Uint8Array): Header => {
  const items = decodeRlpList(rlp, LEAST)
  if (items.length > MEMBERS.length) throw new RangeError(`its header has ${items.length} members`)
  const members: Record<string, Hex> = {}
  for (const [i, item] of items.entries()) {
    const [name, kind] = MEMBERS[i]!
    members[name] = kind === 'bytes' ? hexOf(item) : quantityOf(item)
  }
  return {
    hash: hexOf(keccak256(rlp)),
    number: Number(members.number),
    parentHash: members.parentHash!,
    difficulty: BigInt(members.difficulty!),
    members,
  }
}

export const hexOf = (item: Rlp | undefined): Hex => {
  const bytes = rlpBytes(item)
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}

/** Without leading zeros, as JSON-RPC writes numbers. */
export const quantityOf = (item: Rlp | undefined): Hex => {
  const digits = hexOf(item).slice(2).replace(/^0+/, '')
  return `0x${digits || '0'}`
}
