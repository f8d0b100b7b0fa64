import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { parquetReadObjects } from 'hyparquet'
import { encodeAbiParameters, type Hex, keccak256 } from 'viem'
import { generateBlocks } from '../../scripts/bench/generate.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { parseSignature, topicOf } from '../../src/decode/signature.ts'
import type { AbiParam, EventAbi } from '../../src/decode/types.ts'
import { createSearcher } from '../../src/engine/query/searcher.ts'
import { ROW_MARK } from '../../src/engine/show/row.ts'
import { createArgumentRows } from '../../src/export/lines.ts'
import { createArgumentParquet } from '../../src/export/parquet.ts'
import { begunWith, openTarget } from '../../src/export/resume-journal.ts'
import { type AskPage, pageBody, readExportQuery, runExport } from '../../src/export/run.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import type { SourceFilter } from '../../src/query/request.ts'
import { answerSearch } from '../../src/search/answer.ts'
import type { WideIntegers } from '../../src/search/columns/argument-values.ts'
import { type Cells, createCells } from '../../src/search/columns/cells.ts'
import {
  type CalledKind,
  type DeclaredArguments,
  readDeclared,
  samplesBody,
} from '../../src/search/columns/declared.ts'
import { createArgumentTable } from '../../src/search/columns/table.ts'
import { type AnswerFormat, NATIVE_DIALECT } from '../../src/search/service.ts'
import { isHashed, typed, viemParam } from '../support/abi.ts'
import { makeChain } from '../support/pack.ts'
import { createTestStore, type TestStore } from '../support/store.ts'

const folder = mkdtempSync(join(tmpdir(), 'chainsieve-columns-'))
after(() => rmSync(folder, { recursive: true }))
const signal = new AbortController().signal

const askOf = (store: TestStore): AskPage => {
  const searcher = createSearcher(store.reader)
  return async (entities, body, _signal, parameters) => {
    const options = { deadline: Number.POSITIVE_INFINITY, now: 0, parameters }
    return Buffer.from(answerSearch(searcher, 'a-b-c', entities, body, options as never).body as Uint8Array)
  }
}

type Format = 'csv' | 'ndjson' | 'parquet'
interface Wanted {
  query: string
  kind?: CalledKind
  integers?: WideIntegers
  size?: number
}

const exportTo = async (store: TestStore, file: string, format: Format, wanted: Wanted) => {
  const { query, kind = 'event', integers = 'text', size = 500 } = wanted
  const ask = askOf(store)
  const request = readExportQuery(query, { index: 'a-b-c', entities: kind, format, limits: DEFAULT_LIMITS })
  const declared =
    (begunWith(file) as DeclaredArguments | undefined) ??
    readDeclared(kind, (await ask(kind, pageBody(query, samplesBody(kind)), signal)).toString())
  const table = createArgumentTable(declared, request.source, integers)
  const asked = { network: 'a/b/c', entities: kind, query, format, from: 'data', columns: integers }
  const target = openTarget(file, asked, declared)
  const encoder = format === 'parquet' ? createArgumentParquet(table) : createArgumentRows(table, format)
  try {
    const page: AskPage = (entities, body, signal) => ask(entities, body, signal, [['_source', table.source.join()]])
    const run = { ask: page, entities: kind, query, encoder, target, signal, size, most: size, onStep() {} }
    return { table, ...(await runExport<never>(run as never)) }
  } finally {
    target.close()
  }
}

let files = 0
const exported = async (store: TestStore, format: Format, wanted: Wanted) => {
  const file = join(folder, `${files++}.${format}`)
  await exportTo(store, file, format, wanted)
  return readFileSync(file).toString()
}

/** Of what may take several words, a topic has only a hash. */
const topicWord = (param: AbiParam, word: Hex): Hex => (isHashed(param) ? keccak256(word) : word)

