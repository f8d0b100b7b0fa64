import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { createChannels } from '../../src/delivery/channels/index.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { createWorker } from '../../src/delivery/worker.ts'
import { silent } from '../../src/lib/log.ts'
import { systemClock } from '../../src/lib/retry.ts'
import type { StoredRule } from '../../src/rules/rule.ts'
import { dataFolder, makeAlert, makeOutbox, makeRule, NETWORK, post } from '../support/delivery.ts'
import { processorTime } from '../support/processor.ts'

const [ATTACKER, OTHER] = [1, 2]
const ALERTS = 85
const SOON_MS = 2_000
/** Before the first receiver that hangs is given up, which frees a place. */
const PATIENCE_MS = 18_000
const SLOWER = 10

/** A host whose answers are those of the test; what is still open goes with it. */
const startHost = async (t: TestContext, answer: RequestListener) => {
  const sockets = new Set<Socket>()
  const server = createServer(answer)
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Attack {
  /** What the host does with requests of the attacker's paths. */
  behave?: RequestListener
  /** URLs of the attacker's rules, by the host that the other's receiver is on. */
  urls(host: string): string[]
  /** Alerts of each rule. */
  each?: number
  /** The other's receiver has a port of its own: that of the attacker is too busy with it to take connections. */
  isApart?: boolean
}

/**
 * Its alerts reach the other account though the attacker's came first, at the cost of little work: a busy machine takes longer for that, and does
 * not do more.
 */
const attack = async (t: TestContext, hostile: Attack) => {
  const alone = await deliver(t, { urls: () => [] })
  const longest = await deliver(t, hostile)
  t.diagnostic(`alone ${alone} ms of the processor, attacked ${longest} ms`)
  assert.ok(longest < Math.max(SOON_MS, SLOWER * alone), `the last came after ${longest} ms of work, alone ${alone} ms`)
}

/** How much of the processor goes by until the last of the other account's alerts, in milliseconds. */
const deliver = async (t: TestContext, { behave = () => {}, urls, each = 1, isApart }: Attack): Promise<number> => {
  const arrived = new Set<string>()
  let last = 0
  const answer: RequestListener = (request, response) => {
    if (request.url !== '/other') return behave(request, response)
    arrived.add(String(request.headers['webhook-id']))
    last = processorTime()
    response.end('ok')
  }
  const host = await startHost(t, answer)
  const own = isApart ? await startHost(t, answer) : host
  const rules = new Map<number, StoredRule>()
  for (const [i, url] of urls(host).entries()) rules.set(i + 10, makeRule(i + 10, [post(url)], { account: ATTACKER }))
  rules.set(1, makeRule(1, [post(`${own}/other`)], { account: OTHER }))
  const outbox = makeOutbox()
  for (let n = 0; n < each; n++)
    for (const rule of rules.keys())
      if (rule !== 1) outbox.add('confirmed', makeAlert(`hostile-${rule}-${n}`, { rule }))
  const store = openDeliveries(await dataFolder(t))
  const channels = createChannels({ allowed: ['127.0.0.0/8'], smtp: undefined, mailFrom: undefined })
  const worker = createWorker({
    store,
    outboxes: () => new Map([[NETWORK, outbox]]),
    rules: id => rules.get(id),
    channels,
    secrets: () => [],
    clock: systemClock,
    log: silent,
  })
  t.after(async () => {
    await worker.stop()
    await channels.close()
    store.close()
  })
  worker.wake()
  await systemClock.sleep(1_000)
  const [began, since] = [performance.now(), processorTime()]
  for (let n = 0; n < ALERTS; n++) outbox.add('confirmed', makeAlert(`mine-${n}`, { rule: 1 }))
  worker.wake()
  for (const end = began + PATIENCE_MS; arrived.size < ALERTS && performance.now() < end; ) await systemClock.sleep(10)
  const late = () =>
    store
      .list({ rule: 1, limit: ALERTS })
      .flatMap(({ id, state }) => (state === 'delivered' ? [] : [JSON.stringify([state, store.attemptsOf(id)])]))
  assert.equal(arrived.size, ALERTS, `late: ${late().join('\n')}`)
  return Math.round(last - since)
}

const many = (count: number, url: (i: number) => string) => Array.from({ length: count }, (_, i) => url(i))

describe('an account whose receivers are hostile holds up no other', () => {
  it('by 200 URLs that hang, on the host of the other’s receiver', t =>
    attack(t, { urls: host => many(200, i => `${host}/hangs/${i}`), each: 5 }))

  it('by 10,000 destinations that are dead', t =>
    attack(t, { urls: () => many(10_000, i => `http://127.0.${i >> 8}.${i & 255}:9/`) }))

  it('by a queue of 100,000', t => attack(t, { urls: host => [`${host}/hangs`], each: 100_000 }))

  it('by alerts without end to a receiver that takes them', t =>
    attack(t, { behave: (_, response) => void response.end(), urls: host => [`${host}/takes`], each: 100_000 }))

  it('by answers that drip, or that do not end', t =>
    attack(t, {
      isApart: true,
      behave(request, response) {
        response.writeHead(200)
        if (request.url!.includes('drip')) {
          const timer = setInterval(() => response.write('.'), 200)
          response.on('close', () => clearInterval(timer))
        } else {
          const chunk = Buffer.alloc(1 << 20)
          const more = () => {
            while (!response.destroyed && response.write(chunk));
          }
          response.on('drain', more)
          more()
        }
      },
      urls: host => [...many(100, i => `${host}/drip/${i}`), ...many(100, i => `${host}/endless/${i}`)],
      each: 10,
    }))
})
