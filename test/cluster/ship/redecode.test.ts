import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { storeFile } from '../../../src/engine/files.ts'
import { openForReading } from '../../../src/engine/open.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { abiFolder, storeAbiFiles } from '../../../src/ingest/decoding/abi-files.ts'
import { type IndexingOptions, startIndexing } from '../../../src/ingest/network.ts'
import { askToRedecode, openRedecodings, redecodeFolder } from '../../../src/ingest/requests.ts'
import { silent } from '../../../src/lib/log.ts'
import { dataFolder } from '../../support/delivery.ts'
import { openTestCluster, withoutOpenSearch } from '../../support/real-opensearch.ts'
import { documentsIn, SHIPPED } from '../../support/ship.ts'
import { documentsThere } from '../../support/shipped.ts'
import { createTestStore } from '../../support/store.ts'

const FILE = fileURLToPath(new URL('../../../data/demo.ndjson.gz', import.meta.url))
const ABI = fileURLToPath(new URL('../../../data/demo-abi.json', import.meta.url))
const WHERE = { network: null, address: null, codeHash: null }

test('a server decodes again what lies in a cluster, as if the ABI had been there from the start', {
  skip: withoutOpenSearch,
}, async t => {
  const { cluster, options } = await openTestCluster(t, { blocksPerIndex: 300 })
  const [data, whole] = [await dataFolder(t), await dataFolder(t)]
  const optionsOf = (folder: string): IndexingOptions => ({
    ...{ data: folder, network: SHIPPED, storeBatch: 50, log: silent },
    job: { type: 'import', files: [FILE] },
  })
  await startIndexing({ ...optionsOf(data), remote: options }).ended
  storeAbiFiles(abiFolder(whole), [ABI], WHERE)
  await startIndexing(optionsOf(whole)).ended

  const [abi] = storeAbiFiles(abiFolder(data), [ABI], WHERE)
  askToRedecode(redecodeFolder(data), abi!, [SHIPPED])
  const serving = startIndexing({ ...optionsOf(data), job: { type: 'watch' }, remote: options })
  t.after(() => serving.stop())
  for (const end = Date.now() + 120_000; openRedecodings(redecodeFolder(data)).length > 0; await sleep(50))
    assert.ok(Date.now() < end && !serving.error(), JSON.stringify(serving.error() ?? serving.report()))
  await serving.stop()

  const db = openForReading(storeFile(data, SHIPPED))
  t.after(() => void db.close())
  const { ranges, hidden } = createShippedReader(db).visible()
  assert.deepEqual(ranges, [{ from: 0, to: 420 }])
  assert.ok((db.prepare('SELECT sum(block) FROM segment WHERE emptied = 1').pluck().get() as number) > 100)
  const store = createTestStore([], { path: storeFile(whole, SHIPPED) })
  t.after(store.close)
  const [found, wanted] = [await documentsThere(cluster, options, hidden), documentsIn(store)]
  for (const [key, document] of wanted)
    if (document.kind !== 'contract') assert.deepEqual(found.get(key), document, key)
  assert.equal(found.size, wanted.size)
})
