import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { createStalledNodes } from '../../src/cluster/connection/stalled-nodes.ts'

const TIMES = { silenceMs: 20, patienceMs: 200, lookMs: 10 }
const PROBE = '/_nodes/_local/none'

interface FakeNode {
  url: string
  asked: string[]
  /** Takes requests, and answers none. */
  isStill: boolean
  answer: RequestListener
}

const startNode = async (t: TestContext, id: string): Promise<FakeNode> => {
  const node: FakeNode = {
    ...{ url: '', asked: [], isStill: false },
    answer: (_, response) => response.end(JSON.stringify({ from: id })),
  }
  const server = createServer((request, response) => {
    request.resume()
    if (node.isStill) return
    if (request.url === PROBE) {
      response.end(JSON.stringify({ _nodes: { total: 1 }, nodes: { [id]: {} } }))
      return
    }
    if (request.method !== 'HEAD') node.asked.push(request.url!)
    node.answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return node
}

const open = (t: TestContext, nodes: readonly FakeNode[]) => {
  const cluster = connect({ ...DEFAULT_CLUSTER, urls: nodes.map(({ url }) => url) }, TIMES)
  t.after(() => cluster.close())
  return cluster
}
const three = (t: TestContext) => Promise.all(['a', 'b', 'c'].map(id => startNode(t, id)))
const fromOf = ({ text }: { text: string }): string => (JSON.parse(text) as { from: string }).from
const search = { method: 'POST', path: '/x/_search', body: {} } as const

test('what a node that stands still was asked is asked of another one, and no more of it goes there', async t => {
  const nodes = await three(t)
  const cluster = open(t, nodes)
  nodes[0]!.isStill = true
  const begun = performance.now()
  const answers = await Promise.all(Array.from({ length: 9 }, () => cluster.ask(search)))
  assert.ok(performance.now() - begun < 5_000)
  assert.deepEqual([...new Set(answers.map(fromOf))].sort(), ['b', 'c'])
  assert.equal(nodes[0]!.asked.length, 0)
})

test('what is asked of one node alone fails, and what others write stays where it is', async t => {
  const nodes = await three(t)
  const cluster = open(t, nodes)
  nodes[0]!.isStill = true
  const bulk = () => cluster.ask({ method: 'POST', path: '/_bulk', lines: '\n', retries: 0 })
  const ends = await Promise.allSettled([bulk(), bulk(), bulk()])
  const reasons = ends.flatMap(end => (end.status === 'rejected' ? [end.reason as Error & { code: string }] : []))
  assert.deepEqual(
    reasons.map(({ code, message }) => [code, message.slice(message.indexOf('does not answer'))]),
    [['cluster_unreachable', 'does not answer: a node of the cluster hangs']],
  )
})

test('searches then go by copies of the other nodes, until it goes on', async t => {
  const nodes = await three(t)
  const cluster = open(t, nodes)
  const [, b, c] = nodes as [FakeNode, FakeNode, FakeNode]
  // As nodes do that wait for what the other one has.
  const restore = [b, c].map(node => {
    const { answer } = node
    node.answer = (request, response) => request.url!.includes('preference') && answer(request, response)
    return () => {
      node.answer = answer
    }
  })
  nodes[0]!.isStill = true
  const asked = [cluster.ask(search), cluster.ask(search), cluster.ask(search)]
  for (const { status } of await Promise.all(asked)) assert.equal(status, 200)
  const last = b.asked.concat(c.asked).filter(url => url.startsWith('/x/_search?'))
  assert.equal(last.length, 3)
  assert.deepEqual([...new Set(last)], ['/x/_search?preference=_prefer_nodes%3Ab%2Cc'])
  for (const one of restore) one()
  nodes[0]!.isStill = false
  const end = performance.now() + 120_000
  for (;;) {
    b.asked.length = 0
    c.asked.length = 0
    await Promise.all([cluster.ask(search), cluster.ask(search), cluster.ask(search)])
    if ([...b.asked, ...c.asked].every(url => url === '/x/_search')) break
    assert.ok(performance.now() < end, 'it is left out for good')
    await new Promise(resolve => setTimeout(resolve, 10))
  }
})

test('a slow query stays where it is, and so does what no other node would answer', async t => {
  const nodes = await three(t)
  const cluster = open(t, nodes)
  for (const node of nodes) {
    const { answer } = node
    node.answer = (request, response) => setTimeout(() => answer(request, response), 150)
  }
  assert.equal((await cluster.ask(search)).status, 200)
  assert.equal(nodes.flatMap(({ asked }) => asked).length, 1)

  const only = await startNode(t, 'd')
  const alone = open(t, [only])
  only.isStill = true
  const bulk = { method: 'POST', path: '/_bulk', lines: '\n', timeoutMs: 600, retries: 0 } as const
  await assert.rejects(alone.ask(bulk), /does not answer: Request timed out/)
})

test('where no node answers, searches fail and writes wait, until one answers a probe', async t => {
  const nodes = await three(t)
  const cluster = open(t, nodes)
  for (const node of nodes) node.isStill = true
  const silent = {
    code: 'cluster_unreachable',
    message: /does not answer: no node answers \(Request timed out\)$/,
  }
  const writing = new AbortController()
  let isWaiting = true
  const bulk = cluster.ask({ method: 'POST', path: '/_bulk', lines: '\n', signal: writing.signal }).finally(() => {
    isWaiting = false
  })
  bulk.catch(() => {})
  const asked = [search, { method: 'POST', path: '/_search', body: {} }, { method: 'GET', path: '/x/_doc/1' }] as const
  await Promise.all(asked.map(one => assert.rejects(cluster.ask(one), silent)))
  // Nothing of it is sent.
  await assert.rejects(cluster.ask(search), silent)
  assert.deepEqual([isWaiting, nodes.flatMap(node => node.asked)], [true, []])
  nodes[1]!.isStill = false
  const end = performance.now() + 120_000
  for (;;) {
    const answer = await cluster.ask(search).catch(() => undefined)
    if (answer) {
      assert.equal(fromOf(answer), 'b')
      break
    }
    assert.ok(performance.now() < end, 'it is left out for good')
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  writing.abort()
  await bulk.catch(() => {})
})

test('nodes that miss probes and answer anything else are no silent cluster', async t => {
  const nodes = [{ id: 'a' }, { id: 'b' }]
  const failed: string[] = []
  let probes = 0
  const hung = createStalledNodes<{ id: string }>({
    nodes: () => nodes,
    async probe({ id }) {
      // One answers something until the sixth look.
      if (id === 'a' && ++probes <= 6) answer()
      throw new Error(`${id} says no`)
    },
    onHung: ({ id }) => assert.fail(`${id} is left out`),
    times: TIMES,
  })
  t.after(() => hung.close())
  const answer = () => hung.sent({ node: nodes[0]!, isRead: true, move() {} })(true)
  hung.sent({ node: nodes[1]!, isRead: false, move() {} })
  hung.sent({ node: nodes[1]!, isRead: true, move() {}, fail: ({ message }) => failed.push(message) })
  for (let i = 0; failed.length === 0; i++) {
    assert.ok(i < 1_000, 'it is never silent')
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  assert.deepEqual([failed[0], probes], ['no node answers (a says no; b says no)', 9])
  assert.equal(hung.silence()?.message, failed[0])
  answer()
  assert.equal(hung.silence(), undefined)
})

test('what is asked while the nodes are probed is moved as well', async t => {
  const [a, b] = [{ id: 'a' }, { id: 'b' }]
  const moved: string[] = []
  const found = Promise.withResolvers<void>()
  const hung = createStalledNodes<{ id: string }>({
    nodes: () => [a, b],
    async probe({ id }) {
      if (id === 'b') return id
      // The last moment before it is known.
      send(b, 'late')
      throw new Error('no answer')
    },
    onHung: () => found.resolve(),
    times: TIMES,
  })
  t.after(() => hung.close())
  const waiting = new Map<string, (isAnswered: boolean) => void>()
  const send = (node: typeof a, name: string) => {
    if (waiting.has(name) || moved.includes(name)) return
    const isRead = name !== 'bulk'
    const move = () => {
      waiting.get(name)!(false)
      waiting.delete(name)
      moved.push(name)
    }
    waiting.set(name, hung.sent({ node, isRead, move }))
  }
  send(a, 'early')
  send(b, 'bulk')
  await found.promise
  for (let i = 0; moved.length < 2; i++) {
    assert.ok(i < 1_000, `only ${moved} is moved`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  assert.deepEqual([moved, [...waiting.keys()]], [['early', 'late'], ['bulk']])
  assert.deepEqual(hung.preferred(), ['b'])
})

test('a node that answers other requests does not stand still, however late it answers probes', async t => {
  const nodes = [{ id: 'a' }, { id: 'b' }]
  let probes = 0
  const hung = createStalledNodes<{ id: string }>({
    nodes: () => nodes,
    async probe({ id }) {
      if (id === 'b') return id
      probes++
      hung.sent({ node: nodes[0]!, isRead: true, move: () => assert.fail('it is moved') })(probes < 5)
      throw new Error('no answer')
    },
    onHung: () => hungAt.push(probes),
    times: TIMES,
  })
  t.after(() => hung.close())
  const hungAt: number[] = []
  hung.sent({ node: nodes[1]!, isRead: false, move: () => assert.fail('it is moved') })
  for (let i = 0; hungAt.length === 0; i++) {
    assert.ok(i < 1_000, 'it never counts as hung')
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  assert.deepEqual(hungAt, [6])
})

test('what was asked of as many nodes as it may waits for the last one', async t => {
  const nodes = await three(t)
  const cluster = open(t, nodes)
  let asked = 0
  for (const node of nodes) {
    const { answer } = node
    node.answer = (request, response) => {
      node.isStill = true
      if (++asked === 2) setTimeout(() => answer(request, response), 800)
    }
  }
  assert.equal((await cluster.ask({ ...search, retries: 1 })).status, 200)
  assert.equal(asked, 2)
})
