import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { createPool } from '../../src/search/pool.ts'
import type { SearchAnswer, SearchParams } from '../../src/search/service.ts'
import { createTestStore, generatedBlocks } from '../support/store.ts'

const NETWORK = 'ethereum/test/net'
const store = createTestStore(generatedBlocks(6))
after(() => store.close())
const asking = { network: NETWORK, account: 1, signal: new AbortController().signal }

const textOf = async ({ body }: SearchAnswer): Promise<string> =>
  new Response(body as Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>).text()

interface Page {
  _scroll_id: string
  pit_id: string
  hits: { total: number; hits: { _id: string; sort: unknown[] }[] }
}

for (const [where, inlineMs] of [
  ['in threads', 0],
  ['in the main thread', 10_000],
] as const)
  describe(where, () => {
    const pool = createPool({
      ...{ stores: () => new Map([[NETWORK, store.path]]), threads: 2, deadlineMs: 20_000, inlineMs },
      limits: { ...DEFAULT_LIMITS, cursors: 3 },
    })
    after(() => pool.close())
    const search = async (body: object, more: Partial<SearchParams> = {}): Promise<SearchAnswer> =>
      pool.search({ ...asking, entities: 'log', body: Buffer.from(JSON.stringify(body)), ...more })
    const page = async (answer: Promise<SearchAnswer>): Promise<Page> => JSON.parse(await textOf(await answer))
    const ids = ({ hits }: Page) => hits.hits.map(({ _id }) => _id)

    it('a scroll and a point in time give all hits', async () => {
      const body = { _source: false, sort: [{ 'logIndex.num': 'desc' }], size: 300 }
      const whole = ids(await page(search({ ...body, size: -1 }))).toSorted()
      let one = await page(search(body, { scroll: '1m' }))
      const found: string[] = []
      for (; one.hits.hits.length > 0; found.push(...ids(one)), one = await next(one._scroll_id))
        assert.equal(one.hits.total, whole.length)
      assert.deepEqual(found.toSorted(), whole)
      assert.equal(pool.cursors.close({ ...asking, kind: 'scroll', ids: [one._scroll_id] }).length, 1)
      await assert.rejects(next(one._scroll_id), { code: 'search_context_missing_exception' })

      let { id } = await pool.cursors.openPit({ ...asking, entities: 'log', keepAlive: '1m', dialect: 'elasticsearch' })
      const seen: string[] = []
      for (let search_after: unknown[] | undefined; ; ) {
        const within = { ...body, pit: { id }, search_after }
        one = await page(search(within, { entities: 'block,tx', isNamed: false }))
        if (one.hits.hits.length === 0) break
        seen.push(...ids(one))
        id = one.pit_id
        search_after = one.hits.hits.at(-1)!.sort
      }
      assert.deepEqual(seen.toSorted(), whole)
      assert.equal(pool.cursors.close({ ...asking, kind: 'pit', ids: 'all' }).length, 1)
      await assert.rejects(search({ pit: { id } }, { isNamed: false }), { code: 'search_context_missing_exception' })

      function next(id: string) {
        return page(pool.cursors.scroll({ ...asking, id, scroll: '1m' }))
      }
    })

    it('ids are those of the store: others work after a restart, and not elsewhere', async () => {
      const open = (path: string) =>
        createPool({
          ...{ stores: () => new Map([[NETWORK, path]]), threads: 1, deadlineMs: 20_000, inlineMs },
          limits: DEFAULT_LIMITS,
        })
      const body = { size: 1, sort: '_doc' }
      const first = await page(search(body, { scroll: '1m' }))
      const { id } = await pool.cursors.openPit({
        ...asking,
        entities: 'log',
        keepAlive: '1m',
        dialect: 'elasticsearch',
      })
      const scrolled = { ...asking, id: first._scroll_id, scroll: '1m' }
      const within = {
        ...asking,
        entities: '',
        isNamed: false,
        body: Buffer.from(JSON.stringify({ ...body, pit: { id } })),
      }
      const restarted = open(store.path)
      const second = await page(restarted.cursors.scroll(scrolled))
      assert.notDeepEqual(ids(second), ids(first))
      assert.deepEqual(ids(await page(restarted.search(within))), ids(first))
      await restarted.close()
      const other = createTestStore(generatedBlocks(6))
      const elsewhere = open(other.path)
      const code = 'search_context_missing_exception'
      await assert.rejects(elsewhere.cursors.scroll(scrolled), { code })
      await assert.rejects(elsewhere.search(within), { code })
      assert.deepEqual(elsewhere.cursors.close({ ...asking, kind: 'pit', ids: [id] }), [])
      await elsewhere.close()
      other.close()
      for (const kind of ['scroll', 'pit'] as const) pool.cursors.close({ ...asking, kind, ids: 'all' })
    })

    it('an account has so many', async () => {
      const opened = await Promise.all([1, 2, 3].map(() => page(search({ size: 1 }, { scroll: '1m' }))))
      await assert.rejects(search({ size: 1 }, { scroll: '1m' }), { next: 'retry' })
      pool.cursors.close({ ...asking, kind: 'scroll', ids: opened.map(({ _scroll_id }) => _scroll_id) })
      await search({ size: 1 }, { scroll: '1m' })
      pool.cursors.close({ ...asking, kind: 'scroll', ids: 'all' })
    })

    it('lines are streamed, and errors are none', async () => {
      const all = ids(await page(search({ size: -1, _source: false })))
      const ndjson = await search({ size: -1, _source: false }, { format: 'ndjson' })
      assert.ok(ndjson.body instanceof ReadableStream)
      assert.equal(ndjson.format, 'ndjson')
      const lines = (await textOf(ndjson)).trimEnd().split('\n')
      assert.deepEqual(
        lines.map(line => JSON.parse(line)._id),
        all,
      )
      const csv = (await textOf(await search({ size: -1, _source: ['topics'] }, { format: 'csv' })))
        .trimEnd()
        .split('\r\n')
      assert.deepEqual(
        csv.map(line => line.split(',')[0]),
        ['_id', ...all],
      )
      await assert.rejects(search({ query: { nothing: {} } }, { format: 'csv' }), { next: 'refuse' })
    })

    it('a search has a deadline of its own', async () => {
      const slow = { size: 10_000, sort: [{ data: 'desc' }], timeout: '1nanos' }
      await assert.rejects(search(slow), { code: 'search_timeout_exception' })
      assert.equal((await search({ ...slow, timeout: '10s', size: 1 })).status, 200)
      await assert.rejects(search({ timeout: '5' }), /a time with its unit/)
    })
  })
