import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext, test } from 'node:test'
import { storeFile } from '../../src/engine/files.ts'
import { sumsFile } from '../../src/sqlite/checksums.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'
import { chainsieve, after as end, pause, serve, tempFolder, until, untilIs } from './program.ts'

const PAGE = 4096
const [WHOLE, BAD] = ['ethereum/test/whole', 'ethereum/test/bad']

/** Made once, and copied for each test. */
const template = mkdtempSync(join(tmpdir(), 'chainsieve-test-'))
before(() => {
  mkdirSync(join(template, 'networks'))
  for (const [i, network] of [WHOLE, BAD].entries())
    createTestStore(demoBlocks().slice(0, 20 + 10 * i), { path: storeFile(template, network) }).close()
})
after(() => rmSync(template, { recursive: true }))

const place = async (t: TestContext) => {
  const data = await tempFolder(t)
  cpSync(template, data, { recursive: true })
  return { data, bad: storeFile(data, BAD), whole: storeFile(data, WHOLE) }
}

const flip = (path: string, page: number) => {
  const bytes = readFileSync(path)
  bytes[(page - 1) * PAGE + 200]! ^= 1
  writeFileSync(path, bytes)
}

const INJURIES: Record<string, (path: string) => void> = {
  'has 0 bytes': path => truncateSync(path),
  'is missing': path => rmSync(path),
  'lacks its last page': path => truncateSync(path, statSync(path).size - PAGE),
  'is cut in half': path => truncateSync(path, statSync(path).size >> 1),
  'has a flipped bit in its last page': path => flip(path, statSync(path).size / PAGE),
  'has a garbled first page': path => writeFileSync(path, readFileSync(path).fill('x', 0, PAGE)),
  'is a folder': path => {
    rmSync(path)
    mkdirSync(path)
  },
  'is the file of another': path => {
    for (const suffix of ['', '-sums']) copyFileSync(path.replace('~bad', '~whole') + suffix, path + suffix)
  },
  'is the file of another, without checksums': path => {
    copyFileSync(path.replace('~bad', '~whole'), path)
    rmSync(sumsFile(path))
  },
  'has a folder for its checksums': path => {
    rmSync(sumsFile(path))
    mkdirSync(sumsFile(path))
  },
}

describe('a server with a damaged network', () => {
  for (const [how, injure] of Object.entries(INJURIES))
    it(`that ${how} serves the others, and says so`, async t => {
      const { data, bad } = await place(t)
      injure(bad)
      const server = await serve(t, data)
      assert.equal(await server.total(WHOLE, 'block'), 20)
      const { status, body } = await server.ask<{ error: { type: string; reason: string } }>(
        `/${BAD}/es/block/search`,
        {},
      )
      assert.equal(status, 500)
      assert.equal(body.error.type, 'store_damaged')
      assert.match(body.error.reason, /restore a backup/)
      const { networks, reasons } = await server.status()
      assert.deepEqual(
        networks.map(({ network, store }) => [network, store]),
        [
          [BAD, 'damaged'],
          [WHOLE, undefined],
        ],
      )
      assert.match(networks[0]!.error!, /is damaged/)
      assert.deepEqual(
        reasons?.map(({ type, network }) => [type, network]),
        [['store_damaged', BAD]],
      )
      assert.equal((await fetch(`${server.url}/ready`)).status, 503)
      assert.match(server.err(), /network=ethereum\/test\/bad/)
      server.signal('SIGTERM')
      assert.equal((await server.ended).code, 0)
      const doctor = await chainsieve(t, ['doctor'], { data })
      assert.match(doctor.out, /ethereum\/test\/bad.*damaged/)
    })
})

