import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createSearcher } from '../../src/engine/query/searcher.ts'
import { createCsvRows, createNdjson, type Encoder, gzipped } from '../../src/export/lines.ts'
import { createParquet } from '../../src/export/parquet.ts'
import { type ExportRequest, journalOf, openTarget } from '../../src/export/resume-journal.ts'
import { type AskPage, readExportQuery, runExport, toStream } from '../../src/export/run.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { type AnswerOptions, answerSearch } from '../../src/search/answer.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore, type TestStore } from '../support/store.ts'

const INDEX = 'ethereum-test-net'
const SEED = Number(process.env.SEED ?? 1)
const CASES = Number(process.env.CASES ?? 15)
const folder = mkdtempSync(join(tmpdir(), 'chainsieve-export-'))
after(() => rmSync(folder, { recursive: true }))
const never = new AbortController().signal
let files = 0

const trunk = makeChain({ from: 0, blocks: 14, txs: 3, logs: 2 })

const setUp = (blocks: readonly RawBlock[] = trunk) => {
  const store: TestStore = createTestStore(blocks, { run: [5, 3, 2, 1] })
  let chain = [...blocks]
  const answer = (entities: string, body: string, options: Partial<AnswerOptions> = {}): Buffer => {
    const { body: bytes } = answerSearch(createSearcher(store.reader), INDEX, entities, body, {
      ...{ deadline: Number.POSITIVE_INFINITY, now: 0 },
      ...options,
    })
    return bytes instanceof Uint8Array
      ? Buffer.from(bytes)
      : Buffer.concat(Array.from(bytes.parts, part => Buffer.from(part)))
  }
  const change = (depth: number, blocks: number, salt: string) => {
    const kept = chain.slice(0, Math.max(1, chain.length - depth))
    if (depth > 0) store.rollback(Number(kept.at(-1)!.block.number))
    const more = makeChain({ blocks, txs: 2, logs: 3, parent: kept.at(-1)!, salt })
    store.add(more)
    chain = [...kept, ...more]
  }
  return { store, answer, change }
}

type Format = 'ndjson' | 'csv' | 'parquet' | 'ndjson.gz' | 'csv.gz'

const encoderOf = (format: Format, entities: string, query: string): Encoder => {
  const [plain, isPacked] = format.split('.') as ['ndjson' | 'csv' | 'parquet', string | undefined]
  const request = readExportQuery(query, { index: INDEX, entities, format: plain, limits: DEFAULT_LIMITS })
  const made =
    plain === 'csv'
      ? createCsvRows(request, { raw: false })
      : plain === 'parquet'
        ? createParquet(request)
        : createNdjson()
  return isPacked ? gzipped(made) : made
}

const withSort = (query: string) => JSON.stringify({ ...JSON.parse(query), size: -1, sort: [{ _doc: 'asc' }] })

const bufferOf = (path: string) => {
  const bytes = readFileSync(path)
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
}

/** Held against what the search answers in the same form in one go. */
const checkFile = async (path: string, format: Format, whole: (form: 'ndjson' | 'csv') => string) => {
  if (format === 'parquet') {
    const rows = await parquetReadObjects({
      file: bufferOf(path),
      utf8: true,
      compressors: { ZSTD: bytes => zstdDecompressSync(bytes) },
    })
    assert.deepEqual(rows.map(rowOfParquet), rowsOfCsv(whole('csv')))
    return
  }
  const bytes = readFileSync(path)
  const [plain, isPacked] = format.split('.') as ['ndjson' | 'csv', string | undefined]
  assert.equal((isPacked ? gunzipSync(bytes) : bytes).toString(), whole(plain))
}

const rowOfParquet = (row: Record<string, unknown>) =>
  Object.entries(row).map(([name, value]) => {
    if (value === null || value === undefined) return ''
    if (!(value instanceof Date)) return String(value)
    return name === 'timestamp' && value.getTime() % 1000 === 0 ? value.toISOString().slice(0, 19) : '?'
  })

const CELL = /(?:"((?:[^"]|"")*)"|([^,\r]*))(,|\r\n)/g