/** Blocks whose logs are these, each in a transaction of its own. */
const blocksWith = (
  logs: readonly { event: EventAbi; values: readonly unknown[]; address?: string; bad?: boolean }[],
): RawBlock[] => {
  const [raw] = makeChain({ blocks: 1, txs: logs.length, logs: 1, chainId: 1 })
  for (const [i, { event, values, address, bad }] of logs.entries()) {
    const log = raw!.receipts[i]!.logs[0]!
    const among = (isIndexed: boolean) =>
      event.inputs.flatMap((input, at) =>
        (input.indexed ?? false) === isIndexed ? [{ input, value: values[at] }] : [],
      )
    const encode = (items: { input: EventAbi['inputs'][0]; value: unknown }[]) =>
      encodeAbiParameters(
        items.map(({ input }) => viemParam(input)),
        items.map(({ value }) => value),
      )
    log.topics = [topicOf(event) as Hex, ...among(true).map(item => topicWord(item.input, encode([item])))]
    log.data = bad ? '0x01' : encode(among(false))
    if (address) log.address = address as Hex
  }
  return [raw!]
}

const NAMED = parseSignature(
  'Kinds(address indexed a, uint8 small, int64 signed, uint256 big, int256 negative, bool flag, string text, bytes32 word, bytes raw, uint256[] list, address[2][] nested, (address who, uint256 amount) pair)',
)
const A = '0x52908400098527886E0F7030069857D2E4169EE7'
const B = '0x8617E340B3D01FA5F11F6F5E4C8C0F7C2E1E5Ea1'.toLowerCase()
const VALUES: readonly unknown[] = [
  A,
  255,
  -5n,
  2n ** 256n - 1n,
  -(2n ** 200n),
  true,
  '=1+"ä"\n',
  `0x${'ab'.repeat(32)}`,
  '0x0102',
  [1n, 2n ** 255n],
  [[A, A]],
  { who: A, amount: 7n },
]

test('each argument is in a column of its own type, whatever it holds', async () => {
  const store = createTestStore(
    blocksWith([
      { event: NAMED, values: VALUES },
      { event: NAMED, values: VALUES, bad: true },
      { event: NAMED, values: VALUES.with(9, []).with(10, []) },
    ]),
    { events: [NAMED] },
  )
  const query = '{"query":{"term":{"event.raw":"Kinds"}},"_source":["logIndex"]}'
  const lines = (await exported(store, 'ndjson', { query })).trimEnd().split('\n')
  assert.deepEqual(JSON.parse(lines[0]!), {
    logIndex: 0,
    a: A,
    small: 255,
    signed: -5,
    big: String(2n ** 256n - 1n),
    negative: String(-(2n ** 200n)),
    flag: true,
    text: '=1+"ä"\n',
    word: `0x${'ab'.repeat(32)}`,
    raw: '0x0102',
    list: ['1', String(2n ** 255n)],
    nested: [[A, A]],
    pair: JSON.stringify([A, '7']),
  })
  assert.deepEqual(new Set(Object.values(JSON.parse(lines[1]!)).slice(1)), new Set([null]), 'could not be decoded')
  assert.deepEqual(JSON.parse(lines[2]!).list, [])
  const decimal = await exported(store, 'ndjson', { query, integers: 'decimal' })
  assert.ok(decimal.startsWith(lines[0]!.slice(0, 30)))
  assert.match(decimal, new RegExp(`"big":${2n ** 256n - 1n},"negative":-${2n ** 200n},`))
  const csv = await exported(store, 'csv', { query })
  assert.match(csv, /^logIndex,a,small,signed,big,negative,flag,text,word,raw,list,nested,pair\r\n0,0x5290/)
  assert.match(csv, /,true,"'=1\+""ä""\n",0xabab/, 'no formula')
  await assert.rejects(
    exported(store, 'parquet', { query, integers: 'decimal' }),
    /^ChainsieveError: Column big: \d{78} has more than the 38 digits .*: export integers as text\.$/,
  )
  store.close()
})

