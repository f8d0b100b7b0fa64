import type { RestKind } from '../../documents/rest.ts'
import type { blockMapping as mapping } from '../../mapping/documents/block.ts'
import { type FieldwiseKind, MAPPING } from '../../mapping/index.ts'
import { requirePresent } from '../../sqlite/damage.ts'
import { RARE_COLUMNS, RECORD_COLUMNS, REST_INDEX, REST_VALUES } from '../documents/columns.ts'
import type { RecordView } from '../documents/record-reader.ts'
import { hashStart } from '../documents/records/block.ts'
import { locate } from '../documents/records/fields.ts'
import { writeHashes } from '../forms/bytes.ts'
import { cursor, type JsonContext } from '../forms/form.ts'
import { writeObject } from '../forms/json.ts'
import { blockOf, placeOf, positionOf } from '../schema.ts'
import { createBloomShow } from './bloom.ts'
import { placeFields, type ShowContext, type ShownBlock, writeTxHash } from './context.ts'
import { planMembers, planSource, type WriteBy, writeAlways } from './plan.ts'
import type { Show } from './source-writers.ts'

/** The fields of the current record. */
export interface RecordFields {
  read(view: RecordView | undefined): void
  has(field: string): boolean
  /** Moves the cursor to a field's value and returns the record's bytes; undefined if absent. */
  seek(field: string): Buffer | undefined
  writers: ReadonlyMap<string, WriteBy>
}

/** Creates the writer of `_source` from the record in `view`; `derived`: fields not in it. */
export const recordSource = (
  kind: Exclude<FieldwiseKind, 'trace'>,
  record: RecordFields,
  derived: Readonly<Record<string, WriteBy>>,
  view: () => RecordView | undefined,
): Show['source'] => {
  const fields = new Map([...record.writers, ...Object.entries(derived)])
  const ordered = Object.fromEntries(Object.keys(MAPPING[kind].fields).map(name => [name, fields.get(name)!]))
  return filter => {
    const plan = planSource(kind, filter)
    if (!plan) return undefined
    const members = planMembers(plan, ordered)
    const needsRecord = [...record.writers.keys()].some(name => plan.field(name))
    return out => {
      if (needsRecord) record.read(view())
      writeObject(out, members)
    }
  }
}

export const createRecordFields = (kind: Exclude<FieldwiseKind, 'trace'>, shown: JsonContext): RecordFields => {
  const offsets = new Int32Array(RECORD_COLUMNS[kind].length)
  const at: RecordAt = { bytes: Buffer.alloc(0), offsets }
  return {
    read(view) {
      const { bytes, start } = requirePresent(view, `a record of the kind ${kind}`)
      at.bytes = bytes
      locate(kind, bytes, start, offsets)
    },
    ...fieldsAt(kind, at, shown),
  }
}

export interface RecordAt {
  bytes: Buffer
  offsets: Int32Array
}

export const fieldsAt = (kind: FieldwiseKind, at: RecordAt, shown: JsonContext): Omit<RecordFields, 'read'> => {
  const columns = RECORD_COLUMNS[kind]
  const indexes = new Map(columns.map(({ field }, index) => [field, index]))
  const offsetOf = (field: string): number => {
    const index = indexes.get(field)
    return index === undefined ? -1 : at.offsets[index]!
  }
  const writers = columns.map(({ field, form }, index): [string, WriteBy] => [
    field,
    plan => {
      const write = form.json(plan, shown)
      return out => {
        cursor.at = at.offsets[index]!
        return cursor.at >= 0 && write(out, at.bytes)
      }
    },
  ])
  return {
    has: field => offsetOf(field) >= 0,
    seek(field) {
      cursor.at = offsetOf(field)
      return cursor.at < 0 ? undefined : at.bytes
    },
    writers: new Map([...(kind === 'trace' ? [] : rareWriters(kind, at, shown)), ...writers]),
  }
}

const rareWriters = (kind: RestKind, at: RecordAt, shown: JsonContext): [string, WriteBy][] =>
  Array.from(RARE_COLUMNS[kind].values(), ({ field, number, form }) => [
    field,
    plan => {
      const write = form.json(plan, shown)
      return out => {
        cursor.at = at.offsets[REST_INDEX[kind]]!
        return cursor.at >= 0 && REST_VALUES[kind].seek(number, at.bytes) && write(out, at.bytes)
      }
    },
  ])

type Derived = 'number' | 'hash' | 'timestamp' | 'transactions'
export const createBlockShow = (context: ShowContext): Show => {
  const record = createRecordFields('block', context)
  const place = placeFields(() => block)
  let block: ShownBlock

  const derived = {
    number: place.blockNumber,
    hash: place.blockHash,
    timestamp: place.seconds,
    transactions: () => writeAlways(out => writeHashes(out, block.stored.hashes, 0, block.stored.txs * 32)),
  } satisfies Record<Derived & keyof typeof mapping.fields, WriteBy>

  return {
    find(position) {
      const found = context.block(blockOf(position))
      if (found) block = found
      return found !== undefined
    },
    id: out => out.bytes(block.hash),
    routing: undefined,
    parent: undefined,
    source: recordSource('block', record, derived, () => context.records.blockRecord(block.stored.number)),
  }
}

export const createTxShow = (context: ShowContext): Show => {
  const bloom = createBloomShow(context)
  let block: ShownBlock
  let place = 0
  const record = createRecordFields('tx', {
    ...context,
    ownBloom: out => bloom(out, block.stored, place),
  })
  const where = placeFields(() => block)
  const derived = {
    blockHash: where.blockHash,
    blockNumber: where.blockNumber,
    hash: where.transactionHash(() => place),
    timestamp: where.seconds,
    transactionIndex: where.quantity(() => place),
  }

  return {
    find(position) {
      const found = context.block(blockOf(position))
      if (!found || hashStart(found.stored, placeOf(position)) < 0) return false
      block = found
      place = placeOf(position)
      return true
    },
    id(out) {
      writeTxHash(out, block, place)
    },
    routing: out => out.bytes(block.hash),
    parent: out => out.bytes(block.hash),
    source: recordSource('tx', record, derived, () =>
      context.records.find('tx', positionOf(block.stored.number, place)),
    ),
  }
}
