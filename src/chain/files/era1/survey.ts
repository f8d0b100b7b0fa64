import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { keccak256 } from '../../../lib/keccak.ts'
import { decodeRlpList, type Rlp, rlpBytes } from '../../../lib/rlp.ts'
import type { Hex } from '../../wire.ts'
import { unpackFrames } from './snappy.ts'

interface BlockPlace {
  number: number
  hash: string
  from: number
  to: number
}

export const survey = async (window: Window, most: number, signal?: AbortSignal): Promise<BlockPlace[]> => {
  const places: BlockPlace[] = []
  const records: HeaderRecord[] = []
  let before: Header | undefined
  let total = 0n
  let accumulator: Buffer | undefined
  let entry = await readEntry(window, 0)
  if (entry.type !== ENTRY_TYPES.version) throw new RangeError('it does not begin with a version')
  while (entry.to < window.size) {
    signal?.throwIfAborted()
    const at = entry.to
    entry = await readEntry(window, at)
    if (entry.type === ENTRY_TYPES.index) break
    if (entry.type === ENTRY_TYPES.accumulator) accumulator = Buffer.from(await fixedValue(window, entry, 32))
    else if (entry.type === ENTRY_TYPES.header) {
      const header = await headerAt(window, entry, most)
      checkOrder(before, header)
      for (const type of [ENTRY_TYPES.body, ENTRY_TYPES.receipts, ENTRY_TYPES.difficulty]) {
        entry = await readEntry(window, entry.to)
        if (entry.type !== type) throw new RangeError(`block ${header.number} lacks an entry of type ${type}`)
      }
      const totalDifficulty = Buffer.from(await fixedValue(window, entry, 32))
      const stated = BigInt(`0x${Buffer.from(totalDifficulty).reverse().toString('hex')}`)
      if (before && stated !== total + header.difficulty)
        throw new RangeError(
          `the total difficulty of block ${header.number} is ${stated}, not ${total + header.difficulty}`,
        )
      total = stated
      before = header
      places.push({ number: header.number, hash: header.hash, from: at, to: entry.to })
      records.push({ hash: Buffer.from(header.hash.slice(2), 'hex'), totalDifficulty })
      if (records.length > MOST_BLOCKS) throw new RangeError(`it has more than ${MOST_BLOCKS} blocks`)
    } else if (KNOWN_TYPES.has(entry.type))
      throw new RangeError(`there is an entry of type ${entry.type} at byte ${at}, out of its place`)
  }
  if (entry.type !== ENTRY_TYPES.index) throw new RangeError('it is cut off: the index of its blocks is missing')
  await checkIndex(window, entry, places)
  const found = accumulatorOf(records)
  if (!accumulator) throw new RangeError('it has no accumulator. Only era1 files, which end before the merge, are read')
  if (!accumulator.equals(found))
    throw new RangeError(
      `its accumulator is ${accumulator.toString('hex')}, but that of its headers is ${found.toString('hex')}`,
    )
  return places
}

const checkOrder = (before: Header | undefined, { number, parentHash }: Header) => {
  if (!before) return
  if (number !== before.number + 1) throw new RangeError(`block ${number} follows block ${before.number}`)
  if (parentHash !== before.hash)
    throw new RangeError(
      `block ${number} names ${parentHash} as its parent, but block ${before.number} is ${before.hash}`,
    )
}

const checkIndex = async (window: Window, entry: Entry, places: readonly BlockPlace[]) => {
  const { first, ends } = await readIndex(window, entry)
  if (ends !== places.length || (ends > 0 && first !== places[0]!.number) || entry.to !== window.size)
    throw new RangeError(`its index is of ${ends} blocks from ${first} on, but it has ${places.length}`)
  const index = await window.bytes(entry.from, entry.to - entry.from)
  for (const [i, { from, number }] of places.entries())
    if (Number(index.readBigInt64LE(8 + 8 * i)) !== from - (entry.from - ENTRY_HEAD))
      throw new RangeError(`its index names another place for block ${number}`)
}

export const readIndex = async (window: Window, { from, to }: Entry): Promise<{ first: number; ends: number }> => {
  const index = await window.bytes(from, to - from)
  const ends = index.length < 16 ? -1 : Number(index.readBigUInt64LE(index.length - 8))
  if (index.length !== 16 + 8 * ends) throw new RangeError('the index of its blocks is damaged')
  return { first: Number(index.readBigUInt64LE(0)), ends }
}

export const headerAt = async (window: Window, { from, to }: Entry, most: number): Promise<Header> =>
  decodeHeader(unpackFrames(await window.bytes(from, to - from), most))

const fixedValue = async (window: Window, { from, to, type }: Entry, length: number): Promise<Buffer> => {
  if (to - from !== length) throw new RangeError(`an entry of type ${type} has ${to - from} bytes, not ${length}`)
  return window.bytes(from, length)
}

export const MOST_BLOCKS = 8192

interface HeaderRecord {
  hash: Uint8Array
  /** 32 bytes, little-endian. */
  totalDifficulty: Uint8Array
}

