import type { ByteWriter } from '../../lib/bytes.ts'
import { memoize } from '../../lib/caches.ts'
import type { logMapping as mapping } from '../../mapping/documents/event.ts'
import { newLogRecord, readLog } from '../documents/records/log.ts'
import { endOfWord, writeWords } from '../forms/abi-words.ts'
import { writeAddress } from '../forms/ids.ts'
import { CLOSE_LIST, COMMA, FALSE, OPEN_LIST, writeHex } from '../forms/json.ts'
import { blockOf, placeOf } from '../schema.ts'
import { placeFields, type ShowContext, type ShownBlock, writeTxHash } from './context.ts'
import { sourceWriter, type WriteBy, type WriteField, writeAlways } from './plan.ts'
import type { Show } from './source-writers.ts'

/** The current log, or event. */
export interface LogAt {
  find(position: number): boolean
  block: ShownBlock
  place: number
  bytes: Buffer
  end: number
  record: ReturnType<typeof newLogRecord>
}

export const createLogAt = ({ records, block }: ShowContext): LogAt => {
  const at: LogAt = {
    find(position) {
      const view = records.find('log', position)
      const found = view && block(blockOf(position))
      if (!found) return false
      at.block = found
      at.place = placeOf(position)
      at.bytes = view.bytes
      at.end = view.end
      readLog(view.bytes, view.start, at.record)
      return true
    },
    block: undefined as unknown as ShownBlock,
    place: 0,
    bytes: Buffer.alloc(0),
    end: 0,
    record: newLogRecord(),
  }
  return at
}

export const logFields = (at: LogAt, context: ShowContext) => {
  const where = placeFields(() => at.block)
  return {
    address: () => writeAlways(out => writeAddress(out, at.record.address, context.addresses)),
    logIndex: where.quantity(() => at.place),
    transactionIndex: where.quantity(() => at.record.tx),
    transactionHash: where.transactionHash(() => at.record.tx),
    blockHash: where.blockHash,
    blockNumber: where.blockNumber,
    timestamp: where.datetime,
  }
}

const LOG_INFIXES = { log: '_l_', event: '_e_' } as const

export const logEnvelope = (kind: 'log' | 'event', at: LogAt): Pick<Show, 'id' | 'routing' | 'parent'> => {
  const parent = (out: ByteWriter) => {
    writeTxHash(out, at.block, at.record.tx)
  }
  return {
    id(out) {
      parent(out)
      out.ascii(LOG_INFIXES[kind])
      out.decimal(at.place)
    },
    routing: out => out.bytes(at.block.hash),
    parent,
  }
}

const MAX_CACHED_TOPICS = 10_000

export const createLogShow = (context: ShowContext): Show => {
  const { reader, addresses } = context
  const at = createLogAt(context)
  const fields = logFields(at, context)
  /** Null if the log holds all its topics. */
  const firstTopicOf = memoize(MAX_CACHED_TOPICS, (signature: number) => {
    const { topic } = reader.signature(signature)
    return topic === null ? null : Buffer.from(topic.slice(2), 'hex')
  })
  const firstTopic = (): Buffer | null => firstTopicOf(at.record.signature)

  const writeTopics = (out: ByteWriter) => {
    const { topicsStart, topicsEnd } = at.record
    const first = firstTopic()
    out.byte(OPEN_LIST)
    if (first) writeHex(out, first, 0, first.length)
    for (let from = topicsStart; from < topicsEnd; ) {
      if (first || from > topicsStart) out.byte(COMMA)
      const next = endOfWord(at.bytes, from)
      writeWords(out, at.bytes, from, next, addresses)
      from = next
    }
    out.byte(CLOSE_LIST)
  }

  const writeSignature = (out: ByteWriter): boolean => {
    const { topicsStart, topicsEnd } = at.record
    const first = firstTopic()
    if (first) writeHex(out, first, 0, first.length)
    else if (topicsStart < topicsEnd)
      writeWords(out, at.bytes, topicsStart, endOfWord(at.bytes, topicsStart), addresses)
    else return false
    return true
  }

  const own = {
    address: fields.address,
    topics: () => writeAlways(out => writeTopics(out)),
    signature: (): WriteField => writeSignature,
    data: () => writeAlways(out => writeWords(out, at.bytes, at.record.topicsEnd, at.end, addresses)),
    logIndex: fields.logIndex,
    transactionIndex: fields.transactionIndex,
    transactionHash: fields.transactionHash,
    blockHash: fields.blockHash,
    blockNumber: fields.blockNumber,
    timestamp: fields.timestamp,
    removed: () => writeAlways(out => out.bytes(FALSE)),
  } satisfies Record<keyof typeof mapping.fields, WriteBy>

  return {
    find: at.find,
    ...logEnvelope('log', at),
    source: sourceWriter('log', own),
  }
}
