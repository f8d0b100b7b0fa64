import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSpent } from '../../src/chain/budget/spent-file.ts'
import { spentStem } from '../../src/engine/files.ts'
import { offlineStatus } from '../../src/ingest/status/live.ts'
import { folderToIndex, followJob, indexIn, logLines, NETWORK, until } from '../support/indexing.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const DAILY = 400
const chain = makeChain({ blocks: 400, txs: 0 })

test('a back-fill waits for the next day and says so, the head goes on, and a restart does not ask again', async t => {
  const { data } = await folderToIndex(t)
  const node = await startNode(t, chain)
  const { lines, log } = logLines()
  const job = followJob(node, { node: { pollMs: 250, timeoutMs: 2_000, allowances: [{ daily: DAILY }] }, staleMs: 0 })
  const start = () => indexIn(t, data, job, { log })

  const first = start()
  await until(() => first.report().waiting?.kind === 'fill')
  const { waiting } = first.report()
  const midnight = new Date()
  midnight.setUTCHours(24, 0, 0, 0)
  assert.equal(waiting!.until, midnight.toISOString())
  node.extend(makeChain({ blocks: 5, txs: 0, parent: chain.at(-1)! }))
  await until(() => first.report().newest?.number === 404)
  await until(() => first.report().waiting?.kind === 'fill')
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
  await until(() => second.report().waiting?.kind === 'fill')
  node.extend(makeChain({ blocks: 1, txs: 0, parent: node.blocks.get(404)! }))
  await until(() => second.report().newest?.number === 405)
  assert.ok(node.calls.length < 30, `${node.calls.length}`)
})
