import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDocumentReader } from '../../src/engine/document-reader.ts'
import { createLookups } from '../../src/engine/lookups/index.ts'
import { ALL } from '../../src/query/ast.ts'
import type { SearchRequest } from '../../src/query/request.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

const options = { deadline: Number.POSITIVE_INFINITY }

test('a reader answers all that is asked of documents, from the outside of the engine', async t => {
  const blocks = demoBlocks()
  const store = createTestStore([...blocks.slice(0, 20), ...blocks.slice(30)])
  const documents = openDocumentReader(store.path)
  t.after(async () => {
    await documents.close()
    store.close()
  })
  const numbers = [...blocks.slice(0, 20), ...blocks.slice(30)].map(({ block }) => Number(block.number))
  const [first, last] = [numbers[0]!, numbers.at(-1)!]
  const ranges = [
    { from: first, to: numbers[19]! },
    { from: numbers[20]!, to: last },
  ]
  assert.deepEqual([await documents.ranges(), createLookups(store.db).ranges()], [ranges, ranges])

  const all = store.all('contract')
  const request: SearchRequest = {
    parts: [{ kind: 'contract', query: ALL }],
    sort: [],
    from: 0,
    size: all.length,
    source: true,
    trackTotal: true,
  }
  const { total, hits } = await documents.search(request, options)
  assert.deepEqual([total, hits.map(({ document }) => document._id).sort()], [all.length, all.map(it => it._id).sort()])

  const paged: string[] = []
  const pages = await documents.pages(request, options)
  for await (const page of pages.pages) paged.push(...page.map(({ document }) => document._id))
  assert.deepEqual(paged.sort(), all.map(it => it._id).sort())

  const one = hits.find(({ document }) => document._source.codeHash !== null)!.document
  assert.deepEqual((await documents.get('contract', one._id))?._source, one._source)
  assert.equal(await documents.get('contract', `0x${'00'.repeat(32)}_c`), undefined)

  const address = String(one._source.address)
  const similar = (await documents.similar({ kind: 'contract', id: address, size: 3 }, options))!
  assert.ok(similar.length > 0 && similar.every(({ similarity }) => similarity > 0 && similarity <= 1))
  assert.equal(await documents.similar({ kind: 'contract', id: `0x${'00'.repeat(20)}`, size: 3 }, options), undefined)

  const [suggestion] = await documents.suggest({ q: 'transf', size: 1, contracts: [] })
  assert.equal(suggestion?.text, 'Transfer')
})

test('look-ups tell hashes of stored blocks, and nothing of others', t => {
  const blocks = demoBlocks()
  const store = createTestStore(blocks)
  t.after(store.close)
  const lookups = createLookups(store.db)
  for (const { block } of blocks) {
    const number = Number(block.number)
    assert.deepEqual([lookups.hash(number), lookups.parentHash(number)], [block.hash, block.parentHash])
  }
  assert.deepEqual([lookups.hash(2 ** 31), lookups.parentHash(2 ** 31)], [undefined, undefined])
})
