import type { RpcLog } from '../../../chain/wire.ts'
import type { ByteWriter } from '../../../lib/bytes.ts'
import { packData, packTopic } from '../../forms/abi-words.ts'
import { cursor, type Ids, takeVarint } from '../../forms/form.ts'

/** The packed topics and data lie in the row, between these places. */
export interface LogRecord {
  tx: number
  address: number
  signature: number
  decimals: number | null
  topicsStart: number
  /** Start of the data, which end with the record. */
  topicsEnd: number
}

/**
 * Appends a log's record up to its topics, and returns where these begin; topics, `endTopics` and
 * data follow.
 */
export const writeLog = (
  out: ByteWriter,
  tx: number,
  address: number,
  signature: number,
  decimals: number | null | undefined,
): number => {
  out.varint(tx)
  out.varint(address)
  out.varint(signature)
  out.varint(decimals == null ? 0 : decimals + 1)
  out.byte(0)
  return out.length
}

/** Appends a log's record. `topicIds` takes the ids of stored topics that are addresses. */
export const createLogWriter =
  (ids: Ids) =>
  (
    out: ByteWriter,
    { topics, data }: Pick<RpcLog, 'topics' | 'data'>,
    { tx, emitter, signature, decimals, firstTopic }: LogParts,
    topicIds: (number | undefined)[] = [],
  ): void => {
    const start = writeLog(out, tx, emitter, signature, decimals)
    for (let t = firstTopic; t < topics.length; t++)
      topicIds[t - firstTopic] = packTopic(out, topics[t]!, ids.addressOfTopic)
    endTopics(out, start)
    packData(out, data, ids)
  }

interface LogParts {
  tx: number
  emitter: number
  signature: number
  decimals: number | null | undefined
  /** 1 if the signature has the first topic. */
  firstTopic: 0 | 1
}

export const endTopics = (out: ByteWriter, start: number): void => {
  out.reserve(0)[start - 1] = out.length - start
}

export const newLogRecord = (): LogRecord => ({
  tx: 0,
  address: 0,
  signature: 0,
  decimals: null,
  topicsStart: 0,
  topicsEnd: 0,
})

export const readLog = (bytes: Uint8Array, start: number, into: LogRecord): void => {
  cursor.at = start
  into.tx = takeVarint(bytes)
  into.address = takeVarint(bytes)
  into.signature = takeVarint(bytes)
  const decimals = takeVarint(bytes)
  into.decimals = decimals === 0 ? null : decimals - 1
  const length = bytes[cursor.at++]!
  into.topicsStart = cursor.at
  into.topicsEnd = cursor.at + length
}

/**
 * Appends a log's record with another signature and decimals, and with other packed topics if they
 * are given.
 */
export const rewriteLog = (
  out: ByteWriter,
  bytes: Uint8Array,
  [start, end]: readonly [number, number],
  signature: number,
  decimals: number | null,
  topics: Uint8Array | undefined,
): void => {
  const record = newLogRecord()
  readLog(bytes, start, record)
  const begin = writeLog(out, record.tx, record.address, signature, decimals)
  if (topics === undefined) out.bytes(bytes, record.topicsStart, record.topicsEnd)
  else out.bytes(topics)
  endTopics(out, begin)
  out.bytes(bytes, record.topicsEnd, end)
}
