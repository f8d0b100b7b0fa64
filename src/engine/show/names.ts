import { compile } from '../../query/predicate.ts'
import type { SearchRequest } from '../../query/request.ts'
import { type Documents, fieldsIn } from '../query/documents.ts'
import type { Found } from '../query/found.ts'

/** Writes which clauses with names a hit matches; undefined where none has a name. */
export const matchedNames = (
  { names }: Pick<SearchRequest, 'names'>,
  documents: Documents,
): ((found: Found) => string) | undefined => {
  if (names === undefined) return undefined
  const tests = names.map(({ name, kind, query }) => ({ name, kind, test: compile(kind, query) }))
  const fields = fieldsIn({ op: 'and', of: names.map(({ query }) => query) })
  return ({ kind, position }) => {
    const [document] = documents.load(kind, [position], fields)
    const matched = tests.filter(it => document !== undefined && it.kind === kind && it.test(document))
    if (matched.length === 0) return ''
    return `,"matched_queries":${JSON.stringify([...new Set(matched.map(({ name }) => name))])}`
  }
}
