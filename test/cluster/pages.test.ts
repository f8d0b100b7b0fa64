import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asker, Page, Paging } from '../../src/cluster/asker.ts'
import { ClusterHit } from '../../src/cluster/hits/found.ts'
import { scanList } from '../../src/cluster/hits/scan.ts'
import { metaText } from '../../src/cluster/meta.ts'
import { openPages } from '../../src/cluster/pages.ts'
import { createSettling } from '../../src/cluster/settled.ts'
import { ALL } from '../../src/query/ast.ts'
import type { SearchRequest } from '../../src/query/request.ts'

/** A cluster of so many blocks, the newest first, with documents of so many bytes each, and what it was asked. */
const clusterOf = (blocks: number, bytes: (block: number) => number) => {
  const asked: Paging[] = []
  const closed: object[] = []
  const hitOf = (block: number): string => {
    const meta = { batch: 1, block, position: block, routing: undefined, parent: undefined }
    const source = `{"number":"${block}","filler":"${'é'.repeat(bytes(block) / 2)}"${metaText('block', meta)}}`
    return `{"_index":"x","_id":"0x${block}","_score":null,"_source":${source},"sort":[${block},0]}`
  }
  const asker: Asker = {
    target: () => 'x',
    async send({ method, body }) {
      if (method === 'DELETE') closed.push(body as object)
      return '{"pit_id":"p"}'
    },
    async page(_, __, ___, paging = {}): Promise<Page> {
      asked.push(paging)
      const { after, size = 0 } = paging
      const from = after === undefined ? blocks : Number(JSON.parse(after)[0])
      const some = Array.from({ length: Math.min(size, from) }, (_, i) => hitOf(from - 1 - i))
      const hits = scanList(Buffer.from(`[${some}]`)).map(hit => new ClusterHit(hit, 1))
      return { total: blocks, hits, sort: [], aggregations: undefined, uniform: 1 }
    },
  }
  return { asker, asked, closed }
}

const visible = () => ({ hidden: [], ranges: [{ from: 0, to: 99_999 }] })
const settle = createSettling({ visible })
const options = () => ({ deadline: Number.POSITIVE_INFINITY })
const all = (from: number): SearchRequest => ({
  ...{ parts: [{ kind: 'block', query: ALL }], sort: [], from, size: -1, source: true, trackTotal: true },
})

test('all hits come once in their order, by pages of so many bytes, and nothing stays open', async () => {
  for (const [blocks, from, size] of [
    [0, 0, 0],
    [499, 0, 0],
    [500, 500, 0],
    [501, 500, 10],
    [3_000, 7, 10],
    [3_000, 1_200, 4_000],
    [12_000, 0, 0],
  ] as const) {
    const { asker, asked, closed } = clusterOf(blocks, block => (block < blocks / 2 ? size : 4 * size))
    const pages = await openPages(all(from), { asker, options, visible, settle })
    const found: number[] = []
    let most = 0
    for (;;) {
      await pages.ready()
      const page = pages.take()
      if (!page) break
      for (const { source } of page.hits) found.push(Number(JSON.parse(source).number))
      most = Math.max(
        most,
        page.hits.reduce((sum, { bytes }) => sum + bytes.length, 0),
      )
    }
    assert.deepEqual(
      found,
      Array.from({ length: Math.max(0, blocks - from) }, (_, i) => blocks - 1 - from - i),
      `${blocks} blocks from ${from}`,
    )
    assert.equal(pages.total, blocks)
    assert.deepEqual(closed, [{ pit_id: ['p'] }])
    assert.ok(asked.every(({ size }) => size! > 0 && size! <= 10_000))
    // The first page is as it comes.
    assert.ok(most <= Math.max(2.2e6, 500 * 4 * size + 100_000), `${most} bytes`)
  }
})
