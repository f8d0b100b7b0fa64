import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { storeFile } from '../../../src/engine/files.ts'
import { openForReading } from '../../../src/engine/open.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { startIndexing } from '../../../src/ingest/network.ts'
import { silent } from '../../../src/lib/log.ts'
import { openTestCluster, withoutOpenSearch } from '../../support/real-opensearch.ts'
import { documentsIn, SHIPPED } from '../../support/ship.ts'
import { documentsThere } from '../../support/shipped.ts'
import { createTestStore } from '../../support/store.ts'

/** Imports into a cluster in a process of its own, which may be killed; the argument is the job. */
interface Task {
  data: string
  network: string
  file: string
  cluster: Parameters<typeof startIndexing>[0]['remote']
}

if (process.argv[2] === 'import') {
  const { data, network, file, cluster } = JSON.parse(process.argv[3]!) as Task
  const job = { type: 'import' as const, files: [file] }
  await startIndexing({ data, network, job, storeBatch: 7, remote: cluster, log: silent }).ended
  process.exit(0)
}

const FILE = fileURLToPath(new URL('../../../data/demo.ndjson.gz', import.meta.url))
const SELF = fileURLToPath(import.meta.url)
const LAST = 420

test('an import that is killed again and again fills a cluster with what a store shows', {
  skip: withoutOpenSearch,
}, async t => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-ship-'))
  t.after(() => rmSync(data, { recursive: true, force: true }))
  const { cluster, options } = await openTestCluster(t, { blocksPerIndex: 300 })
  const task = { data, network: SHIPPED, file: FILE, cluster: options } satisfies Task
  let child: ChildProcess | undefined
  const start = () => {
    child = fork(SELF, ['import', JSON.stringify(task)], {
      stdio: 'inherit',
      env: { ...process.env, NODE_TEST_CONTEXT: '' },
    })
    return once(child, 'exit')
  }
  t.after(() => child?.kill('SIGKILL'))
  for (let kill = 0; kill < 3; kill++) {
    const end = start()
    await sleep(600 + 400 * kill)
    child!.kill('SIGKILL')
    await end
  }
  assert.deepEqual(await start(), [0, null])

  const db = openForReading(storeFile(data, SHIPPED))
  t.after(() => void db.close())
  const { ranges, hidden } = createShippedReader(db).visible()
  assert.deepEqual(ranges, [{ from: 0, to: LAST }])
  const emptied = db.prepare('SELECT sum(block) FROM segment WHERE emptied = 1').pluck().get() as number
  assert.ok(emptied > 100, `${emptied} blocks are emptied`)
  assert.equal(db.prepare('SELECT count(*) FROM tx WHERE pos < 10 * 4194304').pluck().get(), 0)

  const whole = mkdtempSync(join(tmpdir(), 'chainsieve-ship-'))
  t.after(() => rmSync(whole, { recursive: true, force: true }))
  await startIndexing({
    data: whole,
    network: SHIPPED,
    job: { type: 'import', files: [FILE] },
    storeBatch: 50,
    log: silent,
  }).ended
  const store = createTestStore([], { path: storeFile(whole, SHIPPED) })
  t.after(store.close)
  const found = await documentsThere(cluster, options, hidden)
  assert.deepEqual(found, documentsIn(store))
  t.diagnostic(`${found.size} documents`)
})
