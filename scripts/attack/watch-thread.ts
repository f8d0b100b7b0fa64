import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { Agent, type Dispatcher } from 'undici'
import { timesOf } from '../bench/times.ts'
import type { Ground, Seen, Watched } from './watch.ts'

/** Asks as another account does, in a thread of its own, so that the attack does not make its clock late. */

const EVERY_MS = 20
/** What was asked by then is waited for so long. */
const LAST_MS = 20_000

const createTimes = () => {
  const taken: number[] = []
  let [asked, failed] = [0, 0]
  return {
    async take(ask: () => Promise<Dispatcher.ResponseData>) {
      asked++
      const start = performance.now()
      try {
        const { statusCode, body } = await ask()
        await body.dump()
        if (statusCode !== 200) failed++
      } catch {
        failed++
      }
      taken.push(performance.now() - start)
    },
    seen: (): Watched => ({ ...timesOf(taken), failed: failed + asked - taken.length }),
  }
}

const { url, network, token } = workerData as Ground
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
let goesOn = true
parentPort!.once('message', () => {
  goesOn = false
})
parentPort!.postMessage('ready')
const asking: Promise<void>[] = []
for (let i = 0; goesOn; i++) {
  asking.push(times.term.take(() => ask(search, term)))
  if (i % 5 === 0) asking.push(times.health.take(() => ask('/health')))
  if (i % 25 === 0) asking.push(times.status.take(() => ask('/status')))
  await sleep(EVERY_MS)
}
await Promise.race([Promise.all(asking), sleep(LAST_MS)])
const seen: Seen = { term: times.term.seen(), health: times.health.seen(), status: times.status.seen() }
parentPort!.postMessage(seen)
await agent.destroy()
