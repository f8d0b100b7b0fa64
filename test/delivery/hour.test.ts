import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createRandom } from '../../scripts/demo/random.ts'
import type { SendOutcome } from '../../src/delivery/channels/channel.ts'
import { DELIVERED, FAILED, makeChannels, makeRule, post, setUpWorker } from '../support/delivery.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Of an hour. */
const ALERTS = 92
const BURST = 60
const HANG_MS = 20_000
const URL = 'https://a.example/'

/** What a receiver does with the n-th alert at a time since the hour began. */
type Receiver = (n: number, at: number) => SendOutcome | 'hang'

/** Alerts of an hour to one receiver: many in one block, and then now and then one. */
const simulate = async (t: TestContext, receiver: Receiver) => {
  const tries = new Map<number, number>()
  let [requests, wasted] = [0, 0]
  const channels = makeChannels(async ({ messages }) => {
    const n = Number(messages[0]!.id.slice(6))
    tries.set(n, (tries.get(n) ?? 0) + 1)
    requests++
    let outcome = receiver(n, clock.now() - began)
    if (outcome === 'hang') {
      await clock.sleep(HANG_MS)
      outcome = { type: 'retry', why: 'it did not answer within 20 s', status: null, head: '' }
    } else await clock.sleep(50)
    if (outcome.type !== 'delivered') wasted++
    else arrived.set(n, clock.now())
    return outcome
  })
  const arrived = new Map<number, number>()
  const made = new Map<number, number>()
  const options = {
    channels,
    rules: (id: number) => makeRule(id, [post(URL)]),
    options: { random: createRandom(1).next },
  }
  const { clock, start, stop, confirm } = await setUpWorker(t, options)
  const began = clock.now()
  const add = (n: number) => {
    confirm(`alert-${n}`)
    made.set(n, clock.now())
  }
  const worker = start()
  for (let n = 1; n <= BURST; n++) add(n)
  for (let n = BURST + 1; n <= ALERTS; n++) {
    add(n)
    worker.wake()
    await clock.run(HOUR / (ALERTS - BURST))
  }
  await stop(worker)
  const waits = [...arrived].map(([n, at]) => at - made.get(n)!)
  const late = waits.filter(wait => wait > 2_000).length
  const longest = Math.round(Math.max(...waits) / 1000)
  return { arrived: waits.length, late, longest, requests, wasted, most: Math.max(...tries.values()) }
}

describe('an hour of alerts', () => {
  it('is not held up by those that a receiver cannot digest, however many of them are tried again', async t => {
    const hour = await simulate(t, n => (n % 6 === 0 ? FAILED : DELIVERED))
    assert.deepEqual(hour, { arrived: 77, late: 0, longest: 0, requests: 134, wasted: 57, most: 4 })
  })

  it('waits for the end of an outage', async t => {
    const hour = await simulate(t, (_, at) => (at > 10 * MINUTE && at < 20 * MINUTE ? FAILED : DELIVERED))
    assert.deepEqual(hour, { arrived: 92, late: 5, longest: 2268, requests: 104, wasted: 12, most: 4 })
  })

  it('reaches a receiver that fails every other time', async t => {
    const random = createRandom(3)
    const hour = await simulate(t, () => (random.chance(0.5) ? FAILED : DELIVERED))
    assert.deepEqual(hour, { arrived: 85, late: 39, longest: 2103, requests: 161, wasted: 76, most: 4 })
  })

  it('wastes few requests on a receiver that hangs, and goes on when it is back', async t => {
    const hour = await simulate(t, (_, at) => (at < 30 * MINUTE ? 'hang' : DELIVERED))
    assert.deepEqual(hour, { arrived: 92, late: 79, longest: 2035, requests: 112, wasted: 20, most: 2 })
  })
})
