import type { Kind } from '../../src/mapping/index.ts'

const HOUR = { date_histogram: { field: 'timestamp', fixed_interval: '1h' } }
/** Aggregations over all of a store, each of another kind. */
export const QUESTIONS: readonly (readonly [name: string, kind: Kind, body: object])[] = [
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