/** SSZ `hash_tree_root` of `List[HeaderRecord, 8192]`. The file name has its first four bytes. */
const accumulatorOf = (records: readonly HeaderRecord[]): Buffer => {
  let row = records.map(({ hash, totalDifficulty }) => sha256(hash, totalDifficulty))
  let zero: Buffer = Buffer.alloc(32)
  for (let width = MOST_BLOCKS; width > 1; width /= 2) {
    const above: Buffer[] = []
    for (let i = 0; i < row.length; i += 2) above.push(sha256(row[i]!, row[i + 1] ?? zero))
    row = above
    zero = sha256(zero, zero)
  }
  const count = Buffer.alloc(32)
  count.writeUInt32LE(records.length)
  return sha256(row[0] ?? zero, count)
}

const sha256 = (a: Uint8Array, b: Uint8Array): Buffer => createHash('sha256').update(a).update(b).digest()

/** e2store entries: type, length, value. era1 has a version, 4 per block, accumulator and index. */
export const ENTRY_TYPES = {
  version: 0x3265,
  header: 3,
  body: 4,
  receipts: 5,
  difficulty: 6,
  accumulator: 7,
  index: 0x3266,
} as const

export interface Entry {
  type: number
  from: number
  to: number
}

export const ENTRY_HEAD = 8

export const readEntry = async (window: Window, at: number): Promise<Entry> =>
  entryOf(await window.bytes(at, ENTRY_HEAD), at, window.size)

export const entriesIn = (bytes: Buffer): Entry[] => {
  const entries: Entry[] = []
  for (let at = 0; at < bytes.length; at = entries.at(-1)!.to) {
    if (at + ENTRY_HEAD > bytes.length) throw new RangeError('an entry is cut off')
    entries.push(entryOf(bytes.subarray(at, at + ENTRY_HEAD), at, bytes.length))
  }
  return entries
}

const entryOf = (head: Buffer, at: number, size: number): Entry => {
  const type = head.readUInt16LE(0)
  const from = at + ENTRY_HEAD
  const to = from + head.readUInt32LE(2)
  if (head.readUInt16LE(6) !== 0) throw new RangeError(`there is no entry at byte ${at}`)
  if (to > size)
    throw new RangeError(
      `it is cut off: the entry at byte ${at} has ${to - from} bytes, of which ${size - from} are there`,
    )
  return { type, from, to }
}

export interface Window {
  readonly size: number
  /** A view valid until the next call. Throws a `RangeError` past the end of the file. */
  bytes(at: number, length: number): Promise<Buffer>
}

const READ_BYTES = 4 << 20

export const openWindow = async (file: FileHandle): Promise<Window> => {
  const { size } = await file.stat()
  let held = Buffer.alloc(0)
  let start = 0
  return {
    size,
    async bytes(at, length) {
      if (at < 0 || at + length > size) throw new RangeError(`it has ${size} bytes instead of ${at + length} or more`)
      if (at < start || at + length > start + held.length) {
        const next = Buffer.allocUnsafe(Math.min(Math.max(length, READ_BYTES), size - at))
        let read = 0
        while (read < next.length) {
          const { bytesRead } = await file.read(next, read, next.length - read, at + read)
          if (bytesRead === 0) throw new RangeError(`it ends at byte ${at + read}`)
          read += bytesRead
        }
        held = next
        start = at
      }
      return held.subarray(at - start, at - start + length)
    },
  }
}

const KNOWN_TYPES: ReadonlySet<number> = new Set(Object.values(ENTRY_TYPES))

/** Header members in RLP order; pre-merge headers end at `nonce` or the base fee. */
const MEMBERS = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom', 'difficulty'],
  ...['number', 'gasLimit', 'gasUsed', 'timestamp', 'extraData', 'mixHash', 'nonce', 'baseFeePerGas'],
  ...['withdrawalsRoot', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot', 'requestsHash'],
]

const QUANTITIES = new Set([
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'],
])

const MIN_MEMBERS = 15

export interface Header {
  hash: Hex
  number: number
  parentHash: Hex
  difficulty: bigint
  members: Readonly<Record<string, Hex>>
}

export const rlpHex = (item: Rlp | undefined): Hex => {
  const bytes = rlpBytes(item)
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}

export const rlpQuantity = (item: Rlp | undefined): Hex => {
  const digits = rlpHex(item).slice(2).replace(/^0+/, '')
  return `0x${digits || '0'}`
}

export const decodeHeader = (rlp: Uint8Array): Header => {
  const items = decodeRlpList(rlp, MIN_MEMBERS)
  if (items.length > MEMBERS.length) throw new RangeError(`its header has ${items.length} members`)
  const members: Record<string, Hex> = {}
  for (const [i, item] of items.entries()) {
    const name = MEMBERS[i]!
    members[name] = QUANTITIES.has(name) ? rlpQuantity(item) : rlpHex(item)
  }
  return {
    hash: rlpHex(keccak256(rlp)),
    number: Number(members.number),
    parentHash: members.parentHash!,
    difficulty: BigInt(members.difficulty!),
    members,
  }
}
