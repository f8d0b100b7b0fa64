import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openForWriting } from '../../../src/engine/open.ts'
import { openReader } from '../../../src/engine/reader.ts'
import { createWriter } from '../../../src/engine/writer.ts'
import { sizesOf } from '../fill.ts'
import { columnSizes, measureAggregates } from './aggregates.ts'
import type { Layout } from './chunks.ts'
import { trainDictionaries } from './dictionaries.ts'
import { measureHits, positionsIn } from './hits.ts'
import { writeAll } from './import.ts'
import { type Input, makeInput } from './input.ts'
import { short, table } from './measure.ts'
import { recordsOf } from './records.ts'
import { measureRedecoding } from './redecode.ts'

/** Compares ways to lay out stored documents and columns. What it found stands in docs/layout.md. */

const USAGE =
  'npm run bench:layouts -- [--blocks N] [--head N] [--rounds N] [--seed S] [--traces] [--variants] [--zstd]'

const { values: flags } = parseArgs({
  options: {
    blocks: { type: 'string', default: '1000' },
    head: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '9' },
    seed: { type: 'string', default: '1' },
    traces: { type: 'boolean', default: false },
    variants: { type: 'boolean', default: false },
    zstd: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/** Blocks of a segment: as many as make a full one. */
const RUN = 180
const MIXED = { tx: 4, log: 16, trace: 16, call: 64 }

const REDECODED = 50

const layoutsFor = (input: Input): Layout[] => {
  const plain: Layout[] = [
    { name: 'one a row', chunk: 1 },
    { name: 'chunks of 4/16', chunk: MIXED },
    { name: 'chunks of 16', chunk: 16 },
    { name: 'chunks of 64', chunk: 64 },
    { name: 'block and kind', chunk: Number.POSITIVE_INFINITY },
    { name: 'transaction', chunk: 'transaction' },
  ]
  const variants: Layout[] = [
    { name: 'chunks of 4/16', chunk: MIXED },
    { name: 'no checksum', chunk: MIXED, crc: false },
    { name: 'one table', chunk: MIXED, oneTable: true },
    { name: 'WITHOUT ROWID', chunk: MIXED, keyed: true },
    { name: 'pages of 8 KB', chunk: MIXED, pageSize: 8192 },
    { name: 'pages of 16 KB', chunk: MIXED, pageSize: 16384 },
  ]
  if (!flags.zstd) return flags.variants ? variants : plain
  const { dictionaries, trained } = trainDictionaries(recordsOf(input.batches[0]!).slice(0, 50))
  console.log(`dictionaries of zstd: ${trained ? 'trained' : 'records as they are, since there is no zstd command'}\n`)
  return [
    { name: 'chunks of 16', chunk: 16 },
    { name: 'chunks of 16, zstd', chunk: 16, zstd: dictionaries },
    { name: 'chunks of 64, zstd', chunk: 64, zstd: dictionaries },
    { name: 'block and kind, zstd', chunk: Number.POSITIVE_INFINITY, zstd: dictionaries },
    { name: 'transaction, zstd', chunk: 'transaction', zstd: dictionaries },
  ]
}

/** Where only some things are of interest. */
const isPart = flags.variants || flags.zstd

const main = async () => {
  const numbers = { blocks: Number(flags.blocks), head: Number(flags.head), seed: Number(flags.seed) }
  const rounds = Number(flags.rounds)
  const input = makeInput({ ...numbers, run: RUN, traces: flags.traces })
  const { blocks, txs, logs, traces, calls } = input
  console.log(`${blocks} blocks: ${txs} transactions, ${logs} logs, ${traces} traces, ${calls} calls\n`)
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-layouts-'))
  try {
    const layouts = layoutsFor(input)
    const written = writeAll(input, folder, layouts)
    const unit = flags.traces ? 'log, with its share of traces and calls' : 'log'
    console.log(`Processor time in µs and bytes a ${unit}; head: ms a block, one a commit\n`)
    console.log(
      table(
        [
          'store',
          'prepare',
          'write',
          'bytes stored',
          'bytes written',
          'head, CPU',
          'head, wall',
          'removal of 5 blocks, ms',
        ],
        written.map(({ name, prepare, write, stored, written, head, removal }) => [
          name,
          ...[prepare, write, stored, written, head.cpu / 1000, head.wall / 1000].map(short),
          removal === undefined ? '' : short(removal / 1000),
        ]),
      ),
    )

    const largest = sizesOf(written.find(({ name }) => name === 'index')!.path).tables.slice(0, 6)
    console.log(
      `\nIndex, bytes a ${unit}: ${largest.map(({ name, bytes }) => `${name} ${short(bytes / logs)}`).join(', ')}`,
    )
    const rows = sizesOf(written.find(({ name }) => name === 'rows')!.path).tables.slice(0, 7)
    console.log(`Rows, the same: ${rows.map(({ name, bytes }) => `${name} ${short(bytes / logs)}`).join(', ')}`)

    if (flags.traces) return
    const path = join(folder, 'today.sqlite')
    const db = openForWriting(path)
    const writer = createWriter(db)
    for (const batch of input.batches) writer.apply(batch)
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
    // What is compiled beside the program, such as the hash function, is there by then.
    await sleep(500)
    const reader = openReader(path)
    reader.begin()
    const pathOf = (name: string) => written.find(one => one.name === name)!.path
    const stores = layouts.map(layout => ({ layout, path: pathOf(layout.name) }))
    const positions = positionsIn(reader.db)
    const names = ['rows', ...layouts.map(({ name }) => name)]
    console.log('\nFrom positions to the JSON bytes of the hits, processor time in µs an answer\n')
    console.log(
      table(
        ['hits', ...names],
        measureHits({ reader, positions, stores, rounds, seed: numbers.seed, ...(isPart && { most: 5 }) }).map(
          ({ question, figures }) => [question, ...names.map(name => short(figures.get(name)!.cpu))],
        ),
      ),
    )
    if (isPart) return
    const columns = pathOf('columns')
    console.log(`\nOver ${logs} logs and ${txs} transactions, processor time in ms\n`)
    const ways = ['rows', 'columns', 'kept']
    console.log(
      table(
        ['question', 'SQL over rows', 'columns, read each time', 'columns kept in memory'],
        measureAggregates({ reader, columns, rounds, seed: numbers.seed }).map(({ question, figures }) => [
          question,
          ...ways.map(way => (figures.has(way) ? short(figures.get(way)!.cpu / 1000) : '')),
        ]),
      ),
    )
    const sizes = columnSizes(columns)
    console.log(`\nColumns: ${short(sizes.total / logs)} bytes a log with their table\n`)
    console.log(
      table(
        ['column', 'bytes a value', 'packed by bits', 'by zstd', 'width in bytes'],
        sizes.columns.map(({ field, stored, bits, zstd, form }) => [
          field,
          short(stored),
          short(bits),
          short(zstd),
          form,
        ]),
      ),
    )
    reader.end()
    reader.close()
    const chunks = { path: pathOf('chunks of 4/16'), layout: layouts.find(({ name }) => name === 'chunks of 4/16')! }
    const some = positions.log.slice(0, input.batches[0]!.logs).map((position, ordinal) => ({ position, ordinal }))
    const redecoded = measureRedecoding({
      ...{ rows: pathOf('rows'), chunks, columns, rounds },
      logs: some.filter(({ ordinal }) => ordinal % REDECODED === 0),
    })
    console.log(`\nEvery ${REDECODED}th log of a segment decoded anew, processor time in µs a log\n`)
    console.log(table([...redecoded.keys()], [[...redecoded.values()].map(({ cpu }) => short(cpu))]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (flags.help) console.log(USAGE)
else await main()