test('names of arguments are safe, and differ from one another and from fields in any letter case', () => {
  const named = ['', 'Address', 'x', 'X', '=cmd|"/c"', 'a\r\nb', '__proto__', 'arg_0', 'x_3', '𝒳'.repeat(100)]
  const args = named.map(name => ({ name, type: 'uint256', hasUnits: name === 'x' }))
  const { columns, read, source } = createArgumentTable({ kind: 'event', name: 'E', args }, true, 'text')
  const names = columns.slice(6).map(({ name }) => name)
  assert.deepEqual(names.slice(0, 10), [
    ...['arg_0', 'arg_Address', 'x', 'x (units)', 'arg_X', '_cmd___c_', 'a__b', '__proto__', 'arg_arg_0', 'x_3'],
  ])
  assert.equal([...names[10]!].length, 64)
  assert.equal(new Set(columns.map(({ name }) => name.toLowerCase())).size, columns.length)
  assert.ok(source.includes('args.value.scaled'))
  const one = args.map(({ type }, i) => ({ value: { hex: `0x${i}`, scaled: i / 10, type } }))
  const cells = read({ _id: '1', _source: { event: 'E', args: one } })
  assert.deepEqual(cells.slice(6), ['0', '1', '2', 0.2, '3', '4', '5', '6', '7', '8', '9'])
})

const refusal = (code: string, says: RegExp) => (error: unknown) =>
  error instanceof ChainsieveError && error.code === code && says.test(error.message)

