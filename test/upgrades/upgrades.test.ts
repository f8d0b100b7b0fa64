import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { MIGRATIONS as ACCOUNTS } from '../../src/accounts/file.ts'
import { takeDataFolder } from '../../src/app/upgrade.ts'
import { verifyDataFolder } from '../../src/app/verify.ts'
import { loadConfig } from '../../src/config/index.ts'
import { DELIVERY_MIGRATIONS as DELIVERIES } from '../../src/delivery/ledger/migrations.ts'
import { storeFile } from '../../src/engine/files.ts'
import { mayMigrate } from '../../src/engine/open.ts'
import { SCHEMA_VERSION, STORE_MIGRATIONS } from '../../src/engine/schema.ts'
import { silent } from '../../src/lib/log.ts'
import { createShutdown } from '../../src/lib/shutdown.ts'
import { connect, start, tempFolder, until } from '../e2e/program.ts'
import { seeded } from '../support/logs.ts'
import { alertsOf, answersOf, type Fixture, layouts, NETWORK, readFixture, unpack, versionsIn } from './fixture.ts'

const NOW = [SCHEMA_VERSION, ACCOUNTS.length, DELIVERIES.length]
const leadsOn = mayMigrate

const verified = async (data: string) => {
  const shutdown = createShutdown({ log: silent })
  const progress = () => ({ update: () => {}, finish: () => {} })
  const config = loadConfig({ flags: { data }, env: {}, cwd: data })
  try {
    return await verifyDataFolder(config, undefined, true, { log: silent, shutdown, progress } as Parameters<
      typeof verifyDataFolder
    >[3])
  } finally {
    await shutdown.close()
  }
}

test('each layout that can be upgraded is tried', () => {
  const missing = [...STORE_MIGRATIONS.keys()].map(version => version - 1).filter(layout => !layouts().includes(layout))
  assert.deepEqual(
    missing,
    [],
    'node test/upgrades/make.ts FOLDER makes them, by the program in a checkout of that time',
  )
})

for (const layout of layouts().filter(leadsOn))
  test(`what layout ${layout} holds is answered as by the program that wrote it, and its deliveries go on`, async t => {
    const data = tempFolder(t)
    const fixture = readFixture(layout)
    unpack(data, fixture)
    const program = start(t, ['serve', '--port', '0', '--allow-target', '127.0.0.1/32'], { data })
    const server = await connect(program, fixture.token)
    // The first try of each start.
    await until(
      () => server.ask<Alerts>(alertsOf(2)),
      ({ body }) => triesIn(body) > triesIn(fixture.answers[alertsOf(2)] as Alerts),
    )
    assert.deepEqual(withoutTries(await answersOf(server)), withoutTries(fixture.answers))
    program.signal('SIGTERM')
    assert.equal((await program.ended).code, 0)
    assert.deepEqual(versionsIn(data), NOW)
    assert.deepEqual(
      (await verified(data)).flatMap(({ faults }) => faults),
      [],
    )
  })

interface Alerts {
  alerts: { deliveries: { id: number; alert: string; state: string; attempts: unknown[] }[] }[]
}
const triesIn = ({ alerts }: Alerts) =>
  alerts.flatMap(({ deliveries }) => deliveries).flatMap(({ attempts }) => attempts).length

/** Of what waits only that it waits. */
const withoutTries = (answers: Fixture['answers']) => ({
  ...answers,
  [alertsOf(2)]: (answers[alertsOf(2)] as Alerts).alerts.map(({ deliveries, ...alert }) => ({
    ...alert,
    deliveries: deliveries.map(({ id, alert, state }) => ({ id, alert, state })),
  })),
})

for (const layout of layouts().filter(layout => !leadsOn(layout)))
  test(`layout ${layout} is refused, and nothing is changed`, t => {
    const data = tempFolder(t)
    const fixture = readFixture(layout)
    unpack(data, fixture)
    assert.throws(() => takeDataFolder(data, 'serve', silent), { code: 'store_older' })
    for (const [name, content] of fixture.files) assert.deepEqual(readFileSync(join(data, name)), content, name)
  })

test('before an upgrade the pages of a store are verified, and nothing is called damaged', async t => {
  for (const layout of layouts().filter(layout => layout < SCHEMA_VERSION)) {
    const data = tempFolder(t)
    unpack(data, readFixture(layout))
    const [store, ...others] = await verified(data)
    assert.deepEqual([store!.faults, ...others.map(({ faults }) => faults)], [[], [], []])
    assert.match(store!.unread!, /was written by an older version/)

    // Layout 9 had no checksums.
    assert.equal(store!.unchecked, layout === 9)
    if (store!.unchecked) continue
    const bytes = readFileSync(store!.file)
    bytes[20_000]! ^= 1
    writeFileSync(store!.file, bytes)
    assert.match((await verified(data))[0]!.faults[0]!, /pages do not match their checksums: 5$/)
  }
})

/** Upgrades a data folder in a process that is killed by so many statements, of which it prints the number where it ends. */
const upgradeUntil = async (data: string, statement: number): Promise<number | undefined> => {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('killed.ts', import.meta.url)), data, String(statement)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let out = ''
  child.stdout.setEncoding('utf8').on('data', text => (out += text))
  const [code, signal] = await once(child, 'close')
  assert.ok(code === 0 || signal === 'SIGKILL')
  return signal === null ? Number(out) : undefined
}

/** `CASES` kills, at each statement in turn where there are more of them. */
test('a kill on the way leaves each file old or new, and the next start completes it', async t => {
  const fixture = readFixture(10)
  const folders = tempFolder(t)
  const fresh = (name: string) => {
    const data = join(folders, name)
    unpack(data, fixture)
    return data
  }
  const rowsIn = (data: string) =>
    ['accounts', 'deliveries'].map(name => {
      const db = new Database(join(data, `${name}.sqlite`))
      const tables = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .pluck()
        .all()
      const rows = tables.map(table => [table, db.prepare(`SELECT count(*) FROM "${table}"`).pluck().get()])
      db.close()
      return Object.fromEntries(rows)
    })
  const whole = fresh('whole')
  const statements = (await upgradeUntil(whole, 0))!
  assert.deepEqual(versionsIn(whole), NOW)
  const rows = rowsIn(whole)

  const cases = Number(process.env.CASES ?? 5)
  const random = seeded(10)
  const moments =
    cases >= statements
      ? Array.from({ length: statements }, (_, at) => at + 1)
      : Array.from({ length: cases }, () => 1 + Math.floor(random() * statements))
  const seen = new Set<string>()
  for (const at of moments) {
    const data = fresh(`killed-${at}`)
    assert.equal(await upgradeUntil(data, at), undefined)
    const aside = `${data}-aside`
    cpSync(data, aside, { recursive: true })
    const versions = versionsIn(aside)
    for (const [file, version] of versions.entries())
      assert.ok(version === fixture.versions[file] || version === NOW[file], `${at}: ${versions}`)
    seen.add(versions.join())
    takeDataFolder(data, 'serve', silent).release()
    assert.deepEqual(versionsIn(data), NOW, String(at))
    assert.deepEqual(rowsIn(data), rows, String(at))
    const store = new Database(storeFile(data, NETWORK))
    assert.deepEqual(store.pragma('quick_check', { simple: true }), 'ok')
    store.close()
  }
  t.diagnostic(`${moments.length} kills among ${statements} statements left ${seen.size} states`)
})
