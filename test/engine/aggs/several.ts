/** Aggregations that are added up over several stores: each kind of them, on values of each kind. */
export const AGGREGATIONS: readonly [name: string, kinds: string, aggs: object][] = [
  ['terms on addresses', 'log', { a: { terms: { field: 'address.raw', size: 20 } } }],
  [
    'terms on addresses of several kinds',
    'log,event,tx',
    { a: { terms: { field: 'address.raw', size: 20, order: { _key: 'asc' } } } },
  ],
  [
    'terms on names',
    'event',
    { a: { terms: { field: 'event.raw', size: 5 }, aggs: { who: { terms: { field: 'address.raw', size: 3 } } } } },
  ],
  [
    'terms on numbers',
    'tx',
    { a: { terms: { field: 'type.num' } }, b: { terms: { field: 'nonce.num', size: 30, order: { _key: 'desc' } } } },
  ],
  ['terms on booleans and dates', 'tx', { a: { terms: { field: 'status' } }, b: { terms: { field: 'timestamp' } } }],
  ['terms on doubles', 'tx', { a: { terms: { field: 'value.coin', size: 10 } } }],
  [
    'terms on hashes',
    'log',
    {
      a: { terms: { field: 'transactionHash', size: 10, order: { _key: 'asc' } } },
      b: { terms: { field: 'blockHash', order: { _key: 'asc' } } },
    },
  ],
  [
    'terms by a number inside',
    'tx',
    {
      a: {
        terms: { field: 'to.raw', order: { sum: 'desc' }, size: 5 },
        aggs: { sum: { sum: { field: 'gasUsed.num' } } },
      },
    },
  ],
  [
    'terms with patterns',
    'tx',
    { a: { terms: { field: 'from.raw', include: '0x[0-5].*', size: 10, missing: 'none' } } },
  ],
  ['rare terms', 'log', { a: { rare_terms: { field: 'address.raw', max_doc_count: 2 } } }],
  [
    'histograms',
    'tx',
    { a: { histogram: { field: 'gasUsed.num', interval: 50_000 }, aggs: { m: { max: { field: 'value.coin' } } } } },
  ],
  [
    'date histograms',
    'event',
    {
      a: {
        date_histogram: { field: 'timestamp', fixed_interval: '100d' },
        aggs: { c: { cardinality: { field: 'address.raw' } } },
      },
      b: { auto_date_histogram: { field: 'timestamp', buckets: 3 } },
    },
  ],
  [
    'ranges and filters',
    'tx',
    {
      a: { range: { field: 'gasUsed.num', ranges: [{ to: 50_000 }, { from: 50_000 }] } },
      b: { filters: { filters: { x: { term: { status: true } }, y: { exists: { field: 'to' } } } } },
      c: { date_range: { field: 'timestamp', ranges: [{ from: 'now-100y' }] } },
      d: { missing: { field: 'contractAddress.raw' } },
    },
  ],
  [
    'numbers',
    'tx',
    {
      a: { sum: { field: 'gasUsed.num' } },
      b: { avg: { field: 'gasUsed.num' } },
      c: { stats: { field: 'nonce.num' } },
      d: { min: { field: 'value.coin' } },
      f: { value_count: { field: 'to.raw' } },
      g: { weighted_avg: { value: { field: 'gasUsed.num' }, weight: { field: 'transactionIndex.num' } } },
    },
  ],
  [
    'distinct values',
    'log',
    {
      a: { cardinality: { field: 'address.raw' } },
      b: { cardinality: { field: 'transactionHash' } },
      c: { cardinality: { field: 'logIndex.num' } },
    },
  ],
  [
    'percentiles',
    'tx',
    {
      a: { percentiles: { field: 'gasUsed.num' } },
      b: { percentile_ranks: { field: 'gasUsed.num', values: [21_000, 100_000] } },
      c: { boxplot: { field: 'nonce.num' } },
      d: { median_absolute_deviation: { field: 'gasUsed.num' } },
    },
  ],
  [
    'arguments',
    'event',
    {
      a: {
        nested: { path: 'args' },
        aggs: {
          n: {
            terms: { field: 'args.name', size: 8 },
            aggs: { back: { reverse_nested: {} }, s: { max: { field: 'args.value.num' } } },
          },
          h: { terms: { field: 'args.value.hex', size: 5, order: { _key: 'asc' } } },
        },
      },
    },
  ],
  [
    'composite',
    'log',
    {
      a: {
        composite: {
          size: 15,
          sources: [
            { who: { terms: { field: 'address.raw' } } },
            { at: { date_histogram: { field: 'timestamp', fixed_interval: '1m' } } },
          ],
        },
      },
    },
  ],
  [
    'composite that goes on',
    'event',
    {
      a: { composite: { size: 4, sources: [{ name: { terms: { field: 'event.raw' } } }], after: { name: 'Deposit' } } },
    },
  ],
  [
    'relatives',
    'tx',
    { a: { children: { type: 'log' }, aggs: { who: { terms: { field: 'address.raw', size: 4 } } } } },
  ],
  [
    'times of buckets above',
    'event',
    {
      a: {
        terms: { field: 'event.raw', size: 6 },
        aggs: {
          when: {
            auto_date_histogram: { field: 'timestamp', buckets: 4, time_zone: 'America/New_York' },
            aggs: { who: { terms: { field: 'address.raw', size: 2 } } },
          },
        },
      },
      b: { auto_date_histogram: { field: 'timestamp', buckets: 1 } },
      c: { auto_date_histogram: { field: 'timestamp', buckets: 90, minimum_interval: 'month' } },
      d: {
        filter: { term: { 'blockNumber.num': 1000 } },
        aggs: { one: { auto_date_histogram: { field: 'timestamp' } } },
      },
    },
  ],
  [
    'times of relatives',
    'tx',
    { a: { children: { type: 'log' }, aggs: { when: { auto_date_histogram: { field: 'timestamp', buckets: 5 } } } } },
  ],
  [
    'weighted numbers',
    'tx',
    {
      a: {
        terms: { field: 'from.raw', size: 5 },
        aggs: {
          w: {
            weighted_avg: {
              value: { field: 'gasUsed.num', missing: 7 },
              weight: { field: 'type.num', missing: 3 },
            },
          },
        },
      },
      b: { weighted_avg: { value: { field: 'value.coin' }, weight: { field: 'gasPrice.num' } } },
      c: { weighted_avg: { value: { field: 'gasUsed.num' }, weight: { field: 'gasUsed.num' }, format: '0.00' } },
      d: {
        filter: { match_none: {} },
        aggs: { none: { weighted_avg: { value: { field: 'gasUsed.num' }, weight: { field: 'nonce.num' } } } },
      },
    },
  ],
  ['all documents', 'tx', { a: { global: {}, aggs: { s: { sum: { field: 'gasUsed.num' } } } } }],
  [
    'pipelines',
    'tx',
    {
      a: {
        date_histogram: { field: 'timestamp', fixed_interval: '100d' },
        aggs: { s: { sum: { field: 'gasUsed.num' } }, c: { cumulative_sum: { buckets_path: 's' } } },
      },
      most: { max_bucket: { buckets_path: 'a>s' } },
    },
  ],
]
