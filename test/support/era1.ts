import { createHash } from 'node:crypto'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import { type Hex, keccak256, serializeTransaction, toRlp } from 'viem'
import type { RawBlock, RpcReceipt, RpcTransaction } from '../../src/chain/wire.ts'
import { crc32c } from '../../src/lib/hash.ts'
import { trieRootOf } from '../../src/lib/rlp.ts'

/** Recursive, as `toRlp` takes it. */
type Item = Hex | Item[]

/** What a file says of a block, each as RLP. */
export interface Era1Block {
  header: Hex
  body: Hex
  receipts: Hex
  totalDifficulty: bigint
}

const HEADER = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom', '#difficulty'],
  ...['#number', '#gasLimit', '#gasUsed', '#timestamp', 'extraData', 'mixHash', 'nonce', '#baseFeePerGas'],
  ...['withdrawalsRoot', '#blobGasUsed', '#excessBlobGas', 'parentBeaconBlockRoot', 'requestsHash'],
]

/** A block as an era1 file has it, from what a node says of it. viem writes its RLP. */
export const toEra1 = ({ block, receipts }: RawBlock): Era1Block => ({
  header: toRlp(HEADER.flatMap(name => itemOf(block, name))),
  body: toRlp([
    block.transactions.map(tx => itemOfTyped(encodeTransaction(tx))),
    [],
    ...(block.withdrawals === undefined ? [] : [[]]),
  ] as Item[]),
  receipts: toRlp(receipts.map(receipt => itemOfTyped(encodeReceipt(receipt))) as Item[]),
  totalDifficulty: BigInt((block.totalDifficulty as Hex | undefined) ?? 0),
})

/** The same chain as it was before Byzantium: without types and statuses, and with hashes that follow from that. */
export const toOldBlocks = (blocks: readonly RawBlock[]): Era1Block[] => {
  let parentHash: Hex | undefined
  let total = 1000n
  return blocks.map(({ block, receipts }) => {
    const places = block.transactions.map((_, i) => i).filter(i => block.transactions[i]!.type === '0x0')
    const transactions = places.map(i => encodeTransaction(block.transactions[i]!))
    const logs = places.map(i => ({ ...receipts[i]!, status: undefined, root: `0x${'5a'.repeat(32)}` }))
    const encoded = logs.map(receipt => encodeReceipt(receipt as RpcReceipt))
    const members: Record<string, unknown> = {
      ...block,
      parentHash: parentHash ?? block.parentHash,
      difficulty: '0x11',
      transactionsRoot: rootOf(transactions),
      receiptsRoot: rootOf(encoded),
      logsBloom: orOf(places.map(i => receipts[i]!.logsBloom as Hex)),
    }
    const header = toRlp(HEADER.slice(0, 15).flatMap(name => itemOf(members, name)))
    parentHash = keccak256(header)
    total += 17n
    return {
      header,
      body: toRlp([transactions.map(itemOfTyped), []] as Item[]),
      receipts: toRlp(encoded.map(itemOfTyped) as Item[]),
      totalDifficulty: total,
    }
  })
}

export const era1Of = (blocks: readonly Era1Block[], first: number): Buffer => {
  const parts: Buffer[] = [entry(0x3265, Buffer.alloc(0))]
  const places: number[] = []
  const records: Buffer[] = []
  let at = 8
  const add = (part: Buffer) => {
    parts.push(part)
    at += part.length
  }
  for (const { header, body, receipts, totalDifficulty } of blocks) {
    places.push(at)
    for (const [type, rlp] of [
      [3, header],
      [4, body],
      [5, receipts],
    ] as const)
      add(entry(type, framesOf(bytesOf(rlp))))
    const difficulty = bytesOf(`0x${totalDifficulty.toString(16).padStart(64, '0')}`).reverse()
    add(entry(6, difficulty))
    records.push(sha256(bytesOf(keccak256(header)), difficulty))
  }
  add(entry(7, sha256(treeOf(records, 13), bytesOf(`0x${blocks.length.toString(16).padStart(64, '0')}`).reverse())))
  const index = Buffer.alloc(16 + 8 * places.length)
  index.writeBigUInt64LE(BigInt(first))
  for (const [i, place] of places.entries()) index.writeBigInt64LE(BigInt(place - at), 8 + 8 * i)
  index.writeBigUInt64LE(BigInt(places.length), index.length - 8)
  add(entry(0x3266, index))
  return Buffer.concat(parts)
}

export const entry = (type: number, value: Uint8Array): Buffer => {
  const head = Buffer.alloc(8)
  head.writeUInt16LE(type)
  head.writeUInt32LE(value.length, 2)
  return Buffer.concat([head, value])
}

/** Snappy's framing format, in pieces of at most 64 kB. What gets no shorter is kept as it is. */
export const framesOf = (bytes: Uint8Array): Buffer => {
  const frames = [Buffer.from([0xff, 6, 0, 0, ...Buffer.from('sNaPpY')])]
  for (let at = 0; at < bytes.length; at += 65_536) {
    const piece = bytes.subarray(at, at + 65_536)
    const packed = snappyCompress(piece)
    const short = packed.length < piece.length
    const head = Buffer.alloc(8)
    head.writeUInt32LE((short ? packed : piece).length + 4)
    head.copyWithin(1, 0, 3)
    head[0] = short ? 0 : 1
    const crc = crc32c(piece)
    head.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0, 4)
    frames.push(head, Buffer.from(short ? packed : piece))
  }
  return Buffer.concat(frames)
}

