import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateBlocks } from '../../scripts/bench/generate.ts'
import { version } from '../../src/lib/runtime.ts'
import { type NodeCall, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { after, chainsieve, pause, serve, start, succeed, tempFolder, until, untilIs, writePack } from './program.ts'

const NETWORK = 'ethereum/test/net'
const fault = (err: string) => err.split('\n').filter(line => line.startsWith('chainsieve: '))

test('one process writes, any number reads', async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const pack = writePack(join(folder, 'pack.ndjson'), makeChain({ blocks: 12 }))
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  const server = await serve(t, data)

  for (const args of [
    ['serve', '--port', '0'],
    ['import', '--network', NETWORK, pack],
    ['index', '--network', NETWORK, '--rpc', 'http://127.0.0.1:1'],
  ]) {
    const { code, out, err } = await chainsieve(t, args, { data })
    assert.deepEqual([code, out], [1, ''])
    assert.equal(fault(err).length, 1, err)
    const [line] = fault(err)
    assert.ok(
      line!.startsWith(
        `chainsieve: the data folder ${data} is in use by process ${server.pid} (chainsieve serve ${version}, since 2`,
      ),
      line,
    )
    assert.ok(line!.includes('): stop that process first, or choose another folder with --data'), line)
  }

  await until(
    () => existsSync(join(data, 'status.json')),
    published => published,
  )
  const [found, status, token] = await Promise.all([
    succeed(t, ['search', NETWORK, 'block', '{"size":0}'], { data }),
    succeed(t, ['status'], { data }),
    succeed(t, ['token', 'create', '--account', 'somebody'], { data }),
  ])
  assert.equal(JSON.parse(found).hits.total, 12)
  assert.match(
    status,
    /^The server is ready\.\n\nethereum\/test\/net\n {2}state +serving\n {2}blocks +0-11 \(12 blocks\)\n {2}holes +none\n {2}last +11 of \S+, .* ago\n$/,
  )

  // The token holds in the server at once, until it is revoked.
  assert.match(token, /^cs_[\w-]{43}\n$/)
  const ask = async () => {
    const headers = { authorization: `Bearer ${token.trim()}` }
    return (await fetch(`${server.url}/${NETWORK}/es/block/search/`, { headers })).status
  }
  assert.equal(await ask(), 200)
  const tokens = JSON.parse(await succeed(t, ['token', 'list', '--json'], { data })) as {
    id: number
    account: string
  }[]
  const { id } = tokens.find(({ account }) => account === 'somebody')!
  assert.equal(await succeed(t, ['token', 'revoke', String(id)], { data }), `Token ${id} is revoked.\n`)
  await until(ask, status => status === 401)

  // However the one ends, the next one may begin.
  server.signal('SIGKILL')
  await server.ended
  assert.equal(
    await succeed(t, ['import', '--network', NETWORK, pack], { data }).then(out => out.split('\n')[0]),
    `${NETWORK}: added 0 blocks with 0 logs and 0 events.`,
  )
})

test('the server stops at the first signal, and lets requests under way finish', async t => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const data = join(tempFolder(t), 'data')
    const node = await startNode({ after: fn => after(t, fn) }, makeChain({ blocks: 40 }))
    const server = await serve(t, data, ['--network', NETWORK, '--rpc', node.url])
    await untilIs(() => server.total(NETWORK, 'block'), 40, server.err)
    server.signal(signal)
    const { code, err } = await server.ended
    assert.equal(code, 0, err)
    assert.match(err, new RegExp(`Stopping signal=${signal}`))
    assert.doesNotMatch(err, /error/)
    assert.equal(JSON.parse(await succeed(t, ['search', NETWORK, 'block', '{"size":0}'], { data })).hits.total, 40)
  }
})

test('searches of one request are answered or refused, each of them, when the server stops', async t => {
  const server = await serve(t, join(tempFolder(t), 'data'), [])
  await until(
    () => server.total('ethereum/demo/local', 'block'),
    total => total > 400,
  )
  const body = JSON.stringify({ size: 100, query: { query_string: { query: '*a* OR *b*' } } })
  const searches = 100
  const lines = `{}\n${body}\n`.repeat(searches)
  const headers = { 'content-type': 'application/x-ndjson' }
  const response = await server.send('/ethereum/demo/local/es/event/_msearch', lines, { headers })
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body!) {
    if (chunks.length === 0) server.signal('SIGTERM')
    chunks.push(chunk as Uint8Array)
  }
  const { responses } = JSON.parse(Buffer.concat(chunks).toString()) as {
    responses: { status: number; hits?: { hits: unknown[] }; error?: { reason: string } }[]
  }
  assert.equal(responses.length, searches)
  for (const { status, hits, error } of responses)
    if (status === 200) assert.equal(hits!.hits.length, 100)
    else assert.match(`${status} ${error!.reason}`, /^429 The server stops/)
  assert.equal(responses[0]!.status, 200)
  assert.equal(responses.at(-1)!.status, 429)
  const { code, err } = await server.ended
  assert.equal(code, 0, err)
})

