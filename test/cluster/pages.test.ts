import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unavailable } from '../../src/cluster/connection/faults.ts'
import { ClusterHit } from '../../src/cluster/hits/cluster-hit.ts'
import { scanList } from '../../src/cluster/hits/scan.ts'
import { metaText } from '../../src/cluster/indices/names.ts'
import { type ClusterPages, openPages } from '../../src/cluster/pages.ts'
import type { Page, Paging, QueryClient } from '../../src/cluster/query-client.ts'
import { createConsistentRead } from '../../src/cluster/visibility.ts'
import type { Visible } from '../../src/engine/shipping/shipped-ranges.ts'
import { ALL_NODE } from '../../src/query/ast.ts'
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
  const asker: QueryClient = {
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
const settle = createConsistentRead({ visible })
const options = () => ({ deadline: Number.POSITIVE_INFINITY })
const all = (from: number): SearchRequest => ({
  ...{ parts: [{ kind: 'block', query: ALL_NODE }], sort: [], from, size: -1, source: true, trackTotal: true },
})

test('hits that are hidden by the time of their page end the answer with an error', async () => {
  for (const trackTotal of [true, false]) {
    const { asker } = clusterOf(3_000, () => 1_000)
    let isReorganised = false
    const hiding: QueryClient = {
      ...asker,
      async page(...asked) {
        const page = await asker.page(...asked)
        const hits = page.hits.filter(({ position }) => !isReorganised || position > 100)
        return asked[0].trackTotal === false ? { ...page, hits, total: -1 } : { ...page, hits }
      },
    }
    const pages = await openPages({ ...all(0), trackTotal }, { asker: hiding, options, visible, settle })
    assert.equal(pages.total, trackTotal ? 3_000 : -1)
    const readAll = async () => {
      for (;;) {
        await pages.ready()
        if (!pages.take()) return
        isReorganised = true
      }
    }
    await assert.rejects(readAll, /^ChainsieveError: the chain was reorganised, or documents changed, while/)
  }
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

test('an answer goes on where copies that it was read from are lost, and shows the same blocks', async () => {
  const { asker, closed } = clusterOf(3_000, () => 10)
  const before: Visible = { hidden: [hiddenFrom(7)], ranges: [{ from: 0, to: 2_999 }] }
  const later: Visible = { hidden: [hiddenFrom(9), { ...hiddenFrom(2), above: 5 }], ranges: before.ranges }
  let [now, opened, failures] = [before, 0, 0]
  const seen: [pit: string | undefined, visible: Visible][] = []
  const lossy: QueryClient = {
    ...asker,
    send: async request =>
      request.method === 'DELETE' ? asker.send(request, options()) : JSON.stringify({ pit_id: `p${++opened}` }),
    async page(request, given, visible, paging) {
      if (paging?.pit === 'p1' && paging.after !== undefined) {
        failures++
        now = later
        throw unavailable('no such context.')
      }
      seen.push([paging?.pit, visible])
      return asker.page(request, given, visible, paging)
    },
  }
  const looking = { asker: lossy, options, visible: () => now, settle: createConsistentRead({ visible: () => now }) }
  const pages = await openPages(all(0), looking)
  assert.equal((await allOf(pages)).length, 3_000)
  assert.equal(failures, 1)
  assert.deepEqual(closed, [{ pit_id: ['p1'] }, { pit_id: ['p2'] }])
  assert.deepEqual(seen[0], ['p1', before])
  const both = { hidden: [...before.hidden, ...later.hidden], ranges: before.ranges }
  for (const one of seen.slice(1)) assert.deepEqual(one, ['p2', both])
})

test('an answer ends with an error where the cluster stays away, and where scores order what comes', async () => {
  const failing = (asker: QueryClient, fails: Paging[]): QueryClient => ({
    ...asker,
    async page(request, given, visible, paging) {
      if (paging?.after === undefined)
        return { ...(await asker.page(request, given, visible, paging)), uniform: undefined }
      fails.push(paging)
      throw unavailable('no such context.')
    },
  })
  const byScore: SearchRequest['sort'] = [{ by: '_score', fields: {}, order: 'desc', missing: '_last' }]
  for (const [request, most] of [
    [all(0), 4],
    [{ ...all(0), sort: byScore }, 1],
  ] as const) {
    const fails: Paging[] = []
    const asker = failing(clusterOf(3_000, () => 10).asker, fails)
    const pages = await openPages(request, { asker, options, visible, settle, pauses: [0, 0, 0] })
    await assert.rejects(allOf(pages), /no such context/)
    assert.equal(fails.length, most)
  }
})

const hiddenFrom = (from: number) => ({
  ...{ batches: { from, to: Number.MAX_SAFE_INTEGER }, above: -1, below: Number.MAX_SAFE_INTEGER },
})

const allOf = async (pages: ClusterPages): Promise<ClusterHit[]> => {
  const hits: ClusterHit[] = []
  for (;;) {
    await pages.ready()
    const page = pages.take()
    if (!page) return hits
    hits.push(...page.hits)
  }
}
