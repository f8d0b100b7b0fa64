import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type Bulk, type BulkOptions, createBulk } from '../../src/cluster/bulk/bulk.ts'
import { createBulkPace } from '../../src/cluster/bulk/pace.ts'
import { type Cluster, connect, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { type BadClusterOptions, MOODS, startBadCluster } from '../support/bad-cluster.ts'
import { random as numbers } from '../support/scoped.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

const QUICK = { baseMs: 2, capMs: 10 }

const open = async (t: TestContext, bad: BadClusterOptions, options: BulkOptions = {}) => {
  const server = await startBadCluster(bad)
  const cluster = connect({ ...DEFAULT_CLUSTER, urls: [server.url] })
  t.after(async () => {
    await server.close()
    await cluster.close()
  })
  return { server, bulk: createBulk(cluster, { ...QUICK, ...options }) }
}
const fill = async (bulk: Bulk, count: number, bytes = 100, from = 0) => {
  for (let i = from; i < from + count; i++)
    await bulk.put({ index: 'a', id: `${i}`, version: 1, source: JSON.stringify({ i, text: 'x'.repeat(bytes) }) })
}

/** A cluster that answers each request when it is told to, each document with what is given for it, and else 200. */
const held = () => {
  const asked: { lines: string; answer(...first: number[]): void }[] = []
  /** Bytes of all requests. */
  const sizes: number[] = []
  const ask: Cluster['ask'] = ({ lines }) =>
    new Promise(resolve => {
      sizes.push(Buffer.byteLength(`${lines}`))
      const items = Array.from({ length: `${lines}`.split('\n').length >> 1 })
      const answer = (...first: number[]) => {
        const told = items.map((_, i) => ({ index: { status: first[i] ?? 200 } }))
        resolve({ status: 200, text: JSON.stringify({ items: told }) })
      }
      asked.push({ lines: `${lines}`, answer })
    })
  return { asked, sizes, ask }
}

test('whatever a cluster does to requests, nothing is lost once it was flushed, and the newest version stays', async t => {
  await Promise.all(
    Array.from({ length: 8 }, async (_, seed) => {
      const random = numbers(seed + 1)
      const mood = () => (random(2) === 0 ? 'takes' : MOODS[random(MOODS.length)]!)
      const { server, bulk } = await open(
        t,
        { mood, refusesItem: () => random(2) === 0, mostBytes: 6_000 },
        { startBytes: 4_000, mostBytes: 10_000, gzip: seed % 3 === 0, lanes: 1 + (seed % 4), timeoutMs: 40 },
      )
      const model = new Map<string, { version: number; source: string }>()
      const flushes: Promise<void>[] = []
      for (let batch = 1; batch <= 5; batch++) {
        for (let i = 0; i < 60; i++) {
          const [index, id] = [`i${random(3)}`, `${random(200)}`]
          const source = JSON.stringify({ batch, i, ü: 'é'.repeat(random(80)) })
          const version = batch * 100 + i
          model.set(`${index}/${id}`, { version, source })
          await bulk.put({ index, id, version, source: random(2) === 0 ? Buffer.from(source) : source })
        }
        const asked = new Map(model)
        flushes.push(
          bulk.flush().then(() => {
            for (const [key, { version }] of asked)
              assert.ok((server.documents.get(key)?.version ?? 0) >= version, `${key} of seed ${seed} is there`)
          }),
        )
        if (random(2) === 0) await Promise.all(flushes)
      }
      await Promise.all(flushes)
      assert.deepEqual(new Map([...server.documents].sort()), new Map([...model].sort()), `seed ${seed}`)
      assert.equal(bulk.report().documents, 300)
      assert.equal(bulk.report().underWay, 0)
    }),
  )
})

test('several requests are under way at once, of the size that is asked for, and what is put waits for them', async () => {
  const { asked, sizes, ask } = held()
  const bulk = createBulk({ ask }, { ...QUICK, startBytes: 20_000, lanes: 3, clock: createVirtualClock() })
  const source = JSON.stringify({ text: 'x'.repeat(400) })
  let waited = 0
  for (let i = 0; i < 2_000; i++) {
    const room = bulk.put({ index: 'a', id: `${i}`, version: 1, source })
    if (room === undefined) continue
    waited++
    assert.equal(bulk.report().underWay, 3)
    for (const { answer } of asked.splice(0)) answer()
    await room
  }
  const flushed = bulk.flush()
  let isDone = false
  void flushed.then(() => {
    isDone = true
  })
  for (; !isDone; await turn()) for (const { answer } of asked.splice(0)) answer()
  assert.deepEqual([bulk.report().documents, bulk.report().repeated], [2_000, 0])
  assert.ok(waited > 3, `${waited}`)
  const [first = 0] = sizes
  assert.ok(first <= 20_000 && first > 19_000, `${sizes}`)
})

test('a cluster that takes smaller requests gets smaller ones, and one document that it never takes is named', async t => {
  const { server, bulk } = await open(t, { mood: () => 'takes', mostBytes: 5_000 }, { startBytes: 40_000 })
  await fill(bulk, 500)
  await bulk.flush()
  assert.equal(server.documents.size, 500)
  assert.ok(server.sizes.filter(bytes => bytes > 5_000).length < 12, `${server.sizes}`)
  await fill(bulk, 1, 6_000, 500)
  await assert.rejects(bulk.flush(), {
    next: 'stop',
    code: 'cluster_refuses_document',
    message: /takes no request of \d+ bytes, which 500 of a needs: raise http.max_content_length/,
  })
})

test('a document that the cluster refuses for good stops with its name and the reason', async t => {
  const error = {
    type: 'mapper_parsing_exception',
    reason: 'failed to parse field [value]',
    caused_by: { reason: 'For input string: "x"' },
  }
  const { bulk } = await open(t, {
    mood: () => 'takes',
    fault: id => (id === '7' ? { status: 400, error } : undefined),
  })
  await fill(bulk, 10)
  const stopped = {
    next: 'stop',
    code: 'cluster_refuses_document',
    message:
      'the cluster refuses 7 of a (400): mapper_parsing_exception: failed to parse field [value]: For input string: "x"',
  }
  await assert.rejects(bulk.flush(), stopped)
  await assert.rejects(async () => bulk.put({ index: 'a', id: '11', version: 1, source: '{}' }), stopped)
  await assert.rejects(bulk.flush(), stopped)
})

test('an index that somebody removed is told, and its documents wait until it is there again', async t => {
  const error = { type: 'index_not_found_exception', reason: 'no such index [a]' }
  const told: (string | null)[] = []
  let missing = true
  const onTrouble = (why: string | null) => {
    told.push(why)
    missing = false
  }
  const { server, bulk } = await open(
    t,
    { mood: () => 'takes', fault: () => (missing ? { status: 404, error } : undefined) },
    { onTrouble },
  )
  await fill(bulk, 1)
  await bulk.flush()
  assert.deepEqual(told, [
    'it has lost an index, which is created again at the next start (index_not_found_exception: no such index [a])',
    null,
  ])
  assert.equal(server.documents.size, 1)
})

test('trouble is told once as it lasts, and its end; short trouble is not', async t => {
  let bad = 0
  const told: (string | null)[] = []
  const { server, bulk } = await open(
    t,
    { mood: () => (bad-- > 0 ? 'refuses' : 'takes') },
    { onTrouble: why => told.push(why), random: () => 0.5 },
  )
  bad = 2
  await fill(bulk, 3)
  await bulk.flush()
  assert.deepEqual(told, [])
  bad = 8
  await fill(bulk, 3, 100, 3)
  await bulk.flush()
  assert.deepEqual(told, ['it answers 429: circuit_breaking_exception: too large', null])
  assert.equal(server.documents.size, 6)
})

test('a cluster that is away is waited for, and an end is taken at once', async t => {
  const { server } = await open(t, { mood: () => 'takes' })
  await server.close()
  const told: (string | null)[] = []
  const ended = new AbortController()
  const bulk = createBulk(connect({ ...DEFAULT_CLUSTER, urls: [server.url] }), {
    ...{ ...QUICK, signal: ended.signal },
    onTrouble: why => {
      told.push(why)
      ended.abort(new Error('the end'))
    },
  })
  await fill(bulk, 1)
  await assert.rejects(bulk.flush(), /the end/)
  assert.match(told[0]!, /^the cluster http:\/\/127.0.0.1:\d+ does not answer: connect ECONNREFUSED/)
  await assert.rejects(async () => bulk.put({ index: 'a', id: '1', version: 1, source: '{}' }), /the end/)
})

test('a flush of nothing is done, and one waits only for what was put before', async t => {
  let isOpen = false
  const { bulk } = await open(t, { mood: () => 'takes' }, { startBytes: 100_000 })
  await bulk.flush()
  await fill(bulk, 5)
  const first = bulk.flush().then(() => {
    isOpen = true
  })
  await fill(bulk, 5, 100, 5)
  await first
  assert.ok(isOpen)
  await turn()
  assert.equal(bulk.report().documents, 5)
})

test('what comes back goes again at once, also where it stands before what is waited for', async () => {
  const { asked, ask } = held()
  const clock = createVirtualClock()
  const bulk = createBulk({ ask }, { ...QUICK, startBytes: 1_000, lanes: 2, clock })
  await fill(bulk, 1)
  const flushed = bulk.flush()
  for (let i = 1; asked.length < 2; i++) await fill(bulk, 1, 100, i)
  asked[0]!.answer(429)
  asked[1]!.answer(429)
  await clock.run(QUICK.capMs)
  assert.equal(asked.length, 3)
  assert.match(asked[2]!.lines, /"_id":"1"[\s\S]*"_id":"0"/)
  asked[2]!.answer()
  await flushed
})

test('requests grow while that makes them faster, and shrink when they take long', () => {
  const pace = createBulkPace({ lanes: 4, startBytes: 1e6, mostBytes: 8e6, baseMs: 10, capMs: 100, random: () => 1 })
  for (let i = 0; i < 50; i++) pace.taken(pace.size(), 50 + pace.size() / 1e5)
  assert.ok(pace.size() > 4e6, `${pace.size()}`)
  const before = pace.size()
  pace.taken(before, 5_000)
  assert.equal(pace.size(), Math.floor(before / 2))
  assert.deepEqual([pace.refused(), pace.refused(), pace.refused()], [10, 20, 40])
  assert.deepEqual([pace.lanes(), pace.failures()], [1, 3])
  for (let i = 0; i < 30; i++) pace.taken(10, 1)
  assert.deepEqual([pace.lanes(), pace.failures()], [4, 0])
})

test('what was learnt of a slow cluster holds when sending begins again, also of requests that had no answer', async () => {
  const pace = createBulkPace({ startBytes: 1e6 })
  const sizes: number[] = []
  for (let i = 0; i < 3; i++) {
    const { signal, abort } = closer()
    const bulk = createBulk({ ask: never }, { signal, pace })
    await fill(bulk, 1)
    const flushed = bulk.flush()
    abort()
    await assert.rejects(flushed, /closing/)
    await turn()
    sizes.push(pace.size())
  }
  assert.deepEqual(sizes, [500_000, 250_000, 125_000])
})

const closer = () => {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(new Error('closing')) }
}
/** Answers nothing until it is given up. */
const never: Cluster['ask'] = ({ signal }) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