test('a query that selects several signatures is refused with a condition that selects one', async () => {
  const one = parseSignature('One(uint256 a)')
  const same = parseSignature('One(address a)')
  const C = '0x00000000000000000000000000000000000000c1'
  const store = createTestStore(
    blocksWith([
      { event: one, values: [1n], address: C },
      { event: same, values: [A], address: B },
      { event: NAMED, values: VALUES },
    ]),
    { events: [one, same, NAMED] },
  )
  await assert.rejects(
    exported(store, 'csv', { query: '{}' }),
    refusal(
      'several_signatures',
      /selects One \(2\), Kinds \(1\)\. Add \{"term":\{"event\.raw":"One"\}\} to the query\.$/,
    ),
  )
  await assert.rejects(
    exported(store, 'csv', { query: '{"query":{"term":{"event.raw":"One"}}}' }),
    refusal('several_signatures', /One\(\w+\) of 0x\w+ and One\(\w+\) of 0x\w+\. Add .*"address\.raw":"0x/),
  )
  await assert.rejects(
    exported(store, 'csv', { query: '{"query":{"term":{"event.raw":"None"}}}' }),
    refusal('no_signature', /selects no event/),
  )
  const query = JSON.stringify({ query: { term: { 'address.raw': store.all('event')[0]!._source.address } } })
  assert.match(await exported(store, 'csv', { query }), /,a\r\n0,.*,1\r\n$/)
  store.close()
})

test('an export that is continued keeps its columns, and refuses an event of another signature', async () => {
  const old = parseSignature('Paid(address to, uint256 value)')
  const other = parseSignature('Paid(address to)')
  const first = blocksWith([{ event: old, values: [A, 5n] }])
  const store = createTestStore(first, { events: [old, other] })
  const query = '{"query":{"term":{"event.raw":"Paid"}}}'
  const file = join(folder, 'continued.csv')
  assert.equal((await exportTo(store, file, 'csv', { query })).hits, 1)
  const before = readFileSync(file, 'utf8')
  const [next] = makeChain({ blocks: 1, parent: first[0]!, txs: 1, logs: 1, chainId: 1 })
  const [made] = blocksWith([{ event: other, values: [A] }])
  next!.receipts[0]!.logs[0]!.topics = made!.receipts[0]!.logs[0]!.topics
  next!.receipts[0]!.logs[0]!.data = made!.receipts[0]!.logs[0]!.data
  store.add([next!])
  await assert.rejects(
    exportTo(store, file, 'csv', { query }),
    refusal(
      'several_signatures',
      /those of Paid\(address,uint256\), but 0x\w+_e_0 is Paid\(address\): add a condition/,
    ),
  )
  assert.equal(readFileSync(file, 'utf8'), before)
  store.close()
})

const TRANSFERS = '{"query":{"term":{"event.raw":"Transfer"}}}'

/** The rows of all hits: as the store writes them, read from their JSON, and from documents. */
const rowsInThreeWays = (store: TestStore, kind: CalledKind, query: string, how: ThreeWays) => {
  const searcher = createSearcher(store.reader)
  const ask = (body: string, more: object = {}) =>
    Buffer.from(
      answerSearch(searcher, 'a-b-c', kind, body, { deadline: Number.POSITIVE_INFINITY, now: 0, ...more })
        .body as Uint8Array,
    )
  const declared = readDeclared(kind, ask(pageBody(query, samplesBody(kind))).toString())
  const table = createArgumentTable(declared, how.source ?? true, how.integers)
  const body = pageBody(query, { resume: 'start', size: 2000 })
  const parameters: [string, string][] = [['_source', table.source.join()]]
  const scanned = (more: object) => {
    const answer = ask(body, { parameters, ...more })
    const cells = createCells(table.columns)
    const begin = answer.indexOf('"hits":[') + 8
    assert.equal(answer[table.scan(answer, begin, cells)], ']'.charCodeAt(0))
    return { answer, isRow: answer[begin] === ROW_MARK, rows: textOf(cells), length: cells.length }
  }
  const written = scanned({ dialect: { ...NATIVE_DIALECT, rows: table.rows } })
  const { hits } = JSON.parse(ask(body, { parameters }).toString()).hits
  const parsed = createCells(table.columns)
  for (const hit of hits) parsed.add(table.read(hit))
  return { written, json: scanned({}), parsed: textOf(parsed), scan: table.scan, columns: table.columns }
}

interface ThreeWays {
  integers: WideIntegers
  source?: SourceFilter
}

const textOf = ({ columns }: Cells) =>
  columns.map(({ text, present, length, values }) => ({
    ...{ text: text.latin1(), present: [...present.subarray(0, length)], values },
  }))

test('usual hits are written as rows, or read without parsing, as parsed documents give them', t => {
  const store = createTestStore([...generateBlocks({ seed: 3, count: 20 })])
  for (const [kind, query] of [
    ['event', TRANSFERS],
    ['call', '{"query":{"term":{"method.raw":"transfer"}}}'],
  ] as const) {
    const { written, json, parsed, scan, columns } = rowsInThreeWays(store, kind, query, { integers: 'decimal' })
    assert.equal(written.isRow, kind === 'event')
    assert.ok(json.length > 20)
    assert.deepEqual(written.rows, parsed)
    assert.deepEqual(json.rows, parsed)
    const { parse } = JSON
    const { mock } = t.mock.method(JSON, 'parse', (text: string) => {
      assert.ok(!text.startsWith('{'), 'a hit was parsed')
      return parse(text)
    })
    scan(json.answer, json.answer.indexOf('"hits":[') + 8, createCells(columns))
    mock.restore()
  }
  store.close()
})

test('whatever arguments are, rows of a store, hits and parsed documents have the same cells', () => {
  const params = fc.array(fc.tuple(typed, fc.boolean()), { maxLength: 5 }).map(all => {
    let topics = 3
    return all.map(([{ param, value }, isIndexed], i) => ({
      param: { ...param, name: `a${i}`, indexed: isIndexed && topics-- > 0 },
      value,
    }))
  })
  const event = params.chain(all =>
    fc.record({
      inputs: fc.constant(all.map(({ param }) => param)),
      // One of them is a known token, whose values have units.
      address: fc.constantFrom('0xdac17f958d2ee523a2206206994597c13d831ec7', B),
      logs: fc.array(
        fc.record({
          values: fc.tuple(...all.map(({ value }) => value)),
          bad: fc.boolean(),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  )
  let rows = 0
  fc.assert(
    fc.property(
      fc.array(event, { minLength: 5, maxLength: 10 }),
      fc.constantFrom('text', 'decimal'),
      (all, integers) => {
        const events = all.map(({ inputs }, i): EventAbi => ({ name: `E${i}`, inputs }))
        // Columns are those of the first event, so it can be decoded.
        const logs = all.flatMap(({ logs, address }, i) =>
          logs.map(({ bad, values }, at) => ({ event: events[i]!, address, values, bad: bad && at > 0 })),
        )
        const store = createTestStore(blocksWith(logs), { events })
        for (const { name } of events)
          for (const source of [
            true,
            { includes: ['logIndex', 'blockHash'], excludes: [] },
            { includes: ['*'], excludes: [] },
          ]) {
            const query = JSON.stringify({ query: { term: { 'event.raw': name } } })
            const { written, json, parsed } = rowsInThreeWays(store, 'event', query, { integers, source })
            assert.deepEqual(written.rows, parsed)
            assert.deepEqual(json.rows, parsed)
            if (written.isRow) rows++
          }
        store.close()
      },
    ),
    { numRuns: 10 },
  )
  assert.ok(rows > 10)
})

test('a search answers the rows that an export writes, in one go and part by part', async () => {
  const store = createTestStore([...generateBlocks({ seed: 3, count: 20 })])
  const searcher = createSearcher(store.reader)
  const answered = (format: AnswerFormat, size: number, entities = 'event', query = TRANSFERS) => {
    const options = { deadline: Number.POSITIVE_INFINITY, now: 0, format }
    const { body } = answerSearch(searcher, 'a-b-c', entities, pageBody(query, { size, sort: ['_doc'] }), options)
    return body instanceof Uint8Array ? [Buffer.from(body)] : Array.from(body.parts, part => Buffer.from(part))
  }
  for (const form of ['csv', 'ndjson'] as const) {
    const whole = await exported(store, form, { query: TRANSFERS, integers: 'decimal' })
    const parts = answered(`${form}+decimal`, -1)
    assert.ok(parts.length > 3)
    assert.equal(Buffer.concat(parts).toString(), whole)
    assert.equal(Buffer.concat(answered(`${form}+decimal`, 10_000)).toString(), whole)
  }
  const lines = (await exported(store, 'ndjson', { query: TRANSFERS })).trimEnd().split('\n')
  for (const size of [-1, 10_000]) {
    const { buffer, byteOffset, length } = Buffer.concat(answered('parquet+text', size))
    const rows = await parquetReadObjects({
      file: buffer.slice(byteOffset, byteOffset + length),
      utf8: true,
      compressors: { ZSTD: bytes => zstdDecompressSync(bytes) },
    })
    const shown = rows.map(row =>
      Object.fromEntries(
        Object.entries(row).map(([name, cell]) => [
          name,
          cell instanceof Date ? cell.toISOString().slice(0, 19) : typeof cell === 'bigint' ? Number(cell) : cell,
        ]),
      ),
    )
    assert.deepEqual(
      shown,
      lines.map(line => JSON.parse(line)),
    )
  }
  for (const size of [-1, 10]) {
    assert.throws(
      () => answered('csv+text', size, 'event', '{}'),
      refusal('several_signatures', /"event\.raw":"Transfer"/),
    )
    assert.throws(
      () => answered('parquet+text', size, 'event,tx'),
      refusal('illegal_argument_exception', /need one entity, event or call, not tx,event: name one/),
    )
  }
  store.close()
})

interface Duck {
  DuckDBInstance: {
    create(path: string): Promise<{ connect(): Promise<{ runAndReadAll(sql: string): Promise<DuckRows> }> }>
  }
}
interface DuckRows {
  getRowsJson(): (string | number | null)[][]
}

/** Loaded without its types, since some platforms have no DuckDB. */
const duck = (() => {
  try {
    return createRequire(import.meta.url)('@duckdb/node-api') as Duck
  } catch {
    return undefined
  }
})()

const noDuck = !duck && 'there is no @duckdb/node-api: npm install'
const connectDuck = async () => {
  const sql = await (await duck!.DuckDBInstance.create(':memory:')).connect()
  return async (text: string) => (await sql.runAndReadAll(text)).getRowsJson()
}

test('DuckDB counts and sums what aggregations do, and reads only row groups that may match', {
  skip: noDuck,
}, async () => {
  const chain = [...generateBlocks({ seed: 5, count: 40 })]
  const store = createTestStore(chain.slice(0, 20))
  const rows = await connectDuck()
  const text = join(folder, 'text.parquet')
  await exportTo(store, text, 'parquet', { query: TRANSFERS })
  store.add(chain.slice(20))
  const { table, hits } = await exportTo(store, text, 'parquet', { query: TRANSFERS })
  assert.deepEqual(
    (await rows(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${text}')`)).map(row => row.join(' ')),
    [
      ...['blockNumber BIGINT', 'timestamp TIMESTAMP', 'transactionHash VARCHAR', 'transactionIndex BIGINT'],
      ...['logIndex BIGINT', 'address VARCHAR', 'from VARCHAR', 'to VARCHAR', 'value VARCHAR', 'value (units) DOUBLE'],
    ],
  )
  assert.equal(table.columns.length, 10)

  const aggs = {
    by: {
      terms: { field: 'address.raw', size: 10_000 },
      aggs: { args: { nested: { path: 'args' }, aggs: { sum: { sum: { field: 'args.value.scaled' } } } } },
    },
    last: { max: { field: 'timestamp' } },
  }
  const answer = JSON.parse((await askOf(store)('event', pageBody(TRANSFERS, { size: 0, aggs }), signal)).toString())
  const { by, last } = answer.aggregations
  assert.equal(answer.hits.total, hits)
  const counted = await rows(
    `SELECT address, count(*)::INT, coalesce(sum("value (units)"), 0) FROM '${text}' GROUP BY address`,
  )
  assert.deepEqual(
    Object.fromEntries(counted.map(([address, count]) => [address, count])),
    Object.fromEntries(by.buckets.map(({ key, doc_count }: { key: string; doc_count: number }) => [key, doc_count])),
  )
  for (const [address, , sum] of counted) {
    const expected = by.buckets.find(({ key }: { key: string }) => key === address).args.sum.value
    assert.ok(Math.abs(Number(sum) - expected) <= Math.abs(expected) * 1e-12, `${address} ${sum} ${expected}`)
  }
  const digits = store
    .all('event')
    .filter(({ _source }) => _source.event === 'Transfer')
    .map(({ _source }) => (_source.args as { value: { hex: string } }[])[2]!)
    .map(({ value }) => BigInt(value.hex))
  const sum = digits.reduce((a, b) => a + b, 0n)
  const decimal = join(folder, 'decimal.parquet')
  await exportTo(store, decimal, 'parquet', { query: TRANSFERS, integers: 'decimal' })
  for (const [file, column] of [
    [text, 'value::HUGEINT'],
    [decimal, 'value'],
  ])
    assert.deepEqual(
      await rows(`SELECT sum(${column})::VARCHAR, (epoch_ms(max(timestamp)) // 1000)::INT FROM '${file}'`),
      [[String(sum), last.value / 1000]],
    )

  const chunks = await rows(
    `SELECT path_in_schema, stats_min_value, stats_max_value, compression, coalesce(dictionary_page_offset, data_page_offset), total_compressed_size FROM parquet_metadata('${text}') ORDER BY row_group_id`,
  )
  for (const path of ['blockNumber', 'timestamp']) {
    const groups = chunks.filter(([of]) => of === path)
    assert.equal(groups.length, 2)
    const [a, b, c, d] = groups.flatMap(([, least, most]) => [least!, most!])
    assert.ok(a! < b! && b! < c! && c! < d!, `${groups}`)
    assert.deepEqual(new Set(groups.map(([, , , codec]) => codec)), new Set(['ZSTD']))
  }
  // The first row group of a copy cannot be read, so only who skips it gets an answer.
  const bytes = readFileSync(text)
  for (const [, , , , offset, size] of chunks.slice(0, table.columns.length))
    bytes.fill(0, Number(offset), Number(offset) + Number(size))
  const cut = join(folder, 'cut.parquet')
  writeFileSync(cut, bytes)
  const since = chain[20]!.block
  const total = async (query: object) =>
    JSON.parse((await askOf(store)('event', JSON.stringify({ size: 0, query }), signal)).toString()).hits.total
  const later = await total({
    bool: {
      filter: [{ term: { 'event.raw': 'Transfer' } }, { range: { 'blockNumber.num': { gte: Number(since.number) } } }],
    },
  })
  assert.ok(later > 0 && later < hits)
  for (const condition of [
    `"blockNumber" >= ${Number(since.number)}`,
    `timestamp >= make_timestamp(${Number(since.timestamp)}000000)`,
  ])
    for (const file of [text, cut])
      assert.deepEqual(
        await rows(`SELECT count(*)::INT, count(DISTINCT "transactionHash") > 1 FROM '${file}' WHERE ${condition}`),
        [[later, true]],
      )
  await assert.rejects(rows(`SELECT max("transactionHash") FROM '${cut}'`))
  store.close()
})

test('DuckDB reads lists in lists, empty ones and none, as they were encoded', { skip: noDuck }, async () => {
  const lists = parseSignature(
    'Lists(uint256[] big, uint8[][] small, bool[2][] flags, string[][][] texts, address[] who, int256[] indexed hashed)',
  )
  const all: readonly (readonly unknown[])[] = [
    [[1n, 10n ** 38n - 1n], [[1, 2], [], [3]], [[true, false]], [[['a', ''], []], [], [['=1,"ä"\n']]], [A], [1n]],
    [[], [], [], [], [], []],
    [
      [0n],
      [[]],
      [
        [false, false],
        [true, true],
      ],
      [[]],
      [A, A],
      [],
    ],
    [[7n], [[], []], [], [[[]], [[], ['b']]], [], [-1n]],
  ]
  const store = createTestStore(
    blocksWith([
      ...all.map(values => ({ event: lists, values })),
      { event: lists, values: all[0]!, bad: true },
      ...all.toReversed().map(values => ({ event: lists, values })),
    ]),
    { events: [lists] },
  )
  const expected = [...all, undefined, ...all.toReversed()].map(values =>
    values
      ? [...JSON.parse(JSON.stringify(values.slice(0, 5), (_, it) => (typeof it === 'bigint' ? String(it) : it))), null]
      : Array(6).fill(null),
  )
  const rows = await connectDuck()
  for (const [integers, type] of [
    ['text', 'VARCHAR'],
    ['decimal', 'DECIMAL(38,0)'],
  ] as const) {
    const file = join(folder, `lists-${integers}.parquet`)
    const query = '{"query":{"term":{"event.raw":"Lists"}},"_source":["logIndex"]}'
    await exportTo(store, file, 'parquet', { query, integers })
    assert.deepEqual(
      (await rows(`SELECT column_type FROM (DESCRIBE SELECT * EXCLUDE "logIndex" FROM '${file}')`)).flat(),
      [`${type}[]`, 'BIGINT[][]', 'BOOLEAN[][]', 'VARCHAR[][][]', 'VARCHAR[]', `${type}[]`],
    )
    const found = await rows(`SELECT big, small::INT[][], flags, texts, who, hashed FROM '${file}' ORDER BY "logIndex"`)
    assert.deepEqual(found, expected)
    assert.deepEqual(await rows(`SELECT sum(len(texts))::INT, count(texts[1][1][1])::INT FROM '${file}'`), [[12, 2]])
  }
  store.close()
})
