import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import type { promises as dns } from 'node:dns'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createNameLookups, type Lookup } from '../../src/delivery/dns.ts'
import { systemClock } from '../../src/lib/retry.ts'

/** A name server that knows 192.0.2.7 for `live.test`, nothing else that begins with "un", and says nothing of the rest. */
const startNameServer = async (t: TestContext): Promise<string> => {
  const server = createSocket('udp4')
  server.on('message', (query, { address, port }) => {
    const name = query.subarray(13).toString('latin1')
    const isA = query[query.indexOf(0, 12) + 2] === 1
    if (!name.startsWith('live') && !name.startsWith('un')) return
    const known = name.startsWith('live') && isA
    const head = Buffer.from(query)
    head.writeUInt16BE(name.startsWith('un') ? 0x8183 : 0x8180, 2)
    head.writeUInt16BE(known ? 1 : 0, 6)
    head.writeUInt16BE(0, 10)
    const question = head.subarray(0, query.indexOf(0, 12) + 5)
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7])
    server.send(known ? Buffer.concat([question, answer]) : question, port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('names whose servers do not answer hold up no look-up of another', async t => {
  const servers = [await startNameServer(t)]
  const asked: string[] = []
  const answered = Promise.withResolvers<void>()
  const lookup: Lookup = async hostname => {
    asked.push(hostname)
    // As the system does where nobody answers it.
    if (hostname.startsWith('unknown-')) await answered.promise
    return [{ address: '192.0.2.8', family: 4 }]
  }
  const names = createNameLookups({ servers, lookup })
  const [attacker, other] = [names(), names()]
  let ended = 0
  const hanging = Array.from({ length: 50 }, (_, i) =>
    attacker(`hangs-${i}.test`).catch(error => {
      ended++
      return error.code
    }),
  )
  const unknown = Array.from({ length: 5 }, (_, i) => attacker(`unknown-${i}.test`))
  assert.deepEqual(await other('live.test'), [{ address: '192.0.2.7', family: 4 }])
  // What no name server knows is asked of the system, and names of one part are asked of it alone.
  assert.deepEqual(await other('unknown.test'), [{ address: '192.0.2.8', family: 4 }])
  assert.deepEqual(await other('intranet'), [{ address: '192.0.2.8', family: 4 }])
  assert.equal(ended, 0)
  // One at a time for each account.
  const ofAttacker = () => asked.filter(it => it.startsWith('unknown-')).length
  assert.ok(ofAttacker() <= 1, `${asked}`)
  answered.resolve()
  await Promise.all(unknown)
  assert.equal(ofAttacker(), 5)
  assert.deepEqual(new Set(await Promise.all(hanging)), new Set(['ETIMEOUT']))
})

test('name servers that the system has got since are asked once those before do not answer', async () => {
  const silent = async (): Promise<string[]> => {
    await systemClock.sleep(1_100)
    throw Object.assign(new Error('no answer'), { code: 'ETIMEOUT' })
  }
  const known = async () => ['192.0.2.7']
  let made = 0
  const resolver = () => {
    const resolve = made++ === 0 ? silent : known
    return { resolve4: resolve, resolve6: resolve } as unknown as dns.Resolver
  }
  const lookup = createNameLookups({ resolver })()
  await assert.rejects(lookup('live.test'), { code: 'ETIMEOUT' })
  assert.deepEqual((await lookup('live.test'))[0], { address: '192.0.2.7', family: 4 })
  assert.equal(made, 2)
})
