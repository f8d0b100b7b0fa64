import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { chainsieve } from './support.ts'

const serverOf = async (t: TestContext, answer: RequestListener): Promise<string> => {
  const server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return String((server.address() as AddressInfo).port)
}

test('a server that lives is told, also where it listens on every address', async t => {
  const port = await serverOf(t, ({ url }, response) => response.end(`{"asked":"${url}"}`))
  for (const host of [[], ['--host', '0.0.0.0'], ['--host', 'localhost']])
    assert.deepEqual(await chainsieve(['health', '--port', port, ...host]), {
      code: 0,
      out: '{"asked":"/health"}\n',
      err: '',
    })
})

test('a server that is not ready is told, with its reasons', async t => {
  const port = await serverOf(t, ({ url }, response) => {
    response.writeHead(url === '/ready' ? 503 : 200).end('{"reasons":["no block for 40 s"]}')
  })
  assert.deepEqual(await chainsieve(['health', '--ready', '--port', port]), {
    code: 1,
    out: '{"reasons":["no block for 40 s"]}\n',
    err: `chainsieve: http://127.0.0.1:${port}/ready answers 503\n`,
  })
})

test('a server that is not there is told', async t => {
  const port = await serverOf(t, (_, response) => response.destroy())
  const { code, out, err } = await chainsieve(['health', '--port', port])
  assert.deepEqual([code, out], [1, ''])
  assert.match(err, /^chainsieve: http:\/\/127\.0\.0\.1:\d+\/health does not answer: /)
})
