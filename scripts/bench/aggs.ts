import { createSearcher } from '../../src/engine/query/execute.ts'
import { openReader } from '../../src/engine/reader.ts'
import { createByteWriter } from '../../src/lib/bytes.ts'
import type { Kind } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'

/**
 * Processor time of aggregations over a store that is there, without HTTP:
 *
 *     node scripts/bench/aggs.ts STORE.sqlite [PART OF A NAME]
 */
const HOUR = { date_histogram: { field: 'timestamp', fixed_interval: '1h' } }
const QUESTIONS: readonly (readonly [name: string, kind: Kind, body: object])[] = [
  ['terms of names', 'event', { aggs: { a: { terms: { field: 'event.raw' } } } }],
  ['terms of emitters', 'event', { aggs: { a: { terms: { field: 'address.raw' } } } }],
  ['terms of senders', 'tx', { aggs: { a: { terms: { field: 'from.raw' } } } }],
  ['hourly', 'event', { aggs: { a: HOUR } }],
  [
    'hourly, top five names',
    'event',
    { aggs: { a: { ...HOUR, aggs: { b: { terms: { field: 'event.raw', size: 5 } } } } } },
  ],
  [
    'hourly, top five emitters',
    'event',
    { aggs: { a: { ...HOUR, aggs: { b: { terms: { field: 'address.raw', size: 5 } } } } } },
  ],
  ['hourly, mean gas', 'tx', { aggs: { a: { ...HOUR, aggs: { b: { avg: { field: 'gasUsed.num' } } } } } }],
  [
    'senders by gas',
    'tx',
    {
      aggs: {
        a: { terms: { field: 'from.raw', order: { s: 'desc' } }, aggs: { s: { sum: { field: 'gasUsed.num' } } } },
      },
    },
  ],
  ['stats', 'tx', { aggs: { a: { stats: { field: 'gasUsed.num' } } } }],
  ['percentiles', 'tx', { aggs: { a: { percentiles: { field: 'gasUsed.num' } } } }],
  ['sum of amounts', 'tx', { aggs: { a: { sum: { field: 'value.coin' } } } }],
  ['distinct emitters', 'event', { aggs: { a: { cardinality: { field: 'address.raw' } } } }],
  ['distinct transactions', 'event', { aggs: { a: { cardinality: { field: 'transactionHash' } } } }],
  ['hourly distinct senders', 'tx', { aggs: { a: { ...HOUR, aggs: { b: { cardinality: { field: 'from.raw' } } } } } }],
  ['histogram', 'tx', { aggs: { a: { histogram: { field: 'gasUsed.num', interval: 50000 } } } }],
  ['range', 'tx', { aggs: { a: { range: { field: 'gasUsed.num', ranges: [{ to: 30000 }, { from: 30000 }] } } } }],
  [
    'filters',
    'event',
    {
      aggs: {
        a: { filters: { filters: { a: { term: { 'event.raw': 'Transfer' } }, b: { term: { 'event.raw': 'Swap' } } } } },
      },
    },
  ],
  [
    'Transfers by emitter',
    'event',
    { query: { term: { 'event.raw': 'Transfer' } }, aggs: { a: { terms: { field: 'address.raw' } } } },
  ],
  [
    'amounts of Transfers',
    'event',
    {
      query: { term: { 'event.raw': 'Transfer' } },
      aggs: {
        a: {
          nested: { path: 'args' },
          aggs: {
            f: { filter: { term: { 'args.name': 'value' } }, aggs: { s: { sum: { field: 'args.value.scaled' } } } },
          },
        },
      },
    },
  ],
  [
    'amounts of Transfers, hourly',
    'event',
    {
      query: { term: { 'event.raw': 'Transfer' } },
      aggs: {
        h: {
          ...HOUR,
          aggs: {
            a: {
              nested: { path: 'args' },
              aggs: {
                f: { filter: { term: { 'args.name': 'value' } }, aggs: { s: { sum: { field: 'args.value.scaled' } } } },
              },
            },
          },
        },
      },
    },
  ],
  [
    'composite',
    'event',
    { aggs: { a: { composite: { size: 100, sources: [{ n: { terms: { field: 'event.raw' } } }, { d: HOUR }] } } } },
  ],
  [
    'top hits',
    'event',
    {
      aggs: {
        a: {
          terms: { field: 'event.raw', size: 3 },
          aggs: { h: { top_hits: { size: 1, sort: [{ timestamp: 'desc' }] } } },
        },
      },
    },
  ],
  [
    'receivers of Transfers',
    'event',
    {
      query: {
        bool: { filter: [{ term: { 'event.raw': 'Transfer' } }, { range: { 'blockNumber.num': { lt: 22600100 } } }] },
      },
      aggs: {
        a: {
          nested: { path: 'args' },
          aggs: { f: { filter: { term: { 'args.name': 'to' } }, aggs: { s: { terms: { field: 'args.value.hex' } } } } },
        },
      },
    },
  ],
]

const [file, part = ''] = process.argv.slice(2)
if (!file) throw new Error('node scripts/bench/aggs.ts STORE.sqlite [PART OF A NAME]')
const reader = openReader(file)
const searcher = createSearcher(reader)
const out = createByteWriter(1 << 16)
const RUNS = 5

const ask = (kind: Kind, body: object): number => {
  const text = JSON.stringify({ size: 0, track_total_hits: false, ...body })
  const start = process.cpuUsage().user
  out.clear()
  searcher.write(parseSearch(text, [kind], Date.now()), { deadline: Number.POSITIVE_INFINITY }, { index: 'x', out })
  return (process.cpuUsage().user - start) / 1000
}

const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[times.length >> 1]!

for (const [name, kind, body] of QUESTIONS) {
  if (!name.includes(part)) continue
  const [aggregation] = Object.values((body as { aggs: Record<string, object> }).aggs)
  // By a name that was not asked for before, so that nothing that is kept answers.
  const anew = Array.from({ length: RUNS }, (_, run) => ask(kind, { ...body, aggs: { [`a${run}`]: aggregation } }))
  const again = Array.from({ length: RUNS }, () => ask(kind, { ...body, aggs: { [`a${RUNS - 1}`]: aggregation } }))
  const [first, usual, kept] = [anew[0]!, median(anew), median(again)].map(time => time.toFixed(1).padStart(8))
  process.stdout.write(`${name.padEnd(32)} first ${first} ms, anew ${usual} ms, kept ${kept} ms\n`)
}
reader.close()
