import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSearcher } from '../../../src/engine/query/execute.ts'
import { KINDS, queryPaths } from '../../../src/mapping/index.ts'
import { parseSearch } from '../../../src/query/parse.ts'
import { compile } from '../../../src/query/predicate.ts'
import { answerSearch } from '../../../src/search/answer.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'

test('decimal digits have a shape and a beginning, on every field that has them', t => {
  const store = createTestStore(demoBlocks().slice(0, 40))
  t.after(() => store.close())
  const searcher = createSearcher(store.reader)
  const totalOf = (kind: string, body: string): number => {
    const { body: bytes } = answerSearch(searcher, 'x', kind, body, { deadline: Number.POSITIVE_INFINITY })
    return (JSON.parse(Buffer.from(bytes as Uint8Array).toString()) as { hits: { total: number } }).hits.total
  }
  for (const kind of KINDS) {
    const all = store.all(kind)
    for (const { path, compare, list } of queryPaths(kind).values()) {
      if (compare !== 'integer' || list?.nested) continue
      const clauses = [
        ...['\\-1', '*1*'].map(value => ({ wildcard: { [path]: value } })),
        { regexp: { [path]: '[0-4].*' } },
        ...['1', '0x1', ''].map(value => ({ prefix: { [path]: value } })),
        { query_string: { query: '2*', fields: [path] } },
        { multi_match: { query: '3', fields: [path], type: 'bool_prefix' } },
      ]
      for (const query of clauses) {
        const body = JSON.stringify({ query, size: 0 })
        const [part] = parseSearch(body, [kind], 0).parts
        const expected = all.filter(compile(kind, part!.query)).length
        assert.equal(totalOf(kind, body), expected, `${kind} ${body}`)
      }
    }
  }
})
