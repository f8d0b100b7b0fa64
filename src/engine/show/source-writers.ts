import type { DocumentDecoding } from '../../documents/document.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { Kind, RowKind } from '../../mapping/index.ts'
import type { SourceFilter } from '../../query/request.ts'
import type { StoreReader } from '../reader.ts'
import { createAddressBytes } from './address-bytes.ts'
import { createCallShow } from './call.ts'
import { createContext, type ShowContext } from './context.ts'
import { createEventShow } from './event.ts'
import { createLogShow } from './log.ts'
import { createBlockShow, createTxShow } from './record.ts'
import type { RowShape, WriteRow } from './row.ts'
import { createRowShows } from './rows.ts'
import { createTraceShow } from './trace.ts'

const showsByReader = new WeakMap<StoreReader, Shows>()

/** JSON writers per kind, shared by all: write a document before finding the next one. */
export const showsOf = (reader: StoreReader): Shows => {
  let shows = showsByReader.get(reader)
  if (!shows) {
    shows = createShows(reader)
    showsByReader.set(reader, shows)
  }
  return shows
}

const createShows = (reader: StoreReader): Shows => {
  const context = createContext({
    ...{ records: reader.records, name: reader.name, signature: reader.signature },
    addressDigits: reader.addressDigits,
    addressBytes: createAddressBytes(reader),
  })
  return { ...createRecordShows(context), ...createRowShows(context, reader) }
}

export const createRecordShows = (context: ShowContext): Record<Exclude<Kind, RowKind>, Show> => {
  return {
    block: createBlockShow(context),
    tx: createTxShow(context),
    log: createLogShow(context),
    event: createEventShow(context),
    trace: createTraceShow(context),
    call: createCallShow(context),
  }
}

/** Shows documents of one kind as JSON, reading only what the `_source` filter needs. */
export interface Show {
  /** Moves to a document; false if none is stored there. Other members refer to it. */
  find(position: number): boolean
  /** Without quotes, as are all three. */
  id(out: ByteWriter): void
  /** Both or none. */
  routing: ((out: ByteWriter) => void) | undefined
  parent: ((out: ByteWriter) => void) | undefined
  /** Undefined if the filter leaves no `_source`. */
  source(filter: SourceFilter): ((out: ByteWriter) => void) | undefined
  /** Undefined if documents of the kind are not written as such rows. */
  row?(shape: RowShape): WriteRow | undefined
  /** Data for rules; undefined without a known declaration. */
  decoding?(): DocumentDecoding | undefined
}
export type Shows = Readonly<Record<Kind, Show>>
