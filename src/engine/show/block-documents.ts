import type { RpcLog } from '../../chain/wire.ts'
import type { Signature } from '../../decode/types.ts'
import { contractDocument } from '../../documents/contracts.ts'
import type { BlockDocuments, BlockDocumentsInput, Document } from '../../documents/document.ts'
import { type BlockParts, blockParts, findBlockPlaces, hasInteger } from '../../documents/logs.ts'
import type { BigIntegers } from '../../documents/show.ts'
import { tokenDocument } from '../../documents/tokens.ts'
import { type ByteWriter, createByteWriter } from '../../lib/bytes.ts'
import { checksumAddress } from '../../lib/keccak.ts'
import { byKind, type Kind, RECORD_KINDS, type RecordKind, type RowKind } from '../../mapping/index.ts'
import { addressDigits } from '../documents/derived-rows.ts'
import { createInputs, type Records, type RecordView } from '../documents/record-reader.ts'
import { indexOfTx, type StoredBlock } from '../documents/records/block.ts'
import { writeBlockCall } from '../documents/records/call.ts'
import { fieldsWriter } from '../documents/records/fields.ts'
import { createLogWriter } from '../documents/records/log.ts'
import { createTraceWriter } from '../documents/records/trace.ts'
import { wireBlockReader, wireTxReader } from '../documents/wire-readers.ts'
import type { Ids } from '../forms/form.ts'
import { restoreIntegers } from '../query/documents.ts'
import { placeOf, positionOf } from '../schema.ts'
import { createContext } from './context.ts'
import { createRecordShows } from './source-writers.ts'

/**
 * Documents of a block before it is stored, each built on demand: its record is written and shown
 * as that of a stored block. The thread's blocks share dictionaries and caches.
 */
export const createBlockDocuments = (input: BlockDocumentsInput, big: BigIntegers): BlockDocuments => {
  shared ??= createShared()
  const { show } = shared
  const { raw, contracts, tokens } = input
  let open: OpenBlock | undefined
  const block = (): OpenBlock => (open ??= openBlock(input))
  const partsOf = (): BlockParts => {
    const { number, hash, time } = block().stored
    return blockParts(number, `0x${hash.toString('hex')}`, time)
  }

  const placeOfIndex = (kind: RecordsKind, index: number): number => {
    const { places } = block().stored
    if (kind === 'block' || !places) return index
    return kind === 'tx' ? places.txs[index]! : kind === 'log' || kind === 'event' ? places.logs[index]! : index
  }
  const shown = <T extends Document | undefined>(kind: RecordsKind) =>
    builtOnce(index => show(block(), kind, placeOfIndex(kind, index), big) as T)

  const contractOf = (index: number): Document => {
    const { tx, address, creator, implementation, ...rest } = contracts[index]!
    const { hash, from } = raw.block.transactions[indexOfTx(block().stored, tx)]!
    const place = { block: partsOf(), transactionHash: lowerHex(hash), origin: checksumAddress(from) }
    const addresses = {
      address: checksumAddress(address),
      creator: checksumAddress(creator),
      implementation: implementation && checksumAddress(implementation),
    }
    return contractDocument(place, { ...addresses, ...rest }, big)
  }
  const tokenOf = (index: number): Document => {
    const { address, ...rest } = tokens[index]!
    return tokenDocument(partsOf(), { address: checksumAddress(address), ...rest }, big)
  }
  return {
    block: shown('block'),
    tx: shown('tx'),
    log: shown('log'),
    event: shown('event'),
    trace: shown('trace'),
    call: shown('call'),
    contract: builtOnce(contractOf),
    token: builtOnce(tokenOf),
  }
}

type RecordsKind = Exclude<Kind, RowKind>

/** `_source` as JSON, from which most documents were built. */
export const jsonOf = (document: Document): string => {
  let text = texts.get(document)
  if (text === undefined) {
    text = JSON.stringify(document._source)
    texts.set(document, text)
  }
  return text
}

const texts = new WeakMap<Document, string>()

const builtOnce = <T>(build: (index: number) => T): ((index: number) => T) => {
  const built = new Map<number, { one: T }>()
  return index => {
    let known = built.get(index)
    if (!known) {
      known = { one: build(index) }
      built.set(index, known)
    }
    return known.one
  }
}

interface OpenBlock {
  input: BlockDocumentsInput
  stored: StoredBlock
  logs: readonly RpcLog[]
  owners: readonly number[]
}

const openBlock = (input: BlockDocumentsInput): OpenBlock => {
  const { raw } = input
  const { block, receipts } = raw
  const stored: StoredBlock = {
    number: Number(block.number),
    hash: Buffer.from(block.hash.slice(2), 'hex'),
    time: Number(block.timestamp),
    hashes: Buffer.from(block.transactions.map(({ hash }) => hash.slice(2)).join(''), 'hex'),
    txs: block.transactions.length,
    // Blooms are stored as reported, so no logs are needed.
    logEnds: NO_LOGS,
    places: findBlockPlaces(raw),
  }
  return {
    input,
    stored,
    logs: receipts.flatMap(({ logs }) => logs),
    owners: receipts.flatMap(({ logs }, i) => logs.map(() => i)),
  }
}
const NO_LOGS = new Uint32Array(0)

let shared: ReturnType<typeof createShared> | undefined

