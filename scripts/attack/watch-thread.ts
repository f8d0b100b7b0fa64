import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { Agent, type Dispatcher } from 'undici'
import { timesOf } from '../lib/table.ts'
import type { Ground, Seen, Watched } from './watch.ts'

/** Asks as another account does, in a thread of its own, so that the attack does not make its clock late. */
const { url, network, token, pid, everyMs = 20 } = workerData as Ground
const LAST_MS = 20_000

/** Time that a thread has run, and that it was ready to run while others had the processors, in milliseconds; 0 where the system does not tell. */
const timesOfThread = (thread: string): [ran: number, waited: number] => {
  try {
    const [ran, waited] = readFileSync(`/proc/${thread}/schedstat`, 'latin1').split(' ')
    return [Number(ran) / 1e6, Number(waited) / 1e6]
  } catch {
    return [0, 0]
  }
}

/**
 * Takes a time less what a busy machine adds to it. It is no less than what the server's main thread ran meanwhile, and no less than what is left
 * without the time that this thread and that one were held up, which may overlap.
 */
const startClock = (): (() => number) => {
  const start = performance.now()
  if (pid === undefined) return () => performance.now() - start
  const look = () => [timesOfThread(`${pid}/task/${pid}`), timesOfThread('thread-self')] as const
  const [server, own] = look()
  return () => {
    const ms = performance.now() - start
    const [serverNow, ownNow] = look()
    const ran = serverNow[0] - server[0]
    return Math.min(ms, Math.max(ran, ms - (serverNow[1] - server[1]) - (ownNow[1] - own[1])))
  }
}

const MOST = 100

const createTimes = () => {
  let taken: number[] = []
  let failed = 0
  const asking = new Set<Promise<void>>()
  const take = async (ask: () => Promise<Dispatcher.ResponseData>) => {
    const clock = startClock()
    try {
      const { statusCode, body } = await ask()
      await body.dump()
      if (statusCode !== 200) failed++
    } catch {
      failed++
    }
    taken.push(clock())
  }
  return {
    take(ask: () => Promise<Dispatcher.ResponseData>) {
      if (asking.size >= MOST) return
      const one: Promise<void> = take(ask).finally(() => asking.delete(one))
      asking.add(one)
    },
    /** Since it was asked last; what is still without an answer then has failed. */
    async lap(): Promise<Watched> {
      const before = [...asking]
      await Promise.race([Promise.all(before), sleep(LAST_MS)])
      const silent = before.filter(one => asking.delete(one)).length
      const seen = { ...timesOf(silent > 0 ? [...taken, LAST_MS] : taken), failed: failed + silent }
      ;[taken, failed] = [[], 0]
      return seen
    },
  }
}

const agent = new Agent({ connections: 200, headersTimeout: 0, bodyTimeout: 0 })
const ask = (path: string, body: string | null = null) =>
  agent.request({
    ...{ origin: url, path, method: body === null ? 'GET' : 'POST', body },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
const search = `/${network}/es/tx/search`

const firstId = async (): Promise<string> => {
  for (;;) {
    const { body } = await ask(search, '{"size":1}')
    const { hits } = (await body.json()) as { hits: { hits: { _id: string }[] } }
    if (hits.hits[0] !== undefined) return hits.hits[0]._id
    await sleep(100)
  }
}

const times = { term: createTimes(), health: createTimes(), status: createTimes() }
const term = JSON.stringify({ query: { term: { _id: await firstId() } } })
const lap = async (): Promise<Seen> => {
  const [term, health, status] = await Promise.all([times.term.lap(), times.health.lap(), times.status.lap()])
  return { term, health, status }
}

let goesOn = true
parentPort!.on('message', async what => {
  if (what === 'stop') goesOn = false
  parentPort!.postMessage(await lap())
  if (what !== 'stop') return
  await agent.destroy()
  parentPort!.close()
})
parentPort!.postMessage('ready')
for (let i = 0; goesOn; i++) {
  times.term.take(() => ask(search, term))
  if (pid !== undefined || i % 5 === 0) times.health.take(() => ask('/health'))
  if (i % 25 === 0) times.status.take(() => ask('/status'))
  await sleep(everyMs)
}
