import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { answersIn, type BundlingOptions, bundling } from '../../src/cluster/bundled.ts'
import type { ClusterAnswer, ClusterRequest } from '../../src/cluster/cluster.ts'

interface Asked {
  request: ClusterRequest
  answer(answer?: ClusterAnswer): void
  fail(error: Error): void
}

const SHARDS = '"_shards":{"total":1,"successful":1,"skipped":0,"failed":0}'
const found = (name: string, took = 1) => `{"took":${took},"timed_out":false,${SHARDS},"hits":{"hits":["${name}"]}`
const fault = (name: string) => `{"error":{"type":"t","reason":"${name}"}`
const nameIn = (body: unknown) => (JSON.parse(body as string) as { name: string }).name

/** A cluster that answers when it is told to. Searches for what is called `wrong…` fail. */
const fake = (options: BundlingOptions = {}) => {
  const asked: Asked[] = []
  const there = { took: 1 }
  const one = (body: unknown): [status: number, text: string] => {
    const name = nameIn(body)
    return name.startsWith('wrong') ? [400, fault(name)] : [200, found(name, there.took)]
  }
  const answerOf = ({ body, searches }: ClusterRequest): ClusterAnswer => {
    const all = searches?.map(search => one(search.body)).map(([status, text]) => `${text},"status":${status}}`)
    if (all) return { status: 200, text: '', bytes: Buffer.from(`{"took":3,"responses":[${all}]}`) }
    const [status, text] = one(body)
    return status < 300 ? { status, text: '', bytes: Buffer.from(`${text}}`) } : { status, text: `${text}}` }
  }
  const cluster = bundling(
    {
      ask: request =>
        new Promise((resolve, reject) => {
          request.signal?.addEventListener('abort', () => reject(request.signal!.reason))
          asked.push({ request, answer: (answer = answerOf(request)) => resolve(answer), fail: reject })
        }),
      close: async () => {},
    },
    { atOnce: 1, waitMs: 60_000, ...options },
  )
  const search = async (name: string, more: Partial<ClusterRequest> = {}): Promise<string> => {
    const { status, text, bytes } = await cluster.ask({
      ...{ method: 'POST', path: '/logs/_search', query: { part: false }, raw: true },
      ...{ body: JSON.stringify({ name }), ...more },
    })
    return `${status} ${bytes ?? text}`
  }
  /** What was asked in the exchange of this number. */
  const exchange = (at: number) => {
    const { path, body, searches } = asked[at]!.request
    return searches ? [path, ...searches.map(({ head, body }) => [head, nameIn(body)])] : [path, nameIn(body)]
  }
  return { cluster, asked, there, search, exchange }
}

/** One search is under way, and its like is known to be quick. */
const busy = async (options?: BundlingOptions) => {
  const it = fake(options)
  const first = it.search('first')
  it.asked[0]!.answer()
  await first
  const second = it.search('second')
  assert.deepEqual(it.exchange(1), ['/logs/_search', 'second'])
  return { ...it, second }
}

const HEAD = { index: 'logs', part: false }

test('searches that come while others are under way go together, and each has its own answer or fault', async () => {
  const { cluster, asked, search, exchange, second } = await busy()
  const all = [search('a'), search('wrong'), search('b')]
  assert.equal(asked.length, 2)
  asked[1]!.answer()
  assert.equal(await second, `200 ${found('second')}}`)
  await nextTurn()
  assert.deepEqual(exchange(2), ['/_msearch', [HEAD, 'a'], [HEAD, 'wrong'], [HEAD, 'b']])
  asked[2]!.answer()
  assert.deepEqual(await Promise.all(all), [
    `200 ${found('a')},"status":200}`,
    `400 ${fault('wrong')},"status":400}`,
    `200 ${found('b')},"status":200}`,
  ])
  assert.equal(asked.length, 3)
  await cluster.close()
})

test('one that waits alone is asked as it is', async () => {
  const { cluster, asked, search, exchange } = await busy()
  const one = search('a')
  asked[1]!.answer()
  await nextTurn()
  assert.deepEqual(exchange(2), ['/logs/_search', 'a'])
  asked[2]!.answer()
  assert.equal(await one, `200 ${found('a')}}`)
  await cluster.close()
})

test('none waits longer than it may, nor for more than go together', async () => {
  const { cluster, asked, search, exchange } = await busy({ waitMs: 1 })
  const some = [search('a'), search('b')]
  while (asked.length < 3) await nextTurn()
  assert.deepEqual(exchange(2), ['/_msearch', [HEAD, 'a'], [HEAD, 'b']])
  const more = await busy()
  const many = Array.from({ length: 17 }, (_, i) => more.search(`n${i}`))
  assert.equal(more.asked[2]!.request.searches?.length, 16)
  for (const one of [asked[2]!, more.asked[2]!, more.asked[1]!]) one.answer()
  await nextTurn()
  more.asked[3]!.answer()
  await Promise.all([...some, ...many])
  await cluster.close()
  await more.cluster.close()
})

