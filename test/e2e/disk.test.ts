import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { main as generate } from '../../scripts/bench/generate.ts'
import { openAccounts } from '../../src/accounts/index.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { ruleBody } from '../support/rules.ts'
import {
  after,
  chainsieve,
  connect,
  type Program,
  type Server,
  serve,
  start,
  succeed,
  tempFolder,
  until,
  untilIs,
  writePack,
} from './program.ts'

const NETWORK = 'ethereum/test/net'
const fault = (err: string) => err.split('\n').filter(line => line.startsWith('chainsieve: '))

/** Makes a small disk of its own, or says why that cannot be done here. */
const mount = (t: TestContext, options: string): string | undefined => {
  const folder = join(tempFolder(t), 'disk')
  mkdirSync(folder)
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], {
    encoding: 'utf8',
  })
  if (status !== 0) {
    t.skip(`no disk can be mounted here: ${error?.message ?? stderr.trim()}`)
    return undefined
  }
  after(t, () => spawnSync('umount', ['-l', folder]))
  return folder
}

test('a full disk: the import says so and waits, and goes on when there is room again; nothing is lost', async t => {
  const disk = mount(t, 'size=24m')
  if (disk === undefined) return
  const data = join(disk, 'data')
  const pack = join(tempFolder(t), 'pack.ndjson')
  await generate(['--blocks', '60', '--seed', '3', '--out', pack])
  mkdirSync(data)
  // What others have put on the disk.
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(20 << 20))

  const args = ['import', '--network', NETWORK, '--store-batch', '8', pack]
  const importing = start(t, args, { data })
  await importing.says(
    /warn +Cannot write now, will retry .*the disk of the data folder is full: free some space, and indexing continues by itself/,
  )
  // What is stored can be searched meanwhile, and it is told by the status.
  const some = JSON.parse(await succeed(t, ['search', NETWORK, 'block', '{"size":0}'], { data }))
  assert.ok(some.hits.total < 60)
  rmSync(ballast)
  await importing.says(/Writes again/)
  const { code, out, err } = await importing.ended
  assert.equal(code, 0, err)
  assert.match(out, /added 60 blocks/)

  const whole = join(tempFolder(t), 'data')
  await succeed(t, ['import', '--network', NETWORK, pack], { data: whole })
  for (const entity of ['block', 'tx', 'log', 'event']) {
    const query = ['search', NETWORK, entity, '{"size":-1,"sort":"_doc"}']
    const [ours, theirs] = await Promise.all([succeed(t, query, { data }), succeed(t, query, { data: whole })])
    const hits = (text: string) => JSON.parse(text).hits
    assert.deepEqual(hits(ours), hits(theirs), entity)
  }
})

test('a full disk: who does not want to wait can stop', async t => {
  const disk = mount(t, 'size=24m')
  if (disk === undefined) return
  const data = join(disk, 'data')
  const pack = join(tempFolder(t), 'pack.ndjson')
  await generate(['--blocks', '40', '--seed', '3', '--out', pack])
  const { bsize, bavail } = statfsSync(disk)
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bsize * bavail - (3 << 20)))
  const importing = start(t, ['import', '--network', NETWORK, '--store-batch', '8', pack], { data })
  await importing.says(/Cannot write now/)
  importing.signal('SIGTERM')
  // It ends although the disk stays full.
  const { code, err } = await importing.ended
  assert.equal(code, 1)
  assert.deepEqual(fault(err), [
    'chainsieve: the disk of the data folder is full: free some space, and indexing continues by itself',
  ])
  rmSync(join(disk, 'ballast'))
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  assert.equal(JSON.parse(await succeed(t, ['search', NETWORK, 'block', '{"size":0}'], { data })).hits.total, 40)
})

test('a full disk: a rule that cannot be stored is refused with the reason, tokens can be revoked, and expire', async t => {
  const disk = mount(t, 'size=24m')
  if (disk === undefined) return
  const data = join(disk, 'data')
  await succeed(t, ['import', '--network', NETWORK, writePack(join(tempFolder(t), 'p'), makeChain({ blocks: 3 }))], {
    data,
  })
  const server = await serve(t, data)
  await succeed(t, ['token', 'create', '--account', 'other'], { data })
  const accounts = openAccounts(data)
  const expiring = accounts.createToken('other', { expiresIn: 4_000 })
  accounts.close()
  const statusFor = async (token: string) =>
    (await fetch(`${server.url}/`, { headers: { authorization: `Bearer ${token}` } })).status
  assert.equal(await statusFor(expiring), 200)

  const fill = () => {
    const { bsize, bavail } = statfsSync(disk)
    try {
      writeFileSync(join(disk, `ballast-${Math.random()}`), Buffer.alloc(bsize * bavail))
    } catch (error) {
      // The server wrote meanwhile: then the disk is full all the same.
      assert.match(String(error), /ENOSPC/)
    }
  }
  fill()
  const rule = { ...ruleBody({ network: 'net', blockchain: 'test' }), note: 'x'.repeat(100_000) }
  let answer = await server.ask<{ error: { type: string; reason: string } }>('/alerting/rules/', rule)
  // Some room may be left in what SQLite has written before.
  for (let i = 0; i < 200 && answer.status === 201; i++) answer = await server.ask('/alerting/rules/', rule)
  assert.deepEqual([answer.status, answer.body.error.type], [507, 'disk_full'])
  assert.match(answer.body.error.reason, /^The disk of the server is full, and nothing was stored: /)

  for (const id of ['1', '2']) {
    fill()
    await succeed(t, ['token', 'revoke', id], { data })
  }
  await untilIs(() => statusFor(server.token), 401)
  await untilIs(() => statusFor(expiring), 401)
  assert.equal((await fetch(`${server.url}/health`)).status, 200)
  server.signal('SIGTERM')
  assert.equal((await server.ended).code, 0)
  // Without a server, too: SQLite needs some room to open the file.
  fill()
  await succeed(t, ['token', 'revoke', '3'], { data })
  const after = openAccounts(data)
  assert.deepEqual(
    after.list().map(({ revokedAt }) => revokedAt !== null),
    [true, true, true],
  )
  after.close()
})