const rowsOfCsv = (csv: string): string[][] => {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of csv.matchAll(CELL)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!)
    if (end !== ',') rows.push([])
  }
  const [names, ...rest] = rows.slice(0, -1)
  const times = names!.indexOf('timestamp')
  const shown = (cell: string, i: number) =>
    i === times && /^\d+$/.test(cell) ? new Date(Number(cell) * 1000).toISOString().slice(0, 19) : cell
  return rest.map(row => row.map(shown))
}

interface Case {
  format: Format
  entities: string
  query: string
}

const QUERIES: Omit<Case, 'format'>[] = [
  { entities: 'tx', query: '{}' },
  { entities: 'log', query: '{"query":{"range":{"logIndex.num":{"gte":1}}}}' },
  { entities: 'block,tx', query: '{"_source":["hash","gasUsed","number","timestamp"]}' },
  { entities: 'tx', query: '{"query":{"term":{"nonce.num":99999}}}' },
]
const FORMATS: Format[] = ['ndjson', 'csv', 'parquet', 'ndjson.gz', 'csv.gz']

class Killed extends Error {}

const step = fc.record({
  size: fc.integer({ min: 1, max: 30 }),
  /** Asks that are answered before it is killed. */
  asks: fc.integer({ min: 0, max: 6 }),
  /** What a kill leaves behind what counts. */
  torn: fc.record({
    file: fc.integer({ min: 0, max: 50 }),
    journal: fc.constantFrom('', '{', '{"token":"AX', '{"back"'),
  }),
  /** After which ask the chain changes, how deep, and how many blocks come. */
  change: fc.record({
    at: fc.integer({ min: 0, max: 6 }),
    depth: fc.constantFrom(0, 0, 1, 2, 5, 13),
    blocks: fc.integer({ min: 1, max: 4 }),
  }),
})

test('whatever kills it and however the chain changes, the file is what one search answers at the end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...FORMATS),
      fc.constantFrom(...QUERIES),
      fc.array(step, { minLength: 1, maxLength: 5 }),
      async (format, { entities, query }, steps) => {
        const { store, answer, change } = setUp()
        const file = join(folder, `${files++}.${format}`)
        const asked: ExportRequest = { network: 'ethereum/test/net', entities, query, format, from: 'data' }
        let salt = 0
        const run = async (size: number, ask: AskPage) => {
          const target = openTarget(file, asked)
          try {
            const encoder = encoderOf(format, entities, query)
            const most = size * 3
            await runExport({ ...{ ask, entities, query, encoder, target, size, most }, signal: never, onStep() {} })
          } finally {
            target.close()
          }
        }
        try {
          for (const { size, asks, torn, change: news } of steps) {
            let n = 0
            const killed = run(size, async (kinds, body) => {
              if (n === news.at) change(news.depth, news.blocks, `${salt++}`)
              if (n++ >= asks) throw new Killed()
              return answer(kinds, body)
            })
            await killed.catch(error => {
              if (!(error instanceof Killed)) throw error
              appendFileSync(file, Buffer.alloc(torn.file, 'x'))
              appendFileSync(journalOf(file), torn.journal)
            })
          }
          await run(7, async (kinds, body) => answer(kinds, body))
          const whole = (form: 'ndjson' | 'csv') => answer(entities, withSort(query), { format: form }).toString()
          await checkFile(file, format, whole)
          const before = readFileSync(file)
          await run(7, async (kinds, body) => answer(kinds, body))
          assert.deepEqual(readFileSync(file), before)
        } finally {
          store.close()
        }
      },
    ),
    { seed: SEED, numRuns: CASES },
  )
})

