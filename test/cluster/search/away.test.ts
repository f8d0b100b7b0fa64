import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import { connect, DEFAULT_CLUSTER } from '../../../src/cluster/connection/cluster.ts'
import { unavailable } from '../../../src/cluster/connection/faults.ts'
import { createClusterStores } from '../../../src/cluster/stores.ts'
import { createBlocks } from '../../../src/engine/blocks.ts'
import { createShippingState } from '../../../src/engine/shipping/shipping-state.ts'
import { renderError } from '../../../src/http/errors.ts'
import { ChainsieveError } from '../../../src/lib/errors.ts'
import { silent } from '../../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import { createPool } from '../../../src/search/pool.ts'
import { scenarioStore } from '../../support/cluster-fill.ts'
import { NETWORK, never } from './support.ts'

const store = scenarioStore()
after(() => store.close())
const HELD = createBlocks(store.db).ranges()
// They lie in a cluster, as far as the store knows.
const shelf = createShippingState(store.db)
for (const range of HELD) shelf.commit(shelf.begin(range), range, 0)

/** A network whose cluster is at this address. */
const poolOf = (t: TestContext, url: string, deadlineMs = 5_000) => {
  const cluster = connect({ ...DEFAULT_CLUSTER, urls: [url] })
  const visible = { hidden: [], ranges: HELD }
  const place = { cluster, naming: DEFAULT_CLUSTER, shelf: () => () => visible }
  const pool = createPool({
    ...{ stores: () => new Map([[NETWORK, store.path]]), threads: 1, deadlineMs, limits: DEFAULT_LIMITS },
    elsewhere: createClusterStores(() => place),
  })
  t.after(async () => {
    await pool.close()
    await cluster.close()
  })
  const ask = (body: object, signal = never) =>
    pool.search({ network: NETWORK, entities: 'tx', account: 1, signal, body: Buffer.from(JSON.stringify(body)) })
  return { pool, ask }
}

/** A stand-in for a cluster that answers each request in one way. */
const answering = async (t: TestContext, answer: (response: ServerResponse) => void): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume()
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const replying = (t: TestContext, status: number, body: object) =>
  answering(t, response => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)))

const faultOf = async (asked: Promise<unknown>): Promise<Pick<ChainsieveError, 'code' | 'message' | 'next'>> => {
  const error = await asked.then(
    () => assert.fail('it was answered'),
    (error: unknown) => error,
  )
  if (!(error instanceof ChainsieveError)) throw error
  const { code, message, next } = error
  return { code, message, next }
}

test('a cluster that does not answer is told of, whatever is asked', async t => {
  const { pool, ask } = poolOf(t, 'http://127.0.0.1:1')
  const by = { network: NETWORK, account: 1, signal: never }
  for (const asked of [
    () => ask({}),
    () => ask({ size: -1 }),
    () => pool.get({ ...by, entity: 'tx', id: '0xab' }),
    () => pool.documents({ ...by, wanted: [{ kind: 'tx', id: '0xab', source: true }] }),
    () => pool.holdings(by),
  ]) {
    const { code, message } = await faultOf(asked())
    assert.equal(code, 'cluster_unavailable')
    assert.match(message, /127\.0\.0\.1:1\b.*ECONNREFUSED/)
  }
  // What the store knows of its blocks is told all the same.
  assert.deepEqual(await pool.ranges(NETWORK), HELD)
})

test('over HTTP that is 503, to be asked again', () => {
  const response = renderError(silent)(unavailable('it is red.'), undefined as never)
  assert.equal(response.status, 503)
  assert.equal(response.headers.get('retry-after'), '5')
})

const errorOf = (type: string, reason: string) => ({ error: { root_cause: [{ type, reason }], type, reason } })