test('a full disk: a server that was killed starts and answers searches, and indexes again when there is room', async t => {
  const disk = mount(t, 'size=8m')
  if (disk === undefined) return
  const data = join(disk, 'data')
  const chain = makeChain({ blocks: 2_000, txs: 8, logs: 4 })
  const node = await startNode(t, chain.slice(0, 60))
  const args = [
    '--network',
    NETWORK,
    '--rpc',
    node.url,
    '--poll-interval',
    '200ms',
    '--from',
    '0',
    '--keep-blocks',
    '1000000',
  ]
  /** To the last byte, whatever the server still writes. */
  const fill = () => {
    for (let size = 1 << 20; size > 0; size >>= 1)
      try {
        for (;;) writeFileSync(join(disk, `ballast-${Math.random()}`), Buffer.alloc(size))
      } catch (error) {
        assert.match(String(error), /ENOSPC/)
      }
  }
  const first = await serve(t, data, args)
  const { token } = first
  await untilIs(() => first.total(NETWORK, 'block'), 60)
  node.extend(chain)
  await first.says(/Cannot write now/)
  const restart = async (server: Program, signal: NodeJS.Signals): Promise<Server> => {
    fill()
    server.signal(signal)
    await server.ended
    fill()
    const next = await connect(start(t, ['serve', '--port', '0', ...args], { data }), token)
    // A machine that has much to do answers 429 at first.
    await until(
      () => next.total(NETWORK, 'block').catch(() => 0),
      some => some >= 60 && some < 2_000,
      next.err,
    )
    return next
  }
  let server = await restart(first, 'SIGKILL')
  const isFull = async () => {
    const ready = await fetch(`${server.url}/ready`)
    const { reasons } = (await ready.json()) as { reasons: { type: string; network: string }[] }
    return [ready.status, reasons.map(({ type, network }) => `${type} ${network}`)]
  }
  const expected = [503, [`disk_full ${NETWORK}`]]
  await until(isFull, found => JSON.stringify(found) === JSON.stringify(expected), server.err)
  assert.match(server.err(), /disk.*free some space/)
  // A block that still fits into the log makes the server ready until the next does not.
  await until(
    () => succeed(t, ['status'], { data }),
    text => /disk_full since .*the disk is full/.test(text),
  )
  server = await restart(server, 'SIGTERM')
  await until(isFull, found => JSON.stringify(found) === JSON.stringify(expected), server.err)
  // Again, with nothing left of the room that is kept for this.
  rmSync(join(data, 'accounts.reserve'))
  server = await restart(server, 'SIGKILL')
  for (const name of readdirSync(disk)) if (name.startsWith('ballast')) rmSync(join(disk, name))
  spawnSync('mount', ['-o', 'remount,size=100m', disk])
  await untilIs(() => server.total(NETWORK, 'block'), 2_000, server.err)
  assert.equal((await fetch(`${server.url}/ready`)).status, 200)
})

test('a disk that is full from the start', async t => {
  const disk = mount(t, 'size=1m')
  if (disk === undefined) return
  const pack = writePack(join(tempFolder(t), 'pack.ndjson'), makeChain({ blocks: 3 }))
  const { bsize, bavail } = statfsSync(disk)
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bsize * bavail))
  const { code, err } = await chainsieve(t, ['import', '--network', NETWORK, pack], { data: join(disk, 'data') })
  assert.equal(code, 1)
  assert.equal(fault(err).length, 1, err)
  assert.match(
    fault(err)[0]!,
    /^chainsieve: (the data folder .* (cannot be created|cannot be written to) \(.*\): |.*: database or disk is full: free some)/,
  )
})

