import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeChain } from '../support/pack.ts'
import { chainsieve, serve, succeed, tempFolder, writePack } from './program.ts'

const NETWORK = 'ethereum/test/net'

const setUp = async (t: TestContext) => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const pack = writePack(join(folder, 'pack.ndjson'), makeChain({ blocks: 12 }))
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  const server = await serve(t, data)
  return { data, server }
}

test('a request that is refused is told where and why, as the shell tells it', async t => {
  const { server, data } = await setUp(t)
  const body = { query: { term: { adress: 'x' } } }
  const reason = 'query.term.adress: no field [adress] in event. Did you mean "address"?'
  const error = { type: 'query_shard_exception', reason }
  assert.deepEqual(await server.ask(`/${NETWORK}/es/event/search/`, body), {
    status: 400,
    body: { error: { root_cause: [error], ...error }, status: 400 },
  })
  const deep = `{"query":${'['.repeat(100_000)}`
  assert.equal((await server.ask(`/${NETWORK}/es/event/search/`, deep)).status, 400)
  const { code, out, err } = await chainsieve(t, ['search', NETWORK, 'event', JSON.stringify(body)], { data })
  assert.deepEqual([code, out], [2, ''])
  assert.match(err, /adress.*address/)
  // Nothing of this is a fault of the server, and it goes on.
  assert.doesNotMatch(server.err(), /error/)
  assert.equal(await server.total(NETWORK, 'block'), 12)
})

test('a body of a hundred megabytes is refused without being held', async t => {
  const { server } = await setUp(t)
  const before = memoryOf(server.pid)
  const size = 100_000_000
  const send = (headers: Record<string, string | number>) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(`${server.url}/${NETWORK}/es/block/search/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.token}`, ...headers },
      })
      let answered = false
      sent.on('response', reply => {
        answered = true
        let text = ''
        reply.setEncoding('utf8').on('data', chunk => {
          text += chunk
        })
        reply.on('end', () => {
          resolve({ status: reply.statusCode!, text })
          sent.destroy()
        })
      })
      // The server need not read on what it does not want.
      sent.on('error', error => (answered ? undefined : reject(error)))
      const chunk = Buffer.alloc(1 << 20, ' ')
      let written = 0
      const write = () => {
        while (!answered && written < size) {
          written += chunk.length
          if (!sent.write(chunk)) return void sent.once('drain', write)
        }
        if (!answered) sent.end()
      }
      write()
    })
  for (const headers of [{ 'content-length': 96 << 20 }, { 'transfer-encoding': 'chunked' }]) {
    const { status, text } = await send(headers as unknown as Record<string, string>)
    assert.equal(status, 413)
    assert.deepEqual(JSON.parse(text).error.type, 'content_too_large_exception')
    assert.match(JSON.parse(text).error.reason, /more than 16MB of data in its body.*--limit body=/)
  }
  assert.ok(memoryOf(server.pid) - before < 90e6, `${memoryOf(server.pid) - before} bytes more`)
  assert.equal(await server.total(NETWORK, 'block'), 12)
})

/** Bytes that a process holds in memory; 0 where that cannot be told. */
const memoryOf = (pid: number): number => {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
  } catch {
    return 0
  }
}