describe('a server', () => {
  const FOLLOWED = 'ethereum/test/net'
  const removals: Record<string, (store: string) => void> = {
    'removed with all that belongs to it': store => {
      for (const suffix of ['', '-wal', '-shm', '-sums']) rmSync(store + suffix, { force: true })
    },
    'replaced by a copy': store => {
      copyFileSync(store, `${store}-copy`)
      renameSync(`${store}-copy`, store)
    },
    'robbed of its log': store => rmSync(`${store}-wal`),
  }
  for (const [how, remove] of Object.entries(removals))
    it(`whose file is ${how} stores nothing more, says so, and goes on after a restart`, async t => {
      const { data } = await place(t)
      const chain = makeChain({ blocks: 60 })
      const node = await startNode({ after: fn => end(t, fn) }, chain.slice(0, 30))
      const args = ['--network', FOLLOWED, '--rpc', node.url, '--poll-interval', '100ms']
      const server = await serve(t, data, args)
      const stored = async (of = server) => (await of.status()).networks.find(one => one.network === FOLLOWED)!
      await until(stored, ({ lastBlock, state }) => lastBlock?.number === 29 && state === 'following')
      remove(storeFile(data, FOLLOWED))
      const isLog = how.includes('log')
      const lost = await until(stored, ({ state, store }) => state === 'stopped' && (store === 'damaged' || isLog))
      assert.match(lost.error!, /it was (removed|replaced) while the program had it open.*Restart/)
      const { reasons } = await server.status()
      assert.ok(reasons!.some(({ type, network }) => type === 'network_stopped' && network === FOLLOWED))
      assert.equal((await fetch(`${server.url}/ready`)).status, 503)
      if (!isLog) assert.equal((await server.ask(`/${FOLLOWED}/es/block/search`, {})).status, 500)
      assert.equal(await server.total(WHOLE, 'block'), 20)
      node.extend(chain.slice(30))
      server.signal('SIGTERM')
      await server.ended

      const again = await serve(t, data, args)
      // The head is stored first, and what is missing below it afterwards.
      await untilIs(() => again.total(FOLLOWED, 'block'), 60)
      again.signal('SIGTERM')
      assert.equal((await again.ended).code, 0)
      const { code, out, err } = await chainsieve(t, ['verify', '--deep'], { data })
      assert.equal(code, 0, out + err)
    })
})

test('what a damaged log loses after a kill is told, and indexed again', async t => {
  const { data } = await place(t)
  const network = 'ethereum/test/net'
  // Fewer than what has the log copied.
  const chain = makeChain({ blocks: 40 })
  const node = await startNode({ after: fn => end(t, fn) }, chain.slice(0, 10))
  const args = ['--network', network, '--rpc', node.url, '--poll-interval', '50ms']
  const server = await serve(t, data, args)
  const stored = async (of = server) => (await of.status()).networks.find(one => one.network === network)!
  for (let head = 10; head <= 40; head += 10) {
    node.extend(chain.slice(0, head))
    await until(stored, ({ lastBlock, lag }) => lastBlock?.number === head - 1 && lag === 0)
  }
  // The status is written down once a second.
  await pause(2_500)
  server.signal('SIGKILL')
  await server.ended
  const log = `${storeFile(data, network)}-wal`
  const bytes = readFileSync(log)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(log, bytes)
  const doctor = await chainsieve(t, ['doctor'], { data })
  assert.match(doctor.out, /-wal is damaged: \d+ transactions behind the damage/)

  const again = await serve(t, data, args)
  const [, blocks] = await again.says(
    /The log of a store is damaged.*network=ethereum\/test\/net transactions=\d+ blocks=(\d+)/,
  )
  assert.ok(Number(blocks) > 0 && Number(blocks) < 40)
  const { logLoss } = await until(
    () => stored(again),
    ({ lag, lastBlock }) => lastBlock?.number === 39 && lag === 0,
  )
  assert.equal(logLoss!.blocks, Number(blocks))
  assert.ok(logLoss!.transactions > 0)
  assert.equal(await again.total(network, 'block'), 40)
  assert.match((await chainsieve(t, ['status'], { data })).out, /lost +at the start, its log was damaged/)
  again.signal('SIGTERM')
  assert.equal((await again.ended).code, 0)
  const third = await serve(t, data, args)
  assert.equal((await stored(third)).logLoss, undefined)
})
