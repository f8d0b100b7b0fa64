import type { Decoding } from '../../documents/document.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import type { SourceFilter } from '../../query/request.ts'

/** Shows documents of one kind as JSON. A filter on `_source` decides what of them is read. */
export interface Show {
  /** Goes to a document; false where none is stored there (any more). All else is of that one. */
  find(position: number): boolean
  /** Each without quotes. */
  id(out: ByteWriter): void
  /** Both or none. */
  routing: ((out: ByteWriter) => void) | undefined
  parent: ((out: ByteWriter) => void) | undefined
  /** What writes `_source`; undefined where none is wanted. */
  source(filter: SourceFilter): ((out: ByteWriter) => void) | undefined
  /** What rules need beside the fields of what is decoded; undefined of what no declaration is known for. */
  decoding?(): Decoding | undefined
}

export type Shows = Readonly<Record<Kind, Show>>
