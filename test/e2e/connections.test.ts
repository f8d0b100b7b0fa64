import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { after, pause, serve, tempFolder, until, untilIs } from './program.ts'

/** Starts the program with so many files that it may have open. */
const withFiles = (files: number) => ({ by: ['sh', '-c', `ulimit -n ${files}; exec "$@"`, 'sh'] })

/** Connections that never say anything. */
const silent = async (t: TestContext, url: string, count: number): Promise<Socket[]> => {
  const { port } = new URL(url)
  const sockets: Socket[] = []
  after(t, () => {
    for (const socket of sockets) socket.destroy()
  })
  for (let i = 0; i < count; i++) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: `127.0.0.${2 + (i % 2)}` })
    socket.on('error', () => {})
    socket.resume()
    sockets.push(socket)
    if (i % 50 === 49) await pause(5)
  }
  return sockets
}

const isClosed = ({ closed, destroyed }: Socket) => closed || destroyed

const health = async (url: string, agent?: Agent): Promise<number | undefined> => {
  const sent = get(`${url}/health`, { ...(agent && { agent }) })
  const [reply] = await once(sent, 'response')
  reply.resume()
  await once(reply, 'end')
  return reply.statusCode
}

test('more silent connections than the process may have files open', async t => {
  const server = await serve(t, tempFolder(t), [], withFiles(200))
  const agent = new Agent({ keepAlive: true })
  after(t, () => agent.destroy())
  assert.equal(await health(server.url, agent), 200)

  const sockets = await silent(t, server.url, 400)
  await until(
    () => sockets.filter(isClosed).length,
    closed => closed >= 300,
  )
  // Who was let in before is served, and everything that a timer does goes on.
  assert.equal(await health(server.url, agent), 200)
  await pause(2_000)
  assert.equal(await health(server.url, agent), 200)
  assert.doesNotMatch(server.err(), /EMFILE/)
  assert.match(server.err(), /warn +Refused connections/)

  for (const socket of sockets) socket.destroy()
  await untilIs(() => health(server.url).catch(() => 0), 200)
  assert.equal(await server.total('ethereum/demo/local', 'block'), 421)
})
