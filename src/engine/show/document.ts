import type { Document } from '../../documents/document.ts'
import type { RowKind } from '../../mapping/index.ts'
import { compileSourceFilter } from '../../query/source-filter.ts'
import type { Documents } from '../query/documents.ts'
import type { Show } from './show.ts'

/** Shows the kinds that are few, and kept in rows, through objects. */
export const createDocumentShow = (kind: RowKind, documents: Documents): Show => {
  let document: Document
  return {
    find(position) {
      const [found] = documents.load(kind, [position])
      if (found) document = found
      return found !== undefined
    },
    id: out => out.text(document._id),
    routing: undefined,
    parent: undefined,
    source(filter) {
      if (filter === false) return undefined
      const shown = compileSourceFilter(filter)
      return out => out.text(JSON.stringify(shown(document._source)))
    },
  }
}
