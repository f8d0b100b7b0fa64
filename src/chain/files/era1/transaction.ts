import { keccak256 } from '../../../lib/keccak.ts'
import { recoverAddress } from '../../../lib/recover-address.ts'
import { decodeRlpList, encodeRlp, type Rlp, rlpBytes, rlpList } from '../../../lib/rlp.ts'
import type { Hex } from '../../wire.ts'
import { hexOf, quantityOf } from './header.ts'

export interface Transaction {
  /** What the transactions root and the hash are of: RLP, with the type before it unless it is a legacy one. */
  encoded: Uint8Array
  /** EIP-155 chain id; absent in legacy transactions that any chain takes. */
  chainId: number | undefined
  /** As JSON-RPC shows it, but for its place in the chain. */
  members: Record<string, unknown> & { hash: Hex; from: Hex; to: Hex | null; nonce: Hex }
  /** 20 bytes. */
  sender: Uint8Array
}

/** Members of the types of EIP-2718 in the order of their RLP, up to the signature. */
const TYPED: readonly (readonly string[])[] = [
  [],
  ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'input', 'accessList'],
  ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input', 'accessList'],
  [
    ...['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input', 'accessList'],
    ...['maxFeePerBlobGas', 'blobVersionedHashes'],
  ],
  [
    ...['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input', 'accessList'],
    'authorizationList',
  ],
]
const LEGACY = ['nonce', 'gasPrice', 'gas', 'to', 'value', 'input']

const READ: Readonly<Record<string, (item: Rlp | undefined) => unknown>> = {
  to: item => (rlpBytes(item).length === 0 ? null : hexOf(item)),
  input: hexOf,
  accessList: item =>
    rlpList(item).map(entry => {
      const [address, keys] = rlpList(entry, 2)
      return { address: hexOf(address), storageKeys: rlpList(keys).map(hexOf) }
    }),
  blobVersionedHashes: item => rlpList(item).map(hexOf),
  authorizationList: item =>
    rlpList(item).map(entry => {
      const [chainId, address, nonce, yParity, r, s] = rlpList(entry, 6)
      return {
        chainId: quantityOf(chainId),
        address: hexOf(address),
        nonce: quantityOf(nonce),
        yParity: quantityOf(yParity),
        r: quantityOf(r),
        s: quantityOf(s),
      }
    }),
}

/** Of an item of a block's body: a list, or bytes where it has a type. */
export const decodeTransaction = (item: Rlp, baseFee: bigint): Transaction =>
  item instanceof Uint8Array ? decodeTyped(item, baseFee) : decodeLegacy(item)

/** Its chain, without the effort of finding who sent it. */
export const chainIdOf = (item: Rlp): number | undefined => {
  if (item instanceof Uint8Array) return Number(quantityOf(decodeRlpList(item.subarray(1), 1)[0]))
  return protectedBy(BigInt(quantityOf(rlpList(item, 9)[6])))
}

const decodeLegacy = (item: Rlp): Transaction => {
  const items = rlpList(item, 9)
  const v = BigInt(quantityOf(items[6]))
  const chainId = protectedBy(v)
  const content: Rlp[] = items.slice(0, 6)
  const signed = chainId === undefined ? content : [...content, toBytes(chainId), EMPTY, EMPTY]
  const encoded = encodeRlp(items)
  return finish(encoded, LEGACY, items, chainId, {
    signed: encodeRlp(signed),
    odd: chainId === undefined ? v === 28n : v % 2n === 0n,
    more: { type: '0x0', v: quantityOf(items[6]), ...signatureOf(items, 7) },
    at: 7,
  })
}

const decodeTyped = (bytes: Uint8Array, baseFee: bigint): Transaction => {
  const type = bytes[0]!
  const names = TYPED[type]
  if (type === 0 || !names) throw new RangeError(`it has a transaction of the unknown type ${type}`)
  const items = decodeRlpList(bytes.subarray(1), names.length + 3)
  const at = names.length + 1
  const yParity = quantityOf(items[names.length])
  const more: Record<string, unknown> = { type: `0x${type}`, v: yParity, yParity, ...signatureOf(items, at) }
  const chainId = Number(quantityOf(items[0]))
  const signed = Buffer.concat([bytes.subarray(0, 1), encodeRlp(items.slice(0, names.length))])
  const made = finish(bytes, names, items, chainId, { signed, odd: yParity === '0x1', more, at })
  const { maxFeePerGas, maxPriorityFeePerGas } = made.members
  // Nodes state what is paid for gas in the block, which depends on its base fee.
  if (maxFeePerGas !== undefined)
    made.members.gasPrice = `0x${least(BigInt(maxFeePerGas as Hex), baseFee + BigInt(maxPriorityFeePerGas as Hex)).toString(16)}`
  return made
}

interface Signed {
  /** The bytes whose hash was signed. */
  signed: Uint8Array
  odd: boolean
  more: Record<string, unknown>
  /** Where `r` is among the items. */
  at: number
}

const finish = (
  encoded: Uint8Array,
  names: readonly string[],
  items: readonly Rlp[],
  chainId: number | undefined,
  { signed, odd, more, at }: Signed,
): Transaction => {
  const members: Record<string, unknown> = {}
  for (const [i, name] of names.entries()) members[name] = (READ[name] ?? quantityOf)(items[i])
  if (chainId !== undefined) members.chainId = `0x${chainId.toString(16)}`
  const sender = recoverAddress(keccak256(signed), { r: rlpBytes(items[at]), s: rlpBytes(items[at + 1]), odd })
  const own = { ...members, ...more, hash: hexOf(keccak256(encoded)), from: hexOf(sender) }
  return { encoded, chainId, members: own as unknown as Transaction['members'], sender }
}

const signatureOf = (items: readonly Rlp[], at: number) => ({ r: quantityOf(items[at]), s: quantityOf(items[at + 1]) })

/** EIP-155. */
const protectedBy = (v: bigint): number | undefined => (v < 35n ? undefined : Number((v - 35n) / 2n))

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

const EMPTY = new Uint8Array(0)

const toBytes = (value: number): Uint8Array => {
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
}
