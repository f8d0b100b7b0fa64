import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClusterHit } from '../../src/cluster/hits/cluster-hit.ts'
import { scanList } from '../../src/cluster/hits/scan.ts'
import { openPages } from '../../src/cluster/pages.ts'
import type { QueryClient } from '../../src/cluster/query-client.ts'
import { stateIndexOf } from '../../src/cluster/ship/shared-state.ts'
import { createConsistentRead, createPublishedVisibility, isStill } from '../../src/cluster/visibility.ts'
import { type Hidden, laterThan, type Visible } from '../../src/engine/shipping/shipped-ranges.ts'
import { holds } from '../../src/lib/ranges.ts'
import { ALL_NODE } from '../../src/query/ast.ts'
import { createDocumentCluster } from '../support/document-cluster.ts'
import { createRandom } from '../support/ship.ts'

const options = { deadline: Number.POSITIVE_INFINITY }
const ranges = [{ from: 0, to: 9 }]
const seen = (committed: number, ...hidden: Hidden[]): Visible => ({
  hidden: [...hidden, laterThan(committed)],
  ranges,
})
const rollback = (to: number, count: number): Hidden => ({ batches: { from: 0, to: count }, above: to })

test('what is removed was hidden before: an answer counts that came before that', () => {
  const before = seen(4, rollback(7, 2))
  assert.ok(isStill(before, before))
  // Another batch began, came to be there, or died.
  assert.ok(isStill(before, { ...seen(8, rollback(7, 2), { batches: { from: 5, to: 5 }, above: -1 }), ranges }))
  assert.ok(isStill(before, { ...seen(8), ranges: [{ from: 0, to: 12 }] }))
  assert.ok(!isStill(before, seen(4, rollback(7, 4))))
  assert.ok(!isStill(before, seen(4, { batches: { from: 0, to: 4 }, above: -1, below: 3 })))
  // It is shipped again.
  assert.ok(!isStill(before, { ...before, ranges: [{ from: 0, to: 4 }] }))
})

test('of what is still there nothing was removed: tried at random', () => {
  const random = createRandom(1)
  let [stills, others] = [0, 0]
  for (let round = 0; round < 2_000; round++) {
    const documents = Array.from({ length: 6 }, (_, block) => ({ block, batch: 1 + random(5) }))
    const clause = (): Hidden => ({
      ...{ batches: { from: random(2) * random(6), to: random(6) }, above: random(7) - 1 },
      ...(random(3) === 0 && { below: random(6) }),
    })
    const hidden = Array.from({ length: random(3) }, clause)
    const before = seen(5, ...hidden)
    const later = seen(5 + random(2), ...hidden.slice(random(2)), ...Array.from({ length: random(2) }, clause))
    const isShown = ({ hidden }: Visible, { block, batch }: (typeof documents)[number]) =>
      !hidden.some(({ batches, above, below = 99 }) => holds([batches], batch) && block > above && block <= below)
    const isStillThere = isStill(before, later)
    if (isStillThere) stills++
    else others++
    // A sweep removes what later clauses hide.
    if (isStillThere)
      for (const one of documents) if (isShown(before, one)) assert.ok(isShown({ ...later, hidden: later.hidden }, one))
  }
  assert.ok(stills > 200 && others > 200)
})

test('a search is asked again where what it saw was left meanwhile', async () => {
  const told = [seen(4, rollback(7, 4)), seen(6, rollback(7, 4))]
  const asked: Visible[] = []
  const settle = createConsistentRead({ visible: () => seen(4), told: async () => told.shift() })
  const answer = await settle(async now => {
    asked.push(now)
    return asked.length
  }, options)
  assert.equal(answer, 2)
  assert.deepEqual(asked, [seen(4), seen(4, rollback(7, 4))])
  // Who writes knows all without asking.
  let now = seen(4)
  const own = createConsistentRead({ visible: () => now, told: async () => undefined })
  const rounds: number[] = []
  await own(async () => {
    rounds.push(1)
    if (rounds.length === 1) now = seen(4, rollback(3, 4))
  }, options)
  assert.equal(rounds.length, 2)
})

test('who does not answer in time is not waited for', async () => {
  const settle = createConsistentRead({ visible: () => seen(1), told: () => new Promise(() => {}) })
  const asked = settle(async () => 1, { deadline: performance.now() + 20 })
  await assert.rejects(asked, { code: 'search_timeout_exception' })
})

test('who follows goes by what the cluster tells, and asks once for many', async () => {
  const memory = createDocumentCluster()
  const asked: string[] = []
  const cluster = {
    ...memory,
    ask(request: Parameters<typeof memory.ask>[0]) {
      asked.push(request.path)
      return memory.ask(request)
    },
  }
  const naming = { prefix: 'p' }
  let isFollowing = true
  const told = createPublishedVisibility({ cluster, naming, network: 'a/b/c', isFollowing: () => isFollowing })
  assert.equal(await told(), undefined)
  const state = { term: 1, sequence: 1, committed: 4, hidden: [rollback(3, 4)], ranges, blocks: [] }
  const path = `/${stateIndexOf(naming, 'a/b/c')}/_doc/shelf`
  await memory.ask({ method: 'PUT', path, body: { value: JSON.stringify(state) } })
  asked.length = 0
  assert.deepEqual(await Promise.all([told(), told(), told()]), Array(3).fill(seen(4, rollback(3, 4))))
  assert.deepEqual(asked, [path])
  isFollowing = false
  assert.equal(await told(), undefined)
})

test('a long answer shows nothing of batches that were under way when it began', async () => {
  const underWay: Hidden = { batches: { from: 5, to: 5 }, above: -1 }
  const moments = [seen(6, underWay), seen(6, underWay), seen(8), seen(9, rollback(2, 9))]
  const visible = () => (moments.length > 1 ? moments.shift()! : moments[0]!)
  const shown: Visible['hidden'][] = []
  const meta = '{"kind":1,"batch":1,"block":1,"position":1}'
  const [scanned] = scanList(Buffer.from(`[{"_id":"1","_score":null,"_source":{"chainsieve":${meta}},"sort":[1]}]`))
  const asker: QueryClient = {
    async page(_request, _options, { hidden }, { size = 0 } = {}) {
      shown.push(hidden)
      const hits = shown.length < 3 ? Array.from({ length: size }, () => new ClusterHit(scanned!, 1)) : []
      return { total: 10_500, hits, sort: [], aggregations: undefined, uniform: 1 }
    },
    send: async () => '{"pit_id":"x"}',
    target: () => 't',
  }
  const settle = createConsistentRead({ visible })
  const parts = [{ kind: 'tx' as const, query: ALL_NODE }]
  const request = { parts, sort: [], from: 0, size: -1, source: true, trackTotal: true }
  const pages = await openPages(request, { asker, options: () => options, visible, settle })
  for (let isLast = false; !isLast; ) {
    await pages.ready()
    isLast = pages.take() === undefined
  }
  assert.equal(shown.length, 3)
  for (const hidden of shown) assert.ok(hidden.some(({ batches }) => batches.to === 5))
  assert.ok(shown.at(-1)!.some(({ above }) => above === 2))
})