/** The tree of a list, filled up with zeros to 2^depth leaves. */
const treeOf = (leaves: readonly Buffer[], depth: number): Buffer => {
  if (depth === 0) return leaves[0] ?? Buffer.alloc(32)
  const half = 2 ** (depth - 1)
  return sha256(treeOf(leaves.slice(0, half), depth - 1), treeOf(leaves.slice(half), depth - 1))
}

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest()

const encodeTransaction = (tx: RpcTransaction): Hex => {
  const typed = tx as unknown as Record<string, Hex>
  const big = (name: string) => (typed[name] === undefined ? undefined : BigInt(typed[name]))
  const type = Number(typed.type)
  const isPaidByFee = type >= 2
  const signed = {
    type: ['legacy', 'eip2930', 'eip1559', 'eip4844', 'eip7702'][type],
    chainId: typed.chainId === undefined ? undefined : Number(typed.chainId),
    nonce: Number(typed.nonce),
    gas: big('gas'),
    to: typed.to ?? undefined,
    value: big('value'),
    data: typed.input,
    ...(isPaidByFee
      ? { maxFeePerGas: big('maxFeePerGas'), maxPriorityFeePerGas: big('maxPriorityFeePerGas') }
      : { gasPrice: big('gasPrice') }),
    ...(type >= 1 && { accessList: typed.accessList }),
    ...(type === 3 && { maxFeePerBlobGas: big('maxFeePerBlobGas'), blobVersionedHashes: typed.blobVersionedHashes }),
    ...(type === 4 && {
      authorizationList: (typed.authorizationList as unknown as Record<string, Hex>[]).map(it => ({
        ...it,
        chainId: Number(it.chainId),
        nonce: Number(it.nonce),
        yParity: Number(it.yParity),
        r: pad(it.r!),
        s: pad(it.s!),
      })),
    }),
  }
  const { v, r, s } = typed
  const signature = {
    r: pad(r!),
    s: pad(s!),
    ...(type === 0 ? { v: BigInt(v!) } : { yParity: Number(typed.yParity ?? v) }),
  }
  return serializeTransaction(signed as never, signature as never)
}

const pad = (value: Hex): Hex => `0x${value.slice(2).padStart(64, '0')}`

const encodeReceipt = (receipt: RpcReceipt): Hex => {
  const { type, root, status, cumulativeGasUsed, logsBloom, logs } = receipt as unknown as Record<string, Hex> & {
    logs: { address: Hex; topics: Hex[]; data: Hex }[]
  }
  const items: Item = [
    root ?? numberItem(status!),
    numberItem(cumulativeGasUsed!),
    logsBloom!,
    logs.map(({ address, topics, data }) => [address, topics, data]),
  ]
  const rlp = toRlp(items)
  return type === '0x0' ? rlp : `0x0${type!.slice(2)}${rlp.slice(2)}`
}

/** Legacy ones stand in lists as lists, typed ones as bytes. `toRlp` cannot take RLP as it is, so that lists are read again. */
const itemOfTyped = (encoded: Hex): Item => (Number(encoded.slice(0, 4)) >= 0xc0 ? (fromHex(encoded) as Item) : encoded)

const fromHex = (rlp: Hex): Item => {
  const bytes = bytesOf(rlp)
  const read = (at: number): [Item, number] => {
    const first = bytes[at]!
    if (first < 0x80) return [`0x${first.toString(16).padStart(2, '0')}`, at + 1]
    const isList = first >= 0xc0
    const short = first - (isList ? 0xc0 : 0x80)
    const sized = short > 55 ? short - 55 : 0
    const length = sized ? bytes.readUIntBE(at + 1, sized) : short
    const start = at + 1 + sized
    if (!isList) return [`0x${bytes.toString('hex', start, start + length)}`, start + length]
    const items: Item[] = []
    let next = start
    while (next < start + length) {
      const [item, end] = read(next)
      items.push(item)
      next = end
    }
    return [items, next]
  }
  return read(0)[0]
}

/** None where the block has no such member; numbers are marked. */
const itemOf = (members: Record<string, unknown>, marked: string): Hex[] => {
  const value = members[marked.replace('#', '')] as Hex | undefined
  if (value === undefined) return []
  return [marked.startsWith('#') ? numberItem(value) : value]
}

const numberItem = (value: Hex): Hex => {
  const digits = value.slice(2).replace(/^0+/, '')
  return `0x${digits.length % 2 ? `0${digits}` : digits}`
}

const rootOf = (items: readonly Hex[]): Hex => `0x${Buffer.from(trieRootOf(items.map(bytesOf))).toString('hex')}`

const orOf = (blooms: readonly Hex[]): Hex =>
  `0x${blooms
    .reduce((all, bloom) => all | BigInt(bloom), 0n)
    .toString(16)
    .padStart(512, '0')}`

const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex')
