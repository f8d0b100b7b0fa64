import type { Document } from '../../documents/document.ts'
import type { Kind } from '../../mapping/index.ts'
import { compileSourceFilter } from '../../query/source-filter.ts'
import type { Documents } from '../query/documents.ts'
import type { Show } from './hits.ts'

/** Shows documents through objects. */
export const createDocumentShow = (kind: Kind, documents: Documents): Show => {
  let document: Document
  const isBelow = kind !== 'block' && kind !== 'contract' && kind !== 'token'
  return {
    find(position) {
      const [found] = documents.load(kind, [position])
      if (found) document = found
      return found !== undefined
    },
    id: out => out.text(document._id),
    routing: isBelow ? out => out.text(document._routing!) : undefined,
    parent: isBelow ? out => out.text(document._parent!) : undefined,
    source(filter) {
      if (filter === false) return undefined
      const shown = compileSourceFilter(filter)
      return out => out.text(JSON.stringify(shown(document._source)))
    },
  }
}
