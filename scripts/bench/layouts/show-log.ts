import { bytes, type Json } from './json.ts'
import type { BlockContext, Source, View } from './source.ts'
import { cursor, unpackHex, varint, WORD } from './values.ts'

/** Parts of hits that several kinds show. */
export const INDEX = 'ethereum-ethereum-mainnet'

export const PIECES = {
  score: bytes('","_score":1,"_routing":"'),
  parent: bytes('","_parent":"0x'),
  source: bytes('","_source":{'),
  transactionIndex: bytes(',"transactionIndex":'),
  transactionHash: bytes(',"transactionHash":"0x'),
  logIndex: bytes('"logIndex":'),
  addressStart: bytes('"address":"0x'),
  quote: bytes('"'),
  quoteComma: bytes('",'),
  comma: bytes(','),
  numStart: bytes('{"num":'),
  rawStart: bytes(',"raw":"0x'),
  rawEnd: bytes('"}'),
  end: bytes('}}'),
}

/** `{"num":n,"raw":"0x…"}` of an integer that a double holds. */
export const quantity = (json: Json, value: number) => {
  json.piece(PIECES.numStart)
  json.ascii(String(value))
  json.piece(PIECES.rawStart)
  json.ascii(value.toString(16))
  json.piece(PIECES.rawEnd)
}

const heads = { log: head('log'), event: head('event') }
function head(kind: string) {
  return bytes(`{"_index":"${INDEX}-${kind}","_type":"${kind}","_id":"0x`)
}
const infixes = { log: bytes('_l_'), event: bytes('_e_') }

/** What stands before `_source` of a hit in a transaction. */
export const logEnvelope = (json: Json, kind: 'log' | 'event', block: BlockContext, tx: number, place: number) => {
  json.piece(heads[kind])
  json.hex(block.hashes, tx * 32, tx * 32 + 32)
  json.piece(infixes[kind])
  json.ascii(String(place))
  json.piece(PIECES.score)
  json.piece(block.hash)
  json.piece(PIECES.parent)
  json.hex(block.hashes, tx * 32, tx * 32 + 32)
  json.piece(PIECES.source)
}

/** `"logIndex":…,"transactionIndex":…,"transactionHash":"…",` */
export const logPlace = (json: Json, block: BlockContext, tx: number, place: number) => {
  json.piece(PIECES.logIndex)
  quantity(json, place)
  json.piece(PIECES.transactionIndex)
  quantity(json, tx)
  json.piece(PIECES.transactionHash)
  json.hex(block.hashes, tx * 32, tx * 32 + 32)
  json.piece(PIECES.quoteComma)
}

/** The head of a log's record; `topics` and `data` are where these begin. */
export interface LogHead {
  tx: number
  address: number
  signature: number
  decimals: number
  topics: number
  data: number
  end: number
}

const log: LogHead = { tx: 0, address: 0, signature: 0, decimals: -1, topics: 0, data: 0, end: 0 }
/** The same object each time. */
export const readLog = ({ bytes, start, end }: View): LogHead => {
  cursor.at = start
  log.tx = varint(bytes)
  log.address = varint(bytes)
  log.signature = varint(bytes)
  log.decimals = bytes[cursor.at]! - 1
  const size = bytes[cursor.at + 1]!
  log.topics = cursor.at + 2
  log.data = log.topics + size
  log.end = end
  return log
}

const TOPICS = bytes('","topics":[')
const SIGNATURE = bytes('],"signature":')
const NO_SIGNATURE = bytes(']')
const DATA = bytes(',"data":"0x')
const REMOVED = bytes(',"removed":false}}')
const TOPIC_START = bytes('"0x')

export const createLogShow = ({ reader, addresses, block: blockOf, record }: Source) => {
  const topics = new Map<number, Uint8Array | null>()
  const topicOf = (signature: number): Uint8Array | null => {
    let topic = topics.get(signature)
    if (topic === undefined) {
      const text = reader.signature(signature).topic
      topic = text === null ? null : bytes(`"${text}"`)
      topics.set(signature, topic)
    }
    return topic
  }

  return (json: Json, number: number, place: number) => {
    const block = blockOf(number)
    const view = record('log', number, place)
    const { bytes: packed } = view
    const { tx, address, signature, topics: from, data, end } = readLog(view)
    logEnvelope(json, 'log', block, tx, place)
    json.piece(PIECES.addressStart)
    addresses.checksummed(json, address)
    json.piece(TOPICS)
    const topic = topicOf(signature)
    if (topic) json.piece(topic)
    let comma = topic !== null
    let first = topic
    for (let at = from; at < data; ) {
      if (comma) json.piece(PIECES.comma)
      comma = true
      const start = json.length
      json.piece(TOPIC_START)
      const next = wordEnd(packed, at)
      unpackHex(json, packed, at, next, addresses)
      json.piece(PIECES.quote)
      first ??= Uint8Array.from(json.view().subarray(start))
      at = next
    }
    if (first) {
      json.piece(SIGNATURE)
      json.piece(first)
    } else json.piece(NO_SIGNATURE)
    json.piece(DATA)
    if (data < end) unpackHex(json, packed, data, end, addresses)
    json.piece(PIECES.quoteComma)
    logPlace(json, block, tx, place)
    json.piece(block.place)
    json.piece(PIECES.comma)
    json.piece(block.datetime)
    json.piece(REMOVED)
  }
}

/** Where the packed word that begins here ends. */
export const wordEnd = (packed: Uint8Array, at: number): number => {
  const control = packed[at]!
  if (control <= 32) return at + 1 + control
  if (control < WORD.address) return at + 1 + control - 32
  cursor.at = at + 1
  const size = varint(packed)
  return control === WORD.rest ? cursor.at + size : cursor.at
}