test('what takes long, what nobody asked before and what is no plain search goes alone', async () => {
  const { cluster, asked, there, search, exchange, second } = await busy()
  void search('new', { path: '/txs/_search' })
  void search('patient', { timeoutMs: 1 })
  void search('page', { path: '/_search' })
  void search('x'.repeat(20_000))
  assert.equal(asked.length, 6)
  assert.deepEqual(exchange(2), ['/txs/_search', 'new'])
  there.took = 100
  asked[1]!.answer()
  await second
  void search('a')
  void search('b')
  assert.deepEqual(
    asked.slice(6).map((_, i) => exchange(6 + i)),
    [
      ['/logs/_search', 'a'],
      ['/logs/_search', 'b'],
    ],
  )
  await cluster.close()
})

test('one that is given up is not asked, or leaves the others alone; with the last one all are given up', async () => {
  const { cluster, asked, search, exchange } = await busy()
  const [early, late, last] = [new AbortController(), new AbortController(), new AbortController()]
  const gone = search('early', { signal: early.signal })
  const one = search('late', { signal: late.signal })
  const other = search('last', { signal: last.signal })
  early.abort(new Error('early'))
  await assert.rejects(gone, /early/)
  asked[1]!.answer()
  await nextTurn()
  assert.deepEqual(exchange(2), ['/_msearch', [HEAD, 'late'], [HEAD, 'last']])
  late.abort(new Error('late'))
  await assert.rejects(one, /late/)
  assert.equal(asked[2]!.request.signal!.aborted, false)
  last.abort(new Error('last'))
  await assert.rejects(other, /last/)
  assert.equal(asked[2]!.request.signal!.aborted, true)
  await cluster.close()
})

test('where one of several is gone, the other has its answer', async () => {
  const { cluster, asked, search } = await busy()
  const ending = new AbortController()
  const all = [search('a'), search('b', { signal: ending.signal })]
  asked[1]!.answer()
  await nextTurn()
  ending.abort(new Error('gone'))
  asked[2]!.answer()
  assert.equal(await all[0], `200 ${found('a')},"status":200}`)
  await assert.rejects(all[1]!, /gone/)
  await cluster.close()
})

test('where the cluster is away or has too much to do, all are told', async () => {
  const { cluster, asked, search, second } = await busy()
  const tired = [search('a'), search('b')]
  asked[1]!.answer()
  await second
  await nextTurn()
  const away = [search('c'), search('d')]
  asked[2]!.answer({ status: 429, text: 'too much' })
  assert.deepEqual(await Promise.all(tired), ['429 too much', '429 too much'])
  await nextTurn()
  asked[3]!.fail(new Error('away'))
  for (const one of await Promise.allSettled(away))
    assert.equal(one.status === 'rejected' && (one.reason as Error).message, 'away')
  assert.equal(asked.length, 4)
  await cluster.close()
})

test('where several are refused at once, each is asked alone, and so are those that follow', async () => {
  const { cluster, asked, search, exchange } = await busy()
  const all = [search('a'), search('b')]
  asked[1]!.answer()
  await nextTurn()
  asked[2]!.answer({ status: 403, text: 'no permissions for [indices:data/read/msearch]' })
  await nextTurn()
  assert.deepEqual(
    [exchange(3), exchange(4)],
    [
      ['/logs/_search', 'a'],
      ['/logs/_search', 'b'],
    ],
  )
  asked[3]!.answer()
  asked[4]!.answer()
  assert.deepEqual(await Promise.all(all), [`200 ${found('a')}}`, `200 ${found('b')}}`])
  for (const name of ['c', 'd', 'e']) void search(name)
  assert.equal(asked.length, 8)
  await cluster.close()
})

test('answers are told apart, whatever stands in documents', () => {
  const texts = ['{"a":[{"x":1,"status":200},{"took":1}],"status":200}', '{"b":",\\"status\\":200},{","status":200}']
  const of = (all: readonly string[]) => Buffer.from(`{"took":1,"responses":[${all}]}`)
  const told = (all: readonly string[]) => answersIn(of(all), all.length).map(({ bytes, text }) => `${bytes ?? text}`)
  assert.deepEqual(told(texts), texts)
  const plain = ['{"a":1,"status":200}', `${fault('é')},"status":429}`, '{"c":3,"status":200}']
  assert.deepEqual(told(plain), plain)
  assert.deepEqual(answersIn(of(plain), 3)[1], { status: 429, text: plain[1] })
  assert.throws(() => answersIn(of(plain), 2), /the cluster answered 3 searches of 2/)
  assert.throws(() => answersIn(Buffer.from('<html>'), 2), /is not an answer to searches: <html>/)
})
