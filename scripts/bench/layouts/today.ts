import type { Document } from '../../../src/documents/document.ts'
import { asJson } from '../../../src/documents/show.ts'
import { createDocuments } from '../../../src/engine/query/documents.ts'
import type { Reader } from '../../../src/engine/reader.ts'
import { logsBloomOf } from '../../../src/lib/bloom.ts'
import { INDEX } from './show-log.ts'

export type Shown = 'tx' | 'log' | 'event'

/** Hits of today: rows become objects, objects become JSON text. */
export const createToday = (reader: Reader) => {
  const documents = createDocuments({ reader, big: asJson, bloom: logsBloomOf })
  const text = (kind: Shown, { _id, _routing, _parent, _source }: Document): string =>
    JSON.stringify({ _index: `${INDEX}-${kind}`, _type: kind, _id, _score: 1, _routing, _parent, _source })
  return {
    hit: (kind: Shown, position: number): string => text(kind, documents.load(kind, [position])[0]!),
    page: (kind: Shown, positions: readonly number[]): Buffer =>
      Buffer.from(
        documents
          .load(kind, positions)
          .map(document => text(kind, document!))
          .join(','),
      ),
  }
}
