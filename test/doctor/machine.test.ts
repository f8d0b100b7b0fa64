import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { diagnose } from '../../src/doctor/index.ts'
import { checkClock, checkDisk, checkModes, parseMounts } from '../../src/doctor/machine.ts'
import { checkStores } from '../../src/doctor/store.ts'
import { makeStoreFolder, storeFile } from '../../src/engine/files.ts'
import { openForWriting } from '../../src/engine/open.ts'
import { createLocationWriter } from '../../src/engine/shipping/document-location.ts'
import { chainsieve } from '../app/cli/support.ts'
import { configOf, linesOf, MAINNET, type Test, tempFolder } from './support.ts'

const stored = (t: Test) => {
  const data = tempFolder(t)
  makeStoreFolder(data)
  const db = openForWriting(storeFile(data, MAINNET))
  db.exec(
    'CREATE TABLE more (a); INSERT INTO more WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT randomblob(2000) FROM n',
  )
  db.close()
  return { data, file: storeFile(data, MAINNET) }
}

test('a store that is whole is told so, and one whose end is damaged fails', async t => {
  const { data, file } = stored(t)
  assert.match(
    (await linesOf(checkStores({ data, networks: [] })))[0]!,
    /^ok store: [\d.]+ MB, no block yet; its newest pages are as/,
  )
  const bytes = readFileSync(file)
  bytes[bytes.length - 2_000]! ^= 1
  writeFileSync(file, bytes)
  assert.match(
    (await linesOf(checkStores({ data, networks: [] })))[0]!,
    /^fail store: .*: 1 of the newest pages are damaged$/,
  )
})

test('a store of a newer version fails, one without checksums is warned of, and no store is fine', async t => {
  const { data, file } = stored(t)
  rmSync(`${file}-sums`)
  assert.match((await linesOf(checkStores({ data, networks: [] })))[0]!, /^warn store: .*; it has no checksums/)
  const bytes = readFileSync(file)
  bytes.writeUInt32BE(9_999, 60)
  writeFileSync(file, bytes)
  const [finding] = [...checkStores({ data, networks: [] })]
  assert.match(finding!.found, /was written by a newer version of Chainsieve/)
  assert.deepEqual([finding!.state, finding!.remedy], ['fail', 'Run that version, or index into another data folder.'])
  bytes.writeUInt32BE(1, 60)
  writeFileSync(file, bytes)
  const [older] = [...checkStores({ data, networks: [] })]
  assert.match(older!.found, /was written by an older version of Chainsieve, in a layout that this version cannot read/)
  assert.match(older!.remedy!, /^Move the file away, .* index the chain again\.$/)
  rmSync(file)
  mkdirSync(file)
  const [folder] = [...checkStores({ data, networks: [] })]
  assert.match(folder!.found, /\.sqlite is damaged: there is a folder in its place$/)
  assert.deepEqual(await linesOf(checkStores({ data: tempFolder(t), networks: [] })), [
    'ok store: no blocks are stored yet',
  ])
})

test('a store whose documents lie in a cluster fails where no setting names the cluster', t => {
  const { data, file } = stored(t)
  const db = openForWriting(file)
  db.transaction(() => createLocationWriter(db).move()).immediate()
  db.close()
  const networks = (...stores: object[]) => stores.flatMap(flags => configOf({ network: MAINNET, ...flags }).networks)
  const cluster = { store: 'opensearch', opensearchUrl: ['http://127.0.0.1:9200'] }
  const found = [networks(), networks({}), networks(cluster)].map(
    some => [...checkStores({ data, networks: some })][0]!,
  )
  assert.deepEqual(
    found.map(({ state }) => state),
    ['fail', 'fail', 'ok'],
  )
  assert.equal(found[0]!.found, 'its documents are in an OpenSearch cluster, which no setting names')
})

test('an accounts file that is none fails', async t => {
  const data = tempFolder(t)
  openAccounts(data).close()
  const [name] = readdirSync(data).filter(it => it.endsWith('.sqlite'))
  assert.match((await linesOf(checkStores({ data, networks: [] }))).join('\n'), /^ok store: no fault was found$/m)
  writeFileSync(join(data, name!), Buffer.alloc(8192, 7))
  assert.match((await linesOf(checkStores({ data, networks: [] }))).join('\n'), /^fail store: .*not a database/m)
})

