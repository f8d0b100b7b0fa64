import type { DecodedArg, DecodedLog, Signature } from '../../decode/types.ts'
import { hasInteger } from '../../documents/logs.ts'
import { createByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import type { BatchContext } from '../documents/batch.ts'
import { columnIndex } from '../documents/columns.ts'
import type { Additions } from '../documents/derived-rows.ts'
import type { StoredCall, StoredLog } from '../documents/record-decoder.ts'
import { packTopic } from '../forms/abi-words.ts'
import { createIndexing, firstTopicOf, isEvent, type Numbered } from './argument-terms.ts'
import { createNumbersBuilder, type Numbers } from './points.ts'
import { createPairsBuilder, type TermPairs } from './postings.ts'
import { columnNumber, findFieldId, termOf, UNLISTED, UNLISTED_CALL } from './terms.ts'

/** Changes of one segment by decoding it again, for one transaction. */
export interface Revision {
  /** Never reused: a merged or cut segment gets another number, with other ordinals. */
  segment: number
  logs: { position: number; signature: number; decimals: number | null; topics?: Uint8Array | null }[]
  calls: { position: number; signature: number; decimals: number | null }[]
  txs: NamesChange[]
  traces: NamesChange[]
  removed: Indexed
  put: Indexed
  columns: ColumnChange[]
  /** Logs that have become events. */
  events: number
  added: Additions
}

export const revisedKinds = ({ logs, calls, txs, traces }: Revision): Kind[] => [
  ...(logs.length > 0 ? (['log', 'event'] as const) : []),
  ...(calls.length > 0 ? (['call'] as const) : []),
  ...(txs.length > 0 ? (['tx'] as const) : []),
  ...(traces.length > 0 ? (['trace'] as const) : []),
]

/** Names that fields of a record get. */
export interface NamesChange {
  position: number
  /** Index of the field in the record, and id of its new name. */
  names: [column: number, name: number][]
}

export interface ColumnChange {
  field: number
  ordinals: number[]
  values: number[]
}

export interface Indexed {
  pairs: TermPairs
  numbers: Numbers
}

/** A document's position, and its ordinal in the segment. */
export interface Spot {
  position: number
  ordinal: number
}

export type RevisionBuilder = ReturnType<typeof createRevision>

export type NamedKind = 'tx' | 'trace' | 'call'

interface RevisedCall {
  signature: Signature
  args: DecodedArg[] | null
}

export const createRevision = (
  context: BatchContext,
  segment: number,
  /** 40 digits of a dictionary's address. */
  digitsOf: (address: number) => string,
) => {
  const [removed, put] = [createIndex(context), createIndex(context)]
  const logs: Revision['logs'] = []
  const calls: Revision['calls'] = []
  const named = { tx: new Map<number, NamesChange>(), trace: new Map<number, NamesChange>() }
  const columns = new Map<number, ColumnChange>()
  let events = 0

  const change = (field: number, ordinal: number, value: number) => {
    let column = columns.get(field)
    if (!column) {
      column = { field, ordinals: [], values: [] }
      columns.set(field, column)
    }
    column.ordinals.push(ordinal)
    column.values.push(value)
  }

  const decimalsOf = (args: DecodedArg[] | null, address: number, stored: number | null): number | undefined =>
    args && hasInteger(args) ? (context.decimals(digitsOf(address)) ?? stored ?? undefined) : undefined

  return {
    /** False if the dictionary has no room for the new signature: the log stays as it was. */
    log({ position, ordinal }: Spot, stored: StoredLog, was: DecodedLog, now: DecodedLog): boolean {
      const before = { id: stored.signature, unlisted: was.signature.key === UNLISTED }
      const after = context.signature(now.signature)
      if (after.unlisted) return false
      const { address: emitter, topics } = stored
      const decimals = decimalsOf(now.args, emitter, stored.decimals)
      const common = { emitter, topics, topicIds: NO_REVISED_TOPIC_IDS }
      removed.log({ ...was, ...common, numbered: before, decimals: stored.decimals ?? undefined }, ordinal)
      put.log({ ...now, ...common, numbered: after, decimals }, ordinal)
      change(LOG_SIGNATURE, ordinal, after.id)
      logs.push({
        position,
        signature: after.id,
        decimals: decimals ?? null,
        ...(before.unlisted && { topics: packTopics(topics, after, context) }),
      })
      events += Number(isEvent(now.signature, after)) - Number(isEvent(was.signature, before))
      return true
    },

    call({ position, ordinal }: Spot, stored: StoredCall, was: RevisedCall, now: RevisedCall): boolean {
      const before = { id: stored.signature, unlisted: was.signature.key === UNLISTED_CALL }
      const after = context.signature(now.signature)
      if (after.unlisted) return false
      const { to: target } = stored
      const decimals = decimalsOf(now.args, target, stored.decimals)
      // The shared signature of unlisted calls has no selector.
      const signature = { ...was.signature, topic: now.signature.topic }
      removed.call({ ...was, signature, numbered: before, target, decimals: stored.decimals ?? undefined }, ordinal)
      put.call({ ...now, numbered: after, target, decimals }, ordinal)
      change(CALL_SIGNATURE, ordinal, after.id)
      calls.push({ position, signature: after.id, decimals: decimals ?? null })
      return true
    },

    /** A field whose name had the id `was`. Names of calls are in their traces. */
    name(kind: NamedKind, field: string, { position, ordinal }: Spot, was: number | null, now: string): void {
      const name = context.names.id(now)
      if (name === was) return
      const terms = findFieldId(kind, field)
      if (terms !== undefined) {
        if (was !== null) removed.term(termOf(was, terms), ordinal)
        put.term(termOf(name, terms), ordinal)
      }
      change(columnNumber(kind, field), ordinal, name)
      if (kind === 'call') return
      const column = columnIndex(kind, field)
      const others = named[kind].get(position)
      if (others) others.names.push([column, name])
      else named[kind].set(position, { position, names: [[column, name]] })
    },

    /** Puts the signature into the dictionary; false if there is no room. */
    signature: (now: Signature): boolean => !context.signature(now).unlisted,

    get documents() {
      return logs.length + calls.length + named.tx.size + named.trace.size
    },

    finish: (): Revision => ({
      segment,
      logs,
      calls,
      txs: [...named.tx.values()],
      traces: [...named.trace.values()],
      removed: removed.finish(),
      put: put.finish(),
      columns: [...columns.values()],
      events,
      added: {
        addresses: context.addresses.takeAdded(),
        names: context.names.takeAdded(),
        signatures: context.takeSignatures(),
        // They come with the next batch.
        codes: [],
        tokens: [],
        links: [],
      },
    }),
  }
}

const createIndex = (context: BatchContext) => {
  const postings = createPairsBuilder(1 << 8)
  const numbers = createNumbersBuilder()
  const { log, call } = createIndexing(context, postings, numbers)
  return {
    log,
    call,
    term: (term: number, ordinal: number) => postings.add(term, 0, ordinal),
    finish: (): Indexed => ({ pairs: postings.finish(), numbers: numbers.finish() }),
  }
}

const packTopics = (
  topics: readonly string[],
  numbered: Numbered,
  { addressOfTopic }: BatchContext,
): Uint8Array | null => {
  const kept = topics.slice(firstTopicOf(numbered))
  if (kept.length === 0) return null
  const out = createByteWriter()
  for (const topic of kept) packTopic(out, topic, addressOfTopic)
  return out.take()
}

const NO_REVISED_TOPIC_IDS: readonly undefined[] = []
const LOG_SIGNATURE = columnNumber('log', 'signature')
const CALL_SIGNATURE = columnNumber('call', 'selector')
