import { formatDatetime } from '../../documents/show.ts'
import { type ByteWriter, createByteWriter } from '../../lib/bytes.ts'
import { memoize } from '../../lib/caches.ts'
import type { Records } from '../documents/record-reader.ts'
import { hashStart, type StoredBlock } from '../documents/records/block.ts'
import { type Addresses, createAddresses } from '../forms/addresses.ts'
import type { FieldPlan } from '../forms/form.ts'
import { piece, QUOTE } from '../forms/json.ts'
import { EVERY, writeSmallQuantity } from '../forms/numbers.ts'
import type { StoreReader } from '../reader.ts'
import { type WriteField, writeAlways } from './plan.ts'

/** A store, or a block that is not stored yet. */
export interface ShowSource extends Pick<StoreReader, 'records' | 'addressDigits' | 'name' | 'signature'> {
  addressBytes(id: number): Uint8Array
}

export interface ShowContext {
  reader: ShowSource
  records: Records
  addresses: Addresses
  name(out: ByteWriter, id: number): void
  block(number: number): ShownBlock | undefined
}

/** Parts of a block as JSON. */
export interface ShownBlock {
  stored: StoredBlock
  hash: Uint8Array
  hashText: Uint8Array
  number: Uint8Array
  seconds: Uint8Array
  datetime: Uint8Array
}

const MAX_CACHED_NAMES = 10_000

export const createContext = (reader: ShowSource): ShowContext => {
  const { records } = reader
  const nameText = memoize(MAX_CACHED_NAMES, (id: number) => piece(JSON.stringify(reader.name(id))))
  const blocks = new WeakMap<StoredBlock, ShownBlock>()
  let last: ShownBlock | undefined
  const scratch = createByteWriter(256)

  const written = (write: () => void): Uint8Array => {
    scratch.truncate(0)
    write()
    return scratch.take()
  }
  const showBlock = (stored: StoredBlock): ShownBlock => ({
    stored,
    hash: piece(`0x${stored.hash.toString('hex')}`),
    hashText: piece(`"0x${stored.hash.toString('hex')}"`),
    number: written(() => writeSmallQuantity(scratch, stored.number, EVERY)),
    seconds: piece(String(stored.time)),
    datetime: piece(`"${formatDatetime(stored.time)}"`),
  })

  return {
    reader,
    records,
    addresses: createAddresses(reader.addressBytes),
    name: (out, id) => out.bytes(nameText(id)),
    block(number) {
      const stored = records.block(number)
      if (!stored || stored === last?.stored) return stored && last
      last = blocks.get(stored)
      if (!last) {
        last = showBlock(stored)
        blocks.set(stored, last)
      }
      return last
    },
  }
}

/** Fields of a document's place; `block` gives the current document's. */
export const placeFields = (block: () => ShownBlock) => ({
  blockHash: () => writeAlways(out => out.bytes(block().hashText)),
  blockNumber: ({ shown, members }: FieldPlan): WriteField =>
    writeAlways(out =>
      shown === 'whole' ? out.bytes(block().number) : writeSmallQuantity(out, block().stored.number, members),
    ),
  seconds: () => writeAlways(out => out.bytes(block().seconds)),
  datetime: () => writeAlways(out => out.bytes(block().datetime)),
  transactionHash: (tx: () => number) => () =>
    writeAlways(out => {
      out.byte(QUOTE)
      writeTxHash(out, block(), tx())
      out.byte(QUOTE)
    }),
  quantity:
    (value: () => number) =>
    ({ members }: FieldPlan): WriteField =>
      writeAlways(out => writeSmallQuantity(out, value(), members)),
})

export const writeTxHash = (out: ByteWriter, { stored }: ShownBlock, place: number) => {
  if (stored !== latestTxHash.block || place !== latestTxHash.place) {
    const start = hashStart(stored, place)
    hashDigits.truncate(PREFIX_LENGTH)
    hashDigits.digits(stored.hashes, start, start + 32)
    latestTxHash.hash.set(hashDigits.view())
    latestTxHash.block = stored
    latestTxHash.place = place
  }
  out.bytes(latestTxHash.hash)
}

/** A hit shows its transaction up to three times, and neighbours often share it. */
const latestTxHash: { block: StoredBlock | undefined; place: number; hash: Uint8Array } = {
  block: undefined,
  place: -1,
  hash: new Uint8Array(66),
}

const PREFIX_LENGTH = 2
const hashDigits = createByteWriter(66)
hashDigits.ascii('0x')
