import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { generateBlocks } from '../../scripts/bench/generate.ts'
import { pause, type Server, serve, start, tempFolder, writePack } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const chain = [...generateBlocks({ seed: 12, count: 70 })]
const first = Number(chain[0]!.block.number)

/** Runs a command to its end, killed a few times on its way. */
const runKilled = async (t: TestContext, args: readonly string[], data: string, kills = 2) => {
  let killed = 0
  for (let round = 0; round < kills; round++) {
    const program = start(t, args, { data })
    const ended = await Promise.race([program.ended, pause(300 + round * 600)])
    if (!ended) {
      killed++
      program.signal('SIGKILL')
    }
    await program.ended
  }
  // What a kill came too late for may have nothing left to do.
  const last = await start(t, args, { data }).ended
  t.diagnostic(`${args[0]}: killed ${killed} times`)
  assert.equal(last.code, 0, last.err)
  return last.out
}

const documents = async (server: Server) => {
  const all = []
  for (const kind of ['block', 'tx', 'log', 'event', 'contract', 'token'])
    all.push(...(await server.search(NETWORK, kind, { size: -1, sort: '_doc' })).hits.hits)
  return all
}

const served = async <T>(t: TestContext, data: string, work: (server: Server) => Promise<T>): Promise<T> => {
  const server = await serve(t, data)
  try {
    return await work(server)
  } finally {
    server.signal('SIGTERM')
    await server.ended
  }
}

test('a kill in the middle of backup, restore, prune and compact loses nothing', async t => {
  const folder = await tempFolder(t)
  const [data, backup, restored] = ['data', 'backup', 'restored'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const pack = writePack(join(folder, 'pack.ndjson'), chain)
  const imported = await start(t, ['import', '--network', NETWORK, pack], { data }).ended
  assert.equal(imported.code, 0, imported.err)

  const all = await served(t, data, async server => {
    await runKilled(t, ['backup', backup], data)
    return documents(server)
  })
  await runKilled(t, ['backup', backup], data)
  await runKilled(t, ['restore', backup, '--force'], restored)
  assert.deepEqual(await served(t, restored, documents), all)

  const limit = first + 20
  await runKilled(t, ['prune', '--network', NETWORK, '--before', String(limit)], restored)
  const left = await served(t, restored, documents)
  const isLeft = new Set(left.map(({ _id }) => _id))
  assert.deepEqual(
    left,
    all.filter(({ _id }) => isLeft.has(_id)),
  )
  await runKilled(t, ['compact'], restored)
  assert.deepEqual(await served(t, restored, documents), left)
  const verified = await start(t, ['verify', '--deep'], { data: restored }).ended
  assert.equal(verified.code, 0, verified.out + verified.err)
  assert.ok(!existsSync(join(restored, 'restoring')))
})