test('the columns of Parquet have the types of their fields', async () => {
  const { store, answer } = setUp()
  const file = join(folder, `${files++}.parquet`)
  const asked: ExportRequest = {
    network: 'ethereum/test/net',
    entities: 'tx',
    query: '{}',
    format: 'parquet',
    from: 'data',
  }
  const target = openTarget(file, asked)
  const encoder = encoderOf('parquet', 'tx', '{}')
  const ask: AskPage = async (kinds, body) => answer(kinds, body)
  await runExport({ ...{ ask, entities: 'tx', query: '{}', encoder, target, signal: never }, onStep() {} })
  target.close()
  store.close()
  const types = new Map(
    parquetSchema(parquetMetadata(bufferOf(file))).children.map(({ element }) => [
      element.name,
      `${element.type} ${element.converted_type ?? ''} ${element.repetition_type}`,
    ]),
  )
  assert.equal(types.get('_id'), 'BYTE_ARRAY UTF8 REQUIRED')
  assert.equal(types.get('gas.num'), 'INT64  OPTIONAL')
  assert.equal(types.get('gas.raw'), 'BYTE_ARRAY UTF8 OPTIONAL')
  assert.equal(types.get('value.coin'), 'DOUBLE  OPTIONAL')
  assert.equal(types.get('status'), 'BOOLEAN  OPTIONAL')
  assert.equal(types.get('timestamp'), 'INT64 TIMESTAMP_MILLIS OPTIONAL')
  assert.equal(types.get('accessList'), 'BYTE_ARRAY UTF8 OPTIONAL')
})

const refusal = (code: string, says: RegExp) => (error: unknown) =>
  error instanceof ChainsieveError && error.code === code && says.test(error.message)

test('a file that is not ours, was changed, or was asked for otherwise is left alone', async () => {
  const file = join(folder, 'own.ndjson')
  const asked: ExportRequest = { network: 'a/b/c', entities: 'tx', query: '{}', format: 'ndjson', from: 'data' }
  writeFileSync(file, 'mine')
  assert.throws(() => openTarget(file, asked), refusal('export_file_exists', /own\.ndjson exists, .*delete it$/))
  assert.equal(readFileSync(file, 'utf8'), 'mine')
  assert.equal(existsSync(journalOf(file)), false)
  rmSync(file)

  openTarget(file, asked).close()
  assert.deepEqual([existsSync(file), existsSync(journalOf(file))], [false, false], 'nothing was written')

  const target = openTarget(file, asked)
  await target.append(Buffer.from('one\n'), { token: 'A', hits: 1 })
  target.close()
  assert.throws(
    () => openTarget(file, { ...asked, query: '{"query":{}}' }),
    refusal('export_other_query', /was exported with another query: "\{\}", not .*Choose another file$/),
  )
  truncateSync(file, 2)
  assert.throws(() => openTarget(file, asked), refusal('export_file_changed', /has 2 bytes, .* 4 were written/))
  writeFileSync(journalOf(file), 'nonsense\n')
  assert.throws(() => openTarget(file, asked), refusal('export_journal_damaged', /delete it and the exported file/))
  assert.equal(readFileSync(file, 'utf8'), 'on')
})

test('an export takes no order, size or aggregations, and a table nothing beside the documents', () => {
  const read = (query: string, format: 'ndjson' | 'csv') =>
    readExportQuery(query, { index: INDEX, entities: 'tx', format, limits: DEFAULT_LIMITS })
  for (const name of ['size', 'sort', 'aggs', 'search_after', 'resume', 'from', 'collapse'])
    assert.throws(
      () => read(`{${JSON.stringify(name)}:1}`, 'ndjson'),
      refusal('illegal_argument_exception', new RegExp(`^\\[${name}\\] does not work with an export`)),
    )
  assert.throws(() => read('{"fields":["hash"]}', 'csv'), refusal('illegal_argument_exception', /^A table shows/))
  assert.throws(() => read('[]', 'csv'), refusal('parsing_exception', /a JSON object/))
  read('{"fields":["hash"]}', 'ndjson')
})

test('standard output cannot be corrected: a reorganisation of what was written ends it', async () => {
  const { store, answer, change } = setUp()
  let n = 0
  const ask: AskPage = async (kinds, body) => {
    if (n++ === 3) change(14, 2, 'other')
    return answer(kinds, body)
  }
  let written = ''
  const target = toStream(async part => {
    written += Buffer.from(part).toString()
  })
  const encoder = encoderOf('ndjson', 'tx', '{}')
  await assert.rejects(
    runExport({
      ...{ ask, entities: 'tx', query: '{}', encoder, target, signal: never, size: 2, most: 2 },
      onStep() {},
    }),
    refusal('reorganised', /Name a file with --out/),
  )
  assert.equal(written.split('\n').length, 7)
  store.close()
})
