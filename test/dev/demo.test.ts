import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { makeDemoStore } from '../../scripts/demo/store.ts'
import { DEMO_BATCH, DEMO_CHAIN, packDemo, placeDemo, unpackDemo } from '../../src/dev/demo.ts'
import { storeFile } from '../../src/engine/files.ts'
import { openForReading, openForWriting } from '../../src/engine/open.ts'
import { createSearcher } from '../../src/engine/query/searcher.ts'
import { openReader } from '../../src/engine/reader.ts'
import { verifyContents } from '../../src/engine/verify.ts'
import { startIndexing } from '../../src/ingest/network.ts'
import { silent } from '../../src/lib/log.ts'
import { readAsset } from '../../src/lib/runtime.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { answerSearch } from '../../src/search/answer.ts'
import { tempFolder } from '../support/pack.ts'

/** Whole answers: all documents of each kind, and what is computed over them. */
const answersOf = (path: string): string[] => {
  const reader = openReader(path)
  const searcher = createSearcher(reader)
  const ask = (kind: string, body: object) => {
    const { body: answer } = answerSearch(searcher, 'demo', kind, JSON.stringify(body), {
      deadline: Number.POSITIVE_INFINITY,
    })
    assert.ok(answer instanceof Uint8Array)
    return Buffer.from(answer)
      .toString()
      .replace(/"took":\d+/, '"took":0')
  }
  try {
    return [
      ...KINDS.map(kind => ask(kind, { size: 10_000 })),
      ask('event', { size: 0, aggs: { names: { terms: { field: 'event.raw', size: 100 } } } }),
      ask('event', { query: { match: { str: 'Transfer' } }, size: 10 }),
    ]
  } finally {
    reader.close()
  }
}

describe('the store of the demo chain that the program ships', () => {
  it('answers as one that was imported, is whole, and is placed once', async t => {
    const file = await tempFolder(t)
    const packed = await file('demo-store.zst', '')
    await makeDemoStore(packed)
    const [placed, imported] = [join(packed, '../placed'), join(packed, '../imported')]
    assert.equal(
      placeDemo(placed, () => readFileSync(packed)),
      true,
    )
    await startIndexing({
      ...{ data: imported, network: DEMO_CHAIN, job: { type: 'import', files: ['data/demo.ndjson.gz'] } },
      ...{ storeBatch: DEMO_BATCH, log: silent },
    }).ended
    assert.deepEqual(readdirSync(join(placed, 'networks')), ['ethereum~demo~local.sqlite'])
    const path = storeFile(placed, DEMO_CHAIN)
    // As a server opens it: its pages get their checksums.
    openForWriting(path).close()
    const answers = answersOf(path)
    assert.ok(
      answers.every(text => text.includes('"hits"')) && answers[3]!.length > 1_000_000,
      String(answers[3]!.length),
    )
    assert.deepEqual(answers, answersOf(storeFile(imported, DEMO_CHAIN)))
    for (const steps = verifyContents(path, true); ; ) {
      const { done, value } = steps.next()
      if (!done) continue
      assert.deepEqual(value, [])
      break
    }
    const db = openForWriting(path)
    db.exec("INSERT INTO meta (key, value) VALUES ('mine', 1)")
    db.close()
    assert.equal(
      placeDemo(placed, () => readFileSync(packed)),
      true,
    )
    const kept = openForReading(path)
    assert.equal(kept.prepare("SELECT value FROM meta WHERE key = 'mine'").pluck().get(), 1)
    kept.close()
  })

  it('is left alone where it is of another pack or layout, or is not there', async t => {
    const data = await (await tempFolder(t))('data', '')
    const pack = readAsset('demo.ndjson.gz')
    const other = packDemo(Buffer.from('store'), Buffer.from('another pack'))
    assert.equal(unpackDemo(other, pack), undefined)
    assert.deepEqual(unpackDemo(packDemo(Buffer.from('store'), pack), pack), Buffer.from('store'))
    const folder = join(data, '../empty')
    mkdirSync(folder)
    writeFileSync(join(folder, 'kept'), '')
    assert.equal(
      placeDemo(folder, () => other),
      false,
    )
    assert.equal(
      placeDemo(folder, () => undefined),
      false,
    )
    assert.deepEqual(readdirSync(folder), ['kept'])
  })
})
