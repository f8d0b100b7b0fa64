import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { openSpent } from '../../src/chain/budget/spent-file.ts'
import { createRpcSource, type RpcSourceOptions } from '../../src/chain/rpc-source.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createLog, silent } from '../../src/lib/log.ts'
import { type Clock, systemClock } from '../../src/lib/retry.ts'
import { type FakeNode, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const chain = makeChain({ from: 0, blocks: 200, txs: 1, logs: 1 })
const never = new AbortController().signal
const folder = mkdtempSync(join(tmpdir(), 'chainsieve-sharing-'))
after(() => rmSync(folder, { recursive: true }))

/** A clock that runs faster than the real one, from a time on. */
const clockFrom = (start: number, factor: number): Clock => {
  const began = performance.now()
  return {
    now: () => start + (performance.now() - began) * factor,
    elapsed: () => (performance.now() - began) * factor,
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
  }
}

/** The same, which stops at a time until it is let go: a busy machine does not get past it. */
const clockUpTo = (start: number, factor: number, stop: number): Clock & { letGo(): void } => {
  const released = Promise.withResolvers<void>()
  let [from, began] = [start, performance.now()]
  let isHeld = true
  const now = () => {
    const time = from + (performance.now() - began) * factor
    return isHeld ? Math.min(stop, time) : time
  }
  return {
    now,
    elapsed: now,
    async sleep(ms, signal) {
      const end = now() + ms
      if (isHeld && end > stop) {
        const aborted = Promise.withResolvers<never>()
        const abort = () => aborted.reject(signal!.reason)
        signal?.addEventListener('abort', abort, { once: true })
        if (signal?.aborted) abort()
        await Promise.race([released.promise, aborted.promise])
        signal?.removeEventListener('abort', abort)
      }
      await systemClock.sleep(Math.max(0, end - now()) / factor, signal)
    },
    letGo() {
      from = now()
      began = performance.now()
      isHeld = false
      released.resolve()
    },
  }
}

const sourceOf = (t: TestContext, nodes: FakeNode[], options: Partial<RpcSourceOptions> = {}) => {
  const clock = clockFrom(Date.UTC(2026, 10, 22, 12), 20)
  const source = createRpcSource({ urls: nodes.map(({ url }) => url), clock, batch: 4, ...options })
  t.after(() => {
    ending.abort()
    ending = new AbortController()
    return source.close()
  })
  return source
}

let ending = new AbortController()

const rangeOf = async (source: ReturnType<typeof createRpcSource>, from: number, to: number) => {
  const { signal } = ending
  const blocks: RawBlock[] = []
  for await (const run of source.range({ from, to, order: 'oldest', run: 10, signal })) blocks.push(...run)
  return blocks
}

/** A node that takes so many milliseconds for a request, one after the other. */
const slow = (node: FakeNode, ms: number) => {
  let last = Promise.resolve()
  node.trouble = async () => {
    last = last.then(() => systemClock.sleep(ms))
    await last
    return undefined
  }
}

test('two nodes share a back-fill by their speed, and with little to do the first does it', async t => {
  const nodes = [await startNode(t, chain), await startNode(t, chain)]
  slow(nodes[0]!, 12)
  slow(nodes[1]!, 4)
  const source = sourceOf(t, nodes)
  assert.deepEqual(await rangeOf(source, 0, 199), chain)
  const [first, second] = nodes.map(({ calls }) => calls.length) as [number, number]
  assert.ok(second > first && first >= 30, `${first} and ${second} calls`)
  const asked = nodes.flatMap(({ calls }) => calls.map(({ method, params }) => `${method} ${params[0]}`))
  assert.ok(
    first + second <= 400 + 8,
    JSON.stringify([
      asked.length,
      new Set(asked).size,
      source.endpoints(),
      asked.filter(it => it.startsWith('eth_chainId')).length,
    ]),
  )
  const before = second
  for (let i = 0; i < 5; i++) await source.head(never)
  assert.equal(nodes[1]!.calls.length, before)
})

test('a node that refuses, hangs or asks to slow down loses its share, and gets it back once a probe is answered', async t => {
  const troubles = [() => 'hang' as const, () => ({ status: 429, headers: { 'retry-after': '2' } })]
  for (const trouble of troubles) {
    const nodes = [await startNode(t, chain), await startNode(t, chain)] as [FakeNode, FakeNode]
    for (const node of nodes) slow(node, 1)
    const source = sourceOf(t, nodes, { timeoutMs: 30 })
    await rangeOf(source, 0, 59)
    const usual = nodes[0].trouble
    nodes[0].trouble = trouble
    nodes[0].batches.length = 0
    assert.deepEqual(await rangeOf(source, 60, 199), chain.slice(60))
    // What was under way, and probes, each a single call.
    assert.ok(nodes[0].batches.filter(size => size > 1).length <= 20, `${nodes[0].batches}`)
    nodes[0].trouble = usual
    const end = Date.now() + 120_000
    while (source.endpoints()[0]!.failingSince !== undefined && Date.now() < end) await rangeOf(source, 0, 19)
    assert.equal(source.endpoints()[0]!.failingSince, undefined, `${source.endpoints()[0]!.lastError}`)
    nodes[0].calls.length = 0
    await rangeOf(source, 0, 99)
    assert.ok(nodes[0].calls.length > 20, `${nodes[0].calls.length}`)
  }
})

test('a used-up budget holds up the back-fill until midnight and not the head; then the other node is asked', async t => {
  const lines: string[] = []
  const log = createLog({ write: line => lines.push(line), json: false })
  const node = await startNode(t, chain)
  const midnight = Date.UTC(2026, 10, 23)
  const clock = clockUpTo(midnight - 120_000, 200, midnight - 20_000)
  const path = join(folder, 'one')
  const daily = 150
  const source = sourceOf(t, [node], { clock, log, allowances: [{ daily }], spent: openSpent(path, silent, clock.now) })
  const filling = rangeOf(source, 0, 99)
  const waits = () => source.waitsForBudget!()
  while (waits() === undefined) await systemClock.sleep(2)
  const { since, ...waiting } = waits()!
  assert.deepEqual(waiting, {
    kind: 'fill',
    for: `credits of ${node.url}: what is left is kept for the head`,
    until: '2026-11-23T00:00:00.000Z',
  })
  assert.ok(Date.parse(since) < midnight)
  // What is under way comes to its end.
  await systemClock.sleep(50)
  const spent = node.calls.length
  assert.ok(spent > 120 && spent <= daily * 0.9 + 8, `${spent} calls`)
  assert.equal(await source.head(never), 199)
  const urgent = source.range({ from: 7, to: 7, order: 'oldest', run: 1, urgent: true, signal: never })
  for await (const run of urgent) assert.deepEqual(run, [chain[7]])
  const { day } = source.endpoints()[0]!.budget!
  assert.equal(day!.used, node.calls.length)
  assert.equal(day!.used + day!.left, daily)
  clock.letGo()
  assert.deepEqual(await filling, chain.slice(0, 100))
  assert.ok(clock.now() >= midnight)
  assert.equal(waits(), undefined)
  const told = lines.filter(line => line.includes('A back-fill waits'))
  assert.equal(told.length, 1, lines.join('\\n'))
  assert.match(told[0]!, /until=2026-11-23T00:00:00.000Z/)
  // None of it was the node's fault.
  assert.equal(source.endpoints()[0]!.errors, 0)

  // The next program knows what is left; a node without a budget does the rest.
  await source.close()
  const used = source.endpoints()[0]!.budget!.day!.used
  const other = await startNode(t, chain)
  const later = clockFrom(midnight + 60_000, 20)
  const next = sourceOf(t, [node, other], {
    ...{ clock: later, allowances: [{ daily }, {}] },
    spent: openSpent(path, silent, later.now),
  })
  assert.equal(next.endpoints()[0]!.budget!.day!.used, used)
  node.calls.length = 0
  assert.deepEqual(await rangeOf(next, 100, 199), chain.slice(100))
  assert.ok(node.calls.length + used <= daily * 0.9, `${node.calls.length} and ${used}`)
  assert.ok(other.calls.length >= 100)
  assert.equal(next.waitsForBudget!(), undefined)
})

test('the head waits, too, once all is used up, and nothing is asked meanwhile', async t => {
  const node = await startNode(t, chain)
  const midnight = Date.UTC(2026, 10, 23)
  const clock = clockUpTo(midnight - 20_000, 200, midnight - 5_000)
  const source = sourceOf(t, [node], { clock, allowances: [{ daily: 5, month: 1_000 }] })
  for (let i = 0; i < 2; i++) await source.head(never)
  const asked = node.calls.length
  const head = source.head(never)
  head.catch(() => {})
  for (let i = 0; i < 3; i++) await systemClock.sleep(2)
  while (clock.now() < midnight - 5_000) await systemClock.sleep(5)
  assert.ok(node.calls.length <= 5, `${node.calls.length}`)
  assert.ok(asked >= 4)
  if (node.calls.length === 5) assert.equal(source.waitsForBudget!()?.kind ?? 'budget', 'budget')
  clock.letGo()
  assert.equal(await head, 199)
  assert.ok(source.endpoints()[0]!.budget!.month!.used >= 4)
})

test('a rate is kept by the calls that arrive, and requests are as small as it asks for', async t => {
  const node = await startNode(t, chain)
  const clock = clockFrom(Date.UTC(2026, 10, 22, 12), 4)
  const arrived: { at: number; calls: number }[] = []
  node.trouble = calls => {
    arrived.push({ at: clock.now(), calls: calls.length })
    return undefined
  }
  const source = sourceOf(t, [node], { clock, batch: 20, allowances: [{ rate: { most: 40, of: 'calls' } }] })
  const began = clock.now()
  assert.deepEqual(await rangeOf(source, 0, 49), chain.slice(0, 50))
  assert.ok(Math.max(...node.batches) <= 10, `${node.batches}`)
  const seconds = (clock.now() - began) / 1_000
  assert.ok(seconds >= 2.1, `${seconds}`)
  // Loopback and event loop shift what arrives by some milliseconds, four times as many of this clock.
  for (const [i, { at }] of arrived.entries()) {
    const sum = arrived.slice(i).reduce((all, it) => all + (it.at < at + 600 ? it.calls : 0), 0)
    assert.ok(sum <= 50, `${sum} calls`)
  }
  assert.equal(source.endpoints()[0]!.errors, 0)
  assert.equal(source.endpoints()[0]!.budget!.rate, '40 calls/s')
})
