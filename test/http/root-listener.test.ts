import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createBodies } from '../../src/http/body.ts'
import { noConnections } from '../../src/http/connections.ts'
import { type HttpServer, listen } from '../../src/http/server.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { bothOf, MAINNET, send } from './support.ts'

const servers: HttpServer[] = []
after(() => Promise.all(servers.map(server => server.close(0))))

/** The main listener, and one with a network at its root. */
const start = async (limits = DEFAULT_LIMITS) => {
  const { app, direct } = bothOf({ limits, bodies: createBodies(limits) })
  const connections = noConnections()
  const listening = { direct, host: '127.0.0.1', port: 0, limits, connections }
  const main = await listen(app, listening)
  const node = await listen(app, { ...listening, root: `/${MAINNET}/es` })
  servers.push(main, node)
  return { main, node }
}

const asked = async (url: string, options: Parameters<typeof send>[1] = {}) => {
  const { status, text } = await send(url, options)
  return { status, body: JSON.parse(text) }
}

test('a network is at the root of its own listener, through both ways of answering', async () => {
  const { node } = await start()
  const search = { method: 'POST', body: '{}' }
  for (const path of ['/tx/_search', '/tx/_search/', '/tx/_search?size=1']) {
    const { status, body } = await asked(`${node.url}${path}`, search)
    assert.deepEqual([status, body.network, body.entities], [200, MAINNET, 'tx'], path)
  }
  const info = await asked(node.url)
  assert.equal(info.status, 200)
  assert.equal(info.body.version.number.startsWith('7.'), true)
  assert.equal((await asked(`${node.url}/_cluster/health`)).status, 200)
  assert.equal((await asked(`${node.url}/_aliases`)).status, 200)
})

test('no path leaves the network, and each request needs a token', async () => {
  const { node } = await start()
  const { port } = node
  for (const path of ['/../../../../alerting/rules/', '/%2e%2e/%2E./alerting/rules', '/health', '/status']) {
    const { status } = await asked(node.url, { host: '127.0.0.1', port, path })
    assert.equal([400, 404].includes(status), true, `${path}: ${status}`)
  }
  assert.equal((await asked(`${node.url}/_cluster/health`, { headers: {} })).status, 401)
})

test('connections of all listeners count against one limit', async () => {
  const { main, node } = await start({ ...DEFAULT_LIMITS, connections: 4 })
  const open = [1, 2, 3].map(() => connect(main.port, '127.0.0.1'))
  const isRefused = async () => (await send(`${node.url}/_cluster/health`, { agent: false })).status === 429
  for (let tries = 0; !(await isRefused()); tries++) {
    assert.equal(tries < 200, true, 'is never refused')
    await pause(10)
  }
  for (const socket of open) socket.destroy()
})