test('the disk of a folder is measured, and nothing is left behind', async t => {
  const data = tempFolder(t)
  const lines = await linesOf(checkDisk({ data }))
  assert.match(lines[0]!, /^\w+ disk: [\d.]+ GB of [\d.]+ GB are free$/)
  assert.match(lines[1]!, /^\w+ disk: a write is on the disk within [\d.]+ ms$/)
  assert.deepEqual(readdirSync(data), [])
  const absent = join(data, 'a', 'b')
  assert.equal(
    (await linesOf(checkDisk({ data: absent }))).at(-1),
    'ok disk: does not exist yet; it is created when it is needed',
  )
  assert.ok(!existsSync(join(data, 'a')))
})

test('mounts as Linux tells them', () => {
  assert.deepEqual(parseMounts('/dev/sda1 / ext4 rw,relatime 0 0\nhost:/x /mnt/a\\040b nfs4 rw,noexec 0 0\n'), [
    { at: '/', type: 'ext4', options: ['rw', 'relatime'] },
    { at: '/mnt/a b', type: 'nfs4', options: ['rw', 'noexec'] },
  ])
})

test('files that others may open are told', async t => {
  const { data, file } = stored(t)
  const config = join(data, 'chainsieve.toml')
  writeFileSync(config, '', { mode: 0o600 })
  assert.deepEqual(await linesOf(checkModes({ data, file: config })), [
    'ok files: nobody else may open what is stored',
    'ok files: nobody else may open the config file',
  ])
  chmodSync(file, 0o644)
  chmodSync(config, 0o640)
  mkdirSync(join(data, 'open'))
  chmodSync(join(data, 'open'), 0o777)
  const lines = await linesOf(checkModes({ data, file: config }))
  assert.deepEqual(
    lines.map(line => line.replaceAll(data, 'DATA')),
    [
      'warn files: other users may open DATA/chainsieve.toml, DATA/networks/ethereum~ethereum~mainnet.sqlite',
      'warn files: other users may create files in DATA/open',
      'warn files: other users may open the config file (mode 640), which may hold keys of nodes and passwords',
    ],
  )
  assert.equal(statSync(file).mode & 0o777, 0o644)
})

test('a clock that is behind a block fails', async t => {
  const data = tempFolder(t)
  const now = Date.now()
  const watch = { startedAt: now, started: performance.now() }
  const head = (ahead: number) => [{ node: 'http://node', time: now / 1_000 + ahead, at: now }]
  assert.deepEqual(await linesOf(checkClock({ data }, { ...watch, heads: [] })), [
    'ok clock: there is no block to compare it with',
  ])
  assert.deepEqual(await linesOf(checkClock({ data }, { ...watch, heads: head(-5) })), [
    'ok clock: no block is ahead of it',
  ])
  assert.match(
    (await linesOf(checkClock({ data }, { ...watch, heads: head(60) })))[0]!,
    /^fail clock: the newest block of http:\/\/node is 60.0 s ahead of it/,
  )
  const [jumped] = await linesOf(checkClock({ data }, { ...watch, startedAt: now - 10_000, heads: [] }))
  assert.match(jumped!, /^warn clock: it jumped by 10.0 s/)
})

test('the command tells all, and ends with 1 where anything fails', async t => {
  const data = tempFolder(t)
  const doctor = (...args: string[]) =>
    chainsieve(['doctor', '--data', data, ...args], {
      diagnose: (config, { shutdown }) => diagnose(config, shutdown.signal),
    })
  const good = await doctor()
  assert.equal(good.code, 0)
  assert.match(good.out, /^warn {2}node {5}nodes: none is configured/m)
  assert.match(good.out, /\d checks: 0 failed, \d warnings?\.\n$/)

  const bad = await doctor('--network', MAINNET, '--rpc', 'http://127.0.0.1:9/planted', '--json')
  assert.equal(bad.code, 1)
  const told = JSON.parse(bad.out)
  assert.equal(told.ok, false)
  assert.deepEqual(
    [...new Set(told.findings.map(({ check }: { check: string }) => check))],
    ['disk', 'files', 'store', 'node', 'clock', 'mail', 'webhook'],
  )
  assert.doesNotMatch(bad.out + bad.err, /planted/)
})
