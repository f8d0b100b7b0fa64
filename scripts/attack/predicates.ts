import type { Kind } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { compile, type Document, type Relatives } from '../../src/query/predicate.ts'
import type { SearchRequest } from '../../src/query/request.ts'
import type { Shown } from './reading.ts'

type Documents = Record<Kind, readonly Shown[]>

/** The documents of a kind that a body asks for, found by looking at each: without index, columns, segments or caches. */
export const judgeByPredicate = (text: string, kind: Kind, kinds: readonly Kind[], documents: Documents): Shown[] => {
  const request = readOnce(text, kinds)
  const { query, postFilter } = request.parts.find(part => part.kind === kind)!
  const relatives = relativesIn(documents)
  const tests = [query, ...(postFilter ? [postFilter] : [])].map(node => compile(kind, node, relatives))
  return documents[kind].filter(document => tests.every(test => test(document)))
}

/** The request of the latest text: each kind asks for it. */
const readOnce = (text: string, kinds: readonly Kind[]): SearchRequest => {
  const key = `${kinds} ${text}`
  if (latest?.key !== key) latest = { key, request: parseSearch(text, kinds, Date.now()) }
  return latest.request
}
let latest: { key: string; request: SearchRequest } | undefined

const relativesIn = (documents: Documents): Relatives => {
  const found = RELATIVES.get(documents)
  if (found) return found
  const children = new Map<Kind, Map<string, Shown[]>>()
  const ids = new Map<Kind, Map<string, Shown>>()
  for (const [kind, all] of Object.entries(documents) as [Kind, readonly Shown[]][]) {
    ids.set(kind, new Map(all.map(document => [document._id, document])))
    children.set(
      kind,
      Map.groupBy(
        all.filter(({ _parent }) => _parent !== undefined),
        ({ _parent }) => _parent!,
      ),
    )
  }
  const relatives: Relatives = {
    childrenOf: ({ _id }, kind) => children.get(kind)!.get(_id) ?? [],
    parentOf: (document, kind) => ids.get(kind)!.get((document as Document & Shown)._parent ?? ''),
  }
  RELATIVES.set(documents, relatives)
  return relatives
}
const RELATIVES = new WeakMap<Documents, Relatives>()