test('a data folder that may not be written to', async t => {
  const disk = mount(t, 'size=24m')
  if (disk === undefined) return
  const data = join(disk, 'data')
  const pack = writePack(join(tempFolder(t), 'pack.ndjson'), makeChain({ blocks: 12 }))
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  spawnSync('mount', ['-o', 'remount,ro', disk])
  for (const args of [
    ['import', '--network', NETWORK, pack],
    ['serve', '--port', '0'],
  ]) {
    const { code, err } = await chainsieve(t, args, { data })
    assert.equal(code, 1)
    assert.equal(fault(err).length, 1, err)
    assert.match(
      fault(err)[0]!,
      /^chainsieve: the data folder .* cannot be written to \(.*\): check its owner and permissions, or choose another with --data$/,
    )
  }
  const made = await chainsieve(t, ['token', 'create', '--account', 'a'], { data })
  assert.equal(made.code, 1)
  assert.equal(fault(made.err).length, 1, made.err)
  assert.doesNotMatch(made.err, /fault of Chainsieve/)
  const absent = await chainsieve(t, ['import', '--network', NETWORK, pack], { data: join(disk, 'absent') })
  assert.match(
    fault(absent.err)[0]!,
    /^chainsieve: the data folder .*absent cannot be created \(.*\): choose another with --data$/,
  )
  // Reading needs no more than reading.
  assert.equal(JSON.parse(await succeed(t, ['search', NETWORK, 'block', '{"size":0}'], { data })).hits.total, 12)
  assert.match(await succeed(t, ['status'], { data }), /blocks +0-11 \(12 blocks\)/)
})

/** Runs a program as somebody who owns nothing; undefined where this user may not do that. */
const asNobody = ((): string[] | undefined => {
  const by = ['setpriv', '--reuid', '65534', '--clear-groups', '--']
  return spawnSync(by[0]!, [...by.slice(1), process.execPath, '--version']).status === 0 ? by : undefined
})()

test('a data folder of somebody else', {
  skip: asNobody === undefined && 'cannot become another user here',
}, async t => {
  const folder = tempFolder(t)
  chmodSync(folder, 0o755)
  const data = join(folder, 'data')
  const pack = writePack(join(folder, 'pack.ndjson'), makeChain({ blocks: 12 }))
  await succeed(t, ['import', '--network', NETWORK, pack], { data })
  const store = join(data, 'networks', 'ethereum~test~net.sqlite')
  for (const file of [`${store}-wal`, `${store}-shm`]) rmSync(file, { force: true })
  // Its owner lets others read it.
  spawnSync('chmod', ['-R', 'a+rX', data])
  const said = async (...args: string[]) => {
    const { code, err } = await chainsieve(t, args, { data, by: asNobody! })
    assert.equal(code, 1, err)
    assert.equal(fault(err).length, 1, err)
    return fault(err)[0]!.slice('chainsieve: '.length)
  }
  const search = ['search', NETWORK, 'block']
  assert.equal(
    await said('import', '--network', NETWORK, pack),
    `the data folder ${data} cannot be written to (EACCES: permission denied, open '${data}/lock.json'): check its owner and permissions, or choose another with --data`,
  )
  assert.equal(
    await said(...search),
    `the store ${store} cannot be opened (attempt to write a readonly database): readers also need permission to write to its folder, where SQLite keeps the index of its log`,
  )
  chmodSync(data, 0o700)
  for (const args of [search, ['status']])
    assert.equal(
      await said(...args),
      `EACCES: permission denied, scandir '${data}/networks': check its owner and permissions`,
    )
  assert.equal(
    await said('import', '--network', NETWORK, pack),
    `the data folder ${data} cannot be written to (EACCES: permission denied, open '${data}/lock.sqlite'): check its owner and permissions, or choose another with --data`,
  )
})

test('stores that cannot be used: of a newer version, unfinished, damaged', async t => {
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const pack = writePack(join(folder, 'pack.ndjson'), makeChain({ blocks: 12 }))
  const args = { import: ['import', '--network', NETWORK, pack], search: ['search', NETWORK, 'block', '{"size":0}'] }
  const store = join(data, 'networks', 'ethereum~test~net.sqlite')
  const said = async (args: string[]) => {
    const { code, err } = await chainsieve(t, args, { data })
    assert.equal(code, 1, err)
    assert.equal(fault(err).length, 1, err)
    return fault(err)[0]!.slice('chainsieve: '.length)
  }
  await succeed(t, args.import, { data })
  const db = new Database(store)
  const version = db.pragma('user_version', { simple: true }) as number
  db.pragma(`user_version = ${version + 1}`)
  db.close()
  rmSync(`${store}-sums`)
  const newer = `${store} was written by a newer version of Chainsieve (store version ${version + 1}, this one knows ${version}): run that version, or index into another data folder`
  for (const command of [args.import, args.search, ['serve', '--port', '0']]) assert.equal(await said(command), newer)
  assert.ok((await succeed(t, ['status'], { data })).includes(newer))

  // As a kill between its making and its first transaction leaves it.
  writeFileSync(store, '')
  assert.equal(await said(args.search), `${store} is not a store yet: chainsieve serve, index or import creates it`)
  await succeed(t, args.import, { data })
  assert.equal(JSON.parse(await succeed(t, args.search, { data })).hits.total, 12)

  writeFileSync(store, 'This is no database at all. '.repeat(1000))
  for (const command of [args.import, args.search])
    assert.ok((await said(command)).startsWith(`${store} is damaged (page 1`))
})