test('a back-fill that is stopped keeps what it has, says so with exit code 1, and goes on the next time', async t => {
  const folder = tempFolder(t)
  const chain = [...generateBlocks({ seed: 5, count: 120 })]
  const pack = writePack(join(folder, 'pack.ndjson'), chain)
  const node = await startNode({ after: fn => after(t, fn) }, chain)
  node.methods.set('eth_call', () => '0x')
  // Until it is stopped, blocks come as slowly as from a node far away.
  const slow = async (calls: readonly NodeCall[]) =>
    calls.some(({ method }) => method.startsWith('eth_getBlock')) ? void (await pause(100)) : undefined
  const from = Number(chain[0]!.block.number)
  const jobs = {
    import: ['import', '--network', NETWORK, '--store-batch', '4', pack],
    index: ['index', '--network', NETWORK, '--rpc', node.url, '--from', String(from), '--store-batch', '4'],
  }
  for (const [name, args] of Object.entries(jobs)) {
    const data = join(folder, name)
    const store = join(data, 'networks', 'ethereum~test~net.sqlite')
    node.trouble = slow
    const running = start(t, args, { data })
    await until(
      async () =>
        existsSync(store) &&
        JSON.parse(await succeed(t, ['search', NETWORK, 'block', '{"size":0}'], { data }).catch(() => '{}')).hits
          ?.total,
      total => total > 0,
      running.err,
    )
    running.signal('SIGINT')
    const { code, out, err } = await running.ended
    assert.equal(code, 1, `${out}${err}`)
    assert.match(err, /warn +Stopped before the end; the same command continues here/)
    const [, added] = /added (\d+) blocks/.exec(out)!
    assert.ok(Number(added) > 0 && Number(added) < 120, out)
    const total = async () =>
      JSON.parse(await succeed(t, ['search', NETWORK, 'block', '{"size":0}'], { data })).hits.total
    assert.equal(await total(), Number(added))
    node.trouble = () => undefined
    const { out: rest, code: done } = await chainsieve(t, args, { data })
    assert.equal(done, 0)
    assert.match(rest, new RegExp(`added ${120 - Number(added)} blocks`))
    assert.equal(await total(), 120)
  }
})

test('a second signal ends the program at once', async t => {
  const folder = tempFolder(t)
  const node = await startNode({ after: fn => after(t, fn) }, makeChain({ blocks: 4 }))
  // A client that never takes its answer keeps the server waiting for it.
  const data = join(folder, 'data')
  const server = await serve(t, data, ['--network', NETWORK, '--rpc', node.url])
  await untilIs(() => server.total(NETWORK, 'block'), 4)
  const stuck = new AbortController()
  const body = new ReadableStream({ start: controller => controller.enqueue(new TextEncoder().encode('{"query":')) })
  const headers = { authorization: `Bearer ${server.token}` }
  const options = { method: 'POST', headers, body, duplex: 'half', signal: stuck.signal }
  const never = fetch(`${server.url}/${NETWORK}/es/block/search/`, options as RequestInit).catch(() => {})
  await pause(200)
  server.signal('SIGTERM')
  await server.says(/Stopping/)
  await pause(100)
  server.signal('SIGTERM')
  const { code } = await server.ended
  // With what was waited for it would be 0.
  assert.equal(code, 143)
  stuck.abort()
  await never
})

test('the demo chain is served without anything being named, and completed where its first import was broken off', async t => {
  const data = join(tempFolder(t), 'data')
  const DEMO = 'ethereum/demo/local'
  // What is built ships the store of the demo chain, and imports nothing.
  const first = start(t, ['serve', '--port', '0'], { data, fromSource: true })
  await first.says(/Made a store network=ethereum\/demo\/local/)
  first.signal('SIGKILL')
  await first.ended

  const second = await serve(t, data)
  assert.equal(await second.total(DEMO, 'block'), 421)
  await until(
    () => second.out(),
    out => out.includes('curl '),
  )
  const [, curl = ''] = /\n(curl [\s\S]*?'\{[\s\S]*?\}')\n/.exec(second.out())!
  const answer = JSON.parse(await sh(curl)) as { hits: { total: number; hits: { _source: { event: string } }[] } }
  assert.deepEqual(
    [answer.hits.total > 100, answer.hits.hits.map(({ _source }) => _source.event)],
    [true, ['Transfer', 'Transfer', 'Transfer']],
  )
  second.signal('SIGINT')
  assert.equal((await second.ended).code, 0)
})

const sh = (command: string): Promise<string> =>
  new Promise((resolve, reject) =>
    execFile('sh', ['-c', command], (error, stdout) => (error ? reject(error) : resolve(stdout))),
  )

test('a port that is taken is one line, and no store is blamed', async t => {
  const folder = tempFolder(t)
  const first = await serve(t, join(folder, 'first'))
  const { port } = new URL(first.url)
  const node = await startNode({ after: fn => after(t, fn) }, makeChain({ blocks: 12 }))
  const data = join(folder, 'second')
  for (const args of [
    ['serve', '--port', port],
    ['serve', '--port', port, '--network', NETWORK, '--rpc', node.url],
    ['dev', '--port', port, '--rpc', node.url],
  ])
    for (let round = 0; round < 3; round++) {
      const { code, err } = await chainsieve(t, args, args[0] === 'dev' ? { cwd: folder } : { data })
      assert.equal(code, 1)
      assert.equal(fault(err).length, 1, err)
      assert.match(err, new RegExp(`127\\.0\\.0\\.1:${port} is in use by another process`))
      assert.doesNotMatch(err, /^\S+ +(warn|error) /m, err)
    }
})
