import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createAbiShelf } from '../../../src/app/manage/abi-store.ts'
import { createStorage } from '../../../src/app/manage/storage.ts'
import { createRateSampler, createRedecodings } from '../../../src/app/manage.ts'
import type { Stats } from '../../../src/engine/stats.ts'
import type { NewAbi } from '../../../src/http/manage/routes.ts'
import { readStoredAbis, storeAbiFiles } from '../../../src/ingest/decoding/abi-files.ts'
import { NO_REPORT, type RedecodingReport } from '../../../src/ingest/messages.ts'
import { isStopped, noteProgress, openRedecodings } from '../../../src/ingest/requests.ts'
import type { NetworkState } from '../../../src/ingest/status/status.ts'
import { silent } from '../../../src/lib/log.ts'

const folderOf = (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-manage-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const EVENT = { type: 'event', name: 'Moored', inputs: [{ name: 'ship', type: 'address', indexed: true }] }
const CALL = { type: 'function', name: 'moor', inputs: [], outputs: [] }
const ADDRESS = `0x${'ab'.repeat(20)}`
const newAbi = (over: Partial<NewAbi> = {}): NewAbi => ({
  ...{ text: JSON.stringify([EVENT, CALL]), place: 'The body', name: 'Harbour' },
  ...{ network: null, address: null, codeHash: null },
  ...over,
})

test('an ABI is added, listed, shown and removed, as the command line sees it too', async t => {
  const folder = folderOf(t)
  const shelf = createAbiShelf(folder)
  assert.deepEqual(await shelf.list({}), [])
  const [added] = await shelf.add([newAbi({ network: 'a/b/c', address: ADDRESS.toUpperCase().replace('0X', '0x') })])
  const { id, addedAt, bytes, ...rest } = added!
  assert.match(id, /^[0-9a-f]{16}$/)
  assert.ok(Math.abs(Date.parse(addedAt) - Date.now()) < 60_000 && bytes > 100)
  assert.deepEqual(rest, {
    ...{ name: 'Harbour', network: 'a/b/c', address: ADDRESS, codeHash: null, probability: 1 },
    ...{ events: 1, functions: 1, errors: 0 },
  })
  assert.deepEqual(await shelf.list({}), [added])
  assert.deepEqual(await shelf.get(id), { ...added, abi: [EVENT, CALL] })
  assert.equal(readStoredAbis(folder)[0]!.name, 'Harbour')
  assert.deepEqual(await shelf.add([newAbi({ network: 'a/b/c', address: ADDRESS })]), [added])

  const file = join(folderOf(t), 'Other.json')
  writeFileSync(file, JSON.stringify([CALL]))
  storeAbiFiles(folder, [file], { network: null, address: null })
  assert.deepEqual(
    (await shelf.list({})).map(({ name }) => name),
    ['Harbour', 'Other'],
  )
  assert.deepEqual(
    (await shelf.list({ network: 'x/y/z' })).map(({ name }) => name),
    ['Other'],
  )
  assert.deepEqual(await shelf.list({ address: ADDRESS }), [added])
  assert.equal(shelf.remove(id), true)
  assert.equal(shelf.remove(id), false)
  assert.equal(await shelf.info(id), undefined)
  assert.equal(await shelf.get(id), undefined)
})

test('where one ABI is bad none is kept, and the error names its place', async t => {
  const folder = folderOf(t)
  const shelf = createAbiShelf(folder)
  await assert.rejects(
    shelf.add([newAbi(), newAbi({ text: '{"abi": 5}', place: 'abis[1]' })]),
    /abis\[1\]: abi is 5, not an array of entries/,
  )
  assert.deepEqual(readdirSync(folder), [])
})

test('of a very long list of signatures the beginning is told', async t => {
  const folder = folderOf(t)
  const abi = { name: 'Long', address: null, network: 'a/b/c', probability: 0.4 }
  const events = Array.from({ length: 60_000 }, () => EVENT)
  writeFileSync(join(folder, '0123456789abcdef.json'), JSON.stringify({ ...abi, events, functions: [] }, undefined, 2))
  const [info] = await createAbiShelf(folder).list({})
  const { name, network, probability, events: count, functions } = info!
  assert.deepEqual([name, network, probability, count, functions], ['Long', 'a/b/c', 0.4, null, null])
  await assert.rejects(createAbiShelf(folder).get('0123456789abcdef'), /is shown up to 4194304/)
})

test('decoding again is asked for, told and stopped', async t => {
  const [abis, folder] = [folderOf(t), folderOf(t)]
  const shelf = createAbiShelf(abis)
  const [{ id: any } = { id: '' }] = await shelf.add([newAbi()])
  const [{ id: bound } = { id: '' }] = await shelf.add([newAbi({ name: 'Bound', network: 'a/b/c', address: ADDRESS })])
  let report: RedecodingReport | null = null
  const redecodings = createRedecodings({
    ...{ folder, shelf, stored: () => ['a/b/c', 'd/e/f'] },
    indexingOf: () => ({ report: () => ({ ...NO_REPORT, redecoding: report }) }),
  })
  const brief = async () =>
    (await redecodings.list()).map(({ network, name, state, nextBlock, blocksLeft }) => ({
      ...{ network, name, state, nextBlock, blocksLeft },
    }))
  const waiting = { state: 'waiting', nextBlock: null, blocksLeft: null }
  assert.equal((await redecodings.start([any, bound], undefined)).length, 3)
  assert.deepEqual(
    (await brief()).toSorted((a, b) => (`${a.name}${a.network}` < `${b.name}${b.network}` ? -1 : 1)),
    [
      { network: 'a/b/c', name: 'Bound', ...waiting },
      { network: 'a/b/c', name: 'Harbour', ...waiting },
      { network: 'd/e/f', name: 'Harbour', ...waiting },
    ],
  )
  await assert.rejects(redecodings.start(['0123456789abcdef'], undefined), /There is no ABI 0123456789abcdef/)
  await assert.rejects(redecodings.start(['../../etc'], undefined), /There is no ABI/)

  const [first] = openRedecodings(folder, 'a/b/c')
  noteProgress(first!, 700)
  report = { abi: 'Harbour', blocksLeft: 701 }
  const running = (await redecodings.list()).find(({ network, state }) => network === 'a/b/c' && state === 'running')!
  assert.deepEqual([running.nextBlock, running.blocksLeft], [700, 701])
  assert.equal((await redecodings.stop(running.id))!.state, 'stopping')
  assert.ok(isStopped(first!))
  assert.equal((await redecodings.list()).find(({ id }) => id === running.id)!.state, 'stopping')
  const [other] = (await redecodings.list()).filter(({ network, id }) => network === 'a/b/c' && id !== running.id)
  assert.equal((await redecodings.stop(other!.id))!.state, 'stopping')
  assert.ok(!(await redecodings.list()).some(({ id }) => id === other!.id))
  assert.equal(await redecodings.stop('nothing'), undefined)
})

test('a store is measured once in a while, for all who ask', async () => {
  let [measured, failing] = [0, false]
  const stats: Stats = {
    ...{ bytes: 9, log: 1, free: 2, parts: [] },
    ranges: [
      { from: 0, to: 4 },
      { from: 7, to: 9 },
    ],
  }
  const storage = createStorage(
    network => `/data/${network}`,
    async store => {
      assert.equal(store, '/data/a/b/c')
      measured++
      if (failing) throw new Error('no pages')
      return stats
    },
  )
  const [one, two] = await Promise.all([storage('a/b/c'), storage('a/b/c')])
  assert.deepEqual(one, two)
  assert.deepEqual([one.state, one.error, measured], ['measured', null, 1])
  assert.deepEqual(one.storage, { ...stats, gaps: [{ from: 5, to: 6 }] })
  assert.deepEqual(await storage('a/b/c'), one)
  assert.equal(measured, 1)
  failing = true
  const broken = createStorage(String, async () => {
    throw new Error('no pages')
  })
  const { state, error, storage: nothing } = await broken('x')
  assert.deepEqual([state, error, nothing], ['failed', 'no pages', null])
})

test('an hour of rates is kept, of networks that are there', async t => {
  const network = (name: string) =>
    ({
      ...{ network: name, head: 12, lag: 2, ranges: [{ from: 0, to: 10 }] },
      ...{ blocksPerSecond: 3, eventsPerSecond: null, secondsLeft: 1 },
    }) as NetworkState
  let networks = [network('a/b/c'), network('d/e/f')]
  const rates = createRateSampler(async () => ({ version: '0', networks }), silent)
  t.after(rates.stop)
  for (let n = 0; n < 400; n++) await rates.take()
  const [first, second] = rates.of(undefined).networks
  assert.deepEqual([first!.samples.length, second!.network], [360, 'd/e/f'])
  const { at: _, ...sample } = first!.samples[0]!
  assert.deepEqual(sample, {
    ...{ head: 12, top: 10, lag: 2 },
    ...{ blocksPerSecond: 3, eventsPerSecond: null, secondsLeft: 1 },
  })
  assert.deepEqual(
    rates.of('d/e/f').networks.map(it => it.network),
    ['d/e/f'],
  )
  networks = [network('a/b/c')]
  await rates.take()
  assert.deepEqual(
    rates.of(undefined).networks.map(it => it.network),
    ['a/b/c'],
  )
})
