import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSpent } from '../../src/chain/spent-file.ts'
import { spentStem } from '../../src/engine/files.ts'
import { type Indexing, startIndexing } from '../../src/ingest/network.ts'
import { offlineStatus } from '../../src/ingest/status/live.ts'
import { createLog } from '../../src/lib/log.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const NETWORK = 'ethereum/test/net'
const DAILY = 400
const chain = makeChain({ blocks: 400, txs: 0 })

const until = async (what: string, isSo: () => boolean) => {
  const end = Date.now() + 120_000
  while (!isSo()) {
    assert.ok(Date.now() < end, what)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

test('a back-fill waits for the next day and says so, the head goes on, and a restart does not ask again', async t => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-budgets-'))
  t.after(() => rmSync(data, { recursive: true, force: true }))
  const node = await startNode(t, chain)
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: false })
  const open: Indexing[] = []
  t.after(() => Promise.all(open.map(indexing => indexing.stop())))
  const start = () => {
    const indexing = startIndexing({
      ...{ data, network: NETWORK, storeBatch: 10, log },
      job: {
        type: 'follow',
        node: { urls: [node.url], pollMs: 250, timeoutMs: 2_000, allowances: [{ daily: DAILY }] },
        ...{ from: undefined, order: 'newest', finality: 8, staleMs: 0 },
      },
    })
    open.push(indexing)
    return indexing
  }

  const first = start()
  await until('the back-fill waits', () => first.report().waiting?.kind === 'fill')
  const { waiting } = first.report()
  const midnight = new Date()
  midnight.setUTCHours(24, 0, 0, 0)
  assert.equal(waiting!.until, midnight.toISOString())
  node.extend(makeChain({ blocks: 5, txs: 0, parent: chain.at(-1)! }))
  await until('the head goes on', () => first.report().newest?.number === 404)
  await until('still waits', () => first.report().waiting?.kind === 'fill')
  const held = async () => ({ ranges: first.report().added, newest: null })
  const { networks } = await offlineStatus({ networks: () => [NETWORK], indexings: [first], held })
  assert.deepEqual(networks[0]!.waiting, waiting)
  const { day } = networks[0]!.endpoints[0]!.budget!
  assert.ok(day!.left > 0 && day!.left < DAILY / 10 + 20, `${day!.left}`)
  assert.equal(lines.filter(line => line.includes('A back-fill waits')).length, 1)
  await first.stop()
  assert.equal(node.calls.length, first.report().endpoints[0]!.budget!.spent)
  const kept = openSpent(spentStem(data, NETWORK), log).at(node.url, '')
  assert.equal(kept.since(new Date().toISOString().slice(0, 10)), node.calls.length)

  node.calls.length = 0
  const second = start()
  await until('the back-fill waits again', () => second.report().waiting?.kind === 'fill')
  node.extend(makeChain({ blocks: 1, txs: 0, parent: node.blocks.get(404)! }))
  await until('the head goes on again', () => second.report().newest?.number === 405)
  assert.ok(node.calls.length < 30, `${node.calls.length}`)
})