for (const [status, body, code, message] of [
  [
    429,
    errorOf('rejected_execution_exception', 'queue is full'),
    'cluster_unavailable',
    /too much to do \(queue is full\)/,
  ],
  [
    429,
    errorOf('circuit_breaking_exception', 'Data too large'),
    'cluster_unavailable',
    /short of memory \(Data too large\)/,
  ],
  [503, errorOf('search_phase_execution_exception', 'all shards failed'), 'cluster_unavailable', /all shards failed/],
  [404, errorOf('index_not_found_exception', 'no such index [x]'), 'cluster_unavailable', /no such index \[x\]/],
  [401, errorOf('security_exception', 'no'), 'cluster_unavailable', /refuses the user/],
  [502, { a: 'proxy' }, 'cluster_unavailable', /proxy/],
  [400, errorOf('too_many_clauses', 'maxClauseCount is set to 1024'), 'illegal_argument_exception', /too many clauses/],
  [400, errorOf('x', 'y'), 'illegal_argument_exception', /The cluster refuses this query: y/],
  [
    200,
    { took: 1, timed_out: true, _shards: { total: 1, failed: 0 }, hits: {} },
    'search_timeout_exception',
    /deadline/,
  ],
  [
    200,
    { took: 1, timed_out: false, _shards: { total: 2, failed: 1 }, hits: {} },
    'cluster_unavailable',
    /parts of its indices/,
  ],
] as const)
  test(`${status} ${JSON.stringify(body).slice(0, 60)}`, async t => {
    const { ask } = poolOf(t, await replying(t, status, body))
    const fault = await faultOf(ask({}))
    assert.equal(fault.code, code)
    assert.match(fault.message, message)
  })

test('a cluster that hangs is given up at the deadline', async t => {
  const { ask } = poolOf(t, await answering(t, () => {}), 100)
  assert.equal((await faultOf(ask({}))).code, 'search_timeout_exception')
})

test('where the client goes away the cluster is no longer asked', async t => {
  let gone: () => void
  const closed = new Promise<void>(resolve => {
    gone = resolve
  })
  const asked = Promise.withResolvers<void>()
  const url = await answering(t, response => {
    response.on('close', () => gone())
    asked.resolve()
  })
  const { ask } = poolOf(t, url)
  const client = new AbortController()
  const answer = ask({}, client.signal)
  await asked.promise
  client.abort()
  await assert.rejects(answer, { name: 'AbortError' })
  await closed
})

/** Two networks, of which one lies in a cluster at this address. */
const severalOf = (t: TestContext, url: string, deadlineMs: number) => {
  const cluster = connect({ ...DEFAULT_CLUSTER, urls: [url] })
  const place = { cluster, naming: DEFAULT_CLUSTER, shelf: () => () => ({ hidden: [], ranges: [] }) }
  const networks = ['made/up/near', 'made/up/away']
  const pool = createPool({
    ...{
      stores: () => new Map(networks.map(one => [one, store.path])),
      threads: 1,
      deadlineMs,
      limits: DEFAULT_LIMITS,
    },
    elsewhere: createClusterStores(network => (network === networks[1] ? place : undefined)),
  })
  t.after(async () => {
    await pool.close()
    await cluster.close()
  })
  return (network: string, body: object, signal = never) =>
    pool.search({ network, entities: 'tx', account: 1, signal, body: Buffer.from(JSON.stringify(body)) })
}
const SEVERAL = 'made/up/near,made/up/away'

test('of several networks one whose cluster does not answer is told of, and others are searched', async t => {
  const ask = severalOf(t, 'http://127.0.0.1:1', 5_000)
  for (const body of [{}, { size: -1 }]) {
    const { code, message } = await faultOf(ask(SEVERAL, body))
    assert.equal(code, 'cluster_unavailable')
    assert.match(message, /ECONNREFUSED/)
  }
  assert.equal((await ask('made/up/near', {})).status, 200)
})

test('of several networks a cluster that hangs is given up at the deadline, or where the client goes away', async t => {
  const asked = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const url = await answering(t, response => {
    response.on('close', () => closed.resolve())
    asked.resolve()
  })
  const ask = severalOf(t, url, 300)
  const client = new AbortController()
  const answer = ask(SEVERAL, {}, client.signal)
  await asked.promise
  client.abort()
  await assert.rejects(answer, { name: 'AbortError' })
  await closed.promise
  assert.equal((await faultOf(ask(SEVERAL, {}))).code, 'search_timeout_exception')
  // The thread is there again.
  assert.equal((await ask('made/up/near', { size: 3, sort: 'gasUsed.num' })).status, 200)
})