const createShared = () => {
  const addresses = createNumbering<string>()
  const names = createNumbering<string>()
  const signatures = createNumbering<Signature>()
  const ids: Ids = {
    address: text => addresses.id(addressDigits(text)),
    addressOfDigits: addresses.id,
    addressOfTopic: topic => addresses.id(topic.slice(26).toLowerCase()),
    name: names.id,
    packed: undefined,
    compresses: false,
  }
  const write = {
    block: fieldsWriter('block', wireBlockReader, ids),
    tx: fieldsWriter('tx', wireTxReader, ids),
    log: createLogWriter(ids),
    trace: createTraceWriter(ids),
  }
  const outs = byKind([...RECORD_KINDS, 'block'], () => createByteWriter(1 << 12))
  const visited = createByteWriter(1 << 12)
  let views: Partial<Record<RecordKind, { position: number; view: RecordView }>> = {}
  let block: OpenBlock
  /** Logs show no decimals, so they are not looked up. */
  let isLog = false

  const record = (out: ByteWriter, append: (out: ByteWriter) => void): RecordView => {
    out.truncate(0)
    append(out)
    return { bytes: out.reserve(0), start: 0, end: out.length }
  }
  const decimalsOf = (args: Parameters<typeof hasInteger>[0] | null, address: string): number | null =>
    args && hasInteger(args) ? (block.input.decimals(addressDigits(address)) ?? null) : null

  const append = {
    tx(out, place) {
      const { raw, methods, failures } = block.input
      const i = indexOfTx(block.stored, place)
      const [tx, receipt] = [raw.block.transactions[i]!, raw.receipts[i]!]
      write.tx(out, { tx, receipt, method: methods[i] ?? undefined, failure: failures[i], bloom: undefined })
    },
    log(out, place) {
      const { places } = block.stored
      const i = places ? places.logs.indexOf(place) : place
      const [log, owner] = [block.logs[i]!, block.owners[i]!]
      const { signature, args } = block.input.logs[i]!
      write.log(out, log, {
        tx: places ? places.txs[owner]! : owner,
        emitter: ids.address(log.address),
        signature: signatures.id(signature),
        decimals: isLog ? null : decimalsOf(args, log.address),
        firstTopic: signature.topic === null ? 0 : 1,
      })
    },
    trace(out, place) {
      write.trace(out, block.input.traces[place]!, undefined, true)
    },
    call(out, place) {
      const call = block.input.calls[place]!
      const { signature, args, from, to, callType } = call
      writeBlockCall(out, call, {
        signature: signatures.id(signature),
        decimals: decimalsOf(args, to),
        from: ids.address(from),
        to: ids.address(to),
        callType: names.id(callType),
      })
    },
  } satisfies Record<RecordKind, (out: ByteWriter, place: number) => void>

  const find: Records['find'] = (kind, position) => {
    const known = views[kind]
    if (known?.position === position) return known.view
    const view = record(outs[kind], out => append[kind](out, placeOf(position)))
    views[kind] = { position, view }
    return view
  }
  const records: Records = {
    find,
    ...createInputs(find),
    each(kind, from, to, visit) {
      for (let position = from; position <= to; position++) {
        const view = record(visited, out => append[kind](out, placeOf(position)))
        if (visit(position, view) === false) return
      }
    },
    block: () => block.stored,
    blockRecord: () => record(outs.block, out => write.block(out, block.input.raw.block)),
  }
  const shows = createRecordShows(
    createContext({
      records,
      addressBytes: id => Buffer.from(addresses.of(id), 'hex'),
      addressDigits: addresses.of,
      name: names.of,
      signature: id => ({ ...signatures.of(id), id }),
    }),
  )
  const sources = byKind([...RECORD_KINDS, 'block', 'event'], kind => shows[kind].source(true)!)
  const shown = createByteWriter(1 << 12)
  const text = (write: (out: ByteWriter) => void): string => {
    shown.truncate(0)
    write(shown)
    return shown.view().toString()
  }

  return {
    /** Undefined for a log that is not an event. */
    show(one: OpenBlock, kind: RecordsKind, place: number, big: BigIntegers): Document | undefined {
      block = one
      views = {}
      isLog = kind === 'log'
      for (const { trim } of [addresses, names, signatures]) trim()
      const { find, id, routing, parent, decoding } = shows[kind]
      if (!find(positionOf(one.stored.number, place))) return undefined
      const json = text(sources[kind])
      const decoded = decoding?.()
      const document = new BlockDocument(
        {
          _id: text(id),
          ...(routing && { _routing: text(routing) }),
          ...(parent && { _parent: text(parent) }),
          ...(decoded && { decoding: decoded }),
        },
        () => {
          const source = JSON.parse(json) as Document['_source']
          restoreIntegers(kind, source, big)
          return source
        },
      )
      texts.set(document, json)
      return document
    },
  }
}

/**
 * `_source` is made on demand. V8 keeps what a getter of an object literal refers to until a full garbage
 * collection, which here would be the block: hence a class.
 */
class BlockDocument implements Document {
  declare _id: string
  #source: Document['_source'] | undefined
  readonly #make: () => Document['_source']

  constructor(rest: Omit<Document, '_source'>, make: () => Document['_source']) {
    Object.assign(this, rest)
    this.#make = make
  }

  get _source(): Document['_source'] {
    this.#source ??= this.#make()
    return this.#source
  }
}

/** Pads an odd number of digits at the start. */
const lowerHex = (hex: string): string => (hex.length % 2 ? `0x0${hex.slice(2)}` : hex).toLowerCase()

/** Assigns ids to values in records. Ids are never reused, since caches depend on them. */
const createNumbering = <T>() => {
  const ids = new Map<T, number>()
  const values = new Map<number, T>()
  let last = 0
  return {
    id(value: T): number {
      const known = ids.get(value)
      if (known !== undefined) return known
      ids.set(value, ++last)
      values.set(last, value)
      return last
    },
    of: (id: number): T => values.get(id)!,
    /** Call between two documents. */
    trim() {
      if (ids.size < NUMBERED) return
      ids.clear()
      values.clear()
    },
  }
}
const NUMBERED = 50_000
