/** Name, kinds, and the body without its size. */
export const CASES: readonly (readonly [name: string, kinds: string, body: object])[] = [
  ['terms of names', 'event', { aggs: { a: { terms: { field: 'event.raw' } } } }],
  [
    'terms of addresses with a sum',
    'tx',
    {
      aggs: {
        a: {
          terms: { field: 'from.raw', size: 5 },
          aggs: { s: { sum: { field: 'gasUsed.num' } }, c: { sum: { field: 'value.coin' } } },
        },
      },
    },
  ],
  ['terms of emitters', 'event', { aggs: { a: { terms: { field: 'address.raw', size: 7 } } } }],
  ['terms by key', 'tx', { aggs: { a: { terms: { field: 'blockNumber.num', size: '3', order: { _key: 'desc' } } } } }],
  [
    'rare terms of names',
    'event',
    {
      aggs: {
        a: { rare_terms: { field: 'event.raw', max_doc_count: 5 }, aggs: { m: { max: { field: 'logIndex.num' } } } },
      },
    },
  ],
  ['rare terms of numbers', 'tx', { aggs: { a: { rare_terms: { field: 'gasUsed.num' } } } }],
  [
    'rare terms of addresses, some of them',
    'tx',
    { aggs: { a: { rare_terms: { field: 'from.raw', max_doc_count: '3', exclude: '0x[0-7].*', missing: 'none' } } } },
  ],
  [
    'rare terms within terms, of dates and booleans',
    'tx',
    {
      aggs: {
        a: {
          terms: { field: 'type.num' },
          aggs: {
            t: { rare_terms: { field: 'timestamp', max_doc_count: 2, include: { partition: 0, num_partitions: 3 } } },
            b: { rare_terms: { field: 'status', max_doc_count: 100 } },
          },
        },
      },
    },
  ],
  [
    'rare terms of what no document has',
    'tx',
    { aggs: { a: { rare_terms: { field: 'contractAddress.raw', max_doc_count: 0.1e1 } } } },
  ],
  [
    'terms by a sum',
    'tx',
    {
      aggs: {
        a: {
          terms: { field: 'from.raw', size: 2, order: { s: 'desc' } },
          aggs: { s: { sum: { field: 'value.coin' } } },
        },
      },
    },
  ],
  [
    'terms by count ascending',
    'tx',
    { aggs: { a: { terms: { field: 'from.raw', size: 4, order: [{ _count: 'asc' }, { _key: 'desc' }] } } } },
  ],
  [
    'terms by a deviation',
    'tx',
    {
      aggs: {
        a: {
          terms: { field: 'from.raw', size: 4, order: { 'e.std_deviation': 'desc' } },
          aggs: { e: { extended_stats: { field: 'gasUsed.num' } } },
        },
      },
    },
  ],
  [
    'terms by a percentile',
    'tx',
    {
      aggs: {
        a: {
          terms: { field: 'from.raw', size: 4, order: { 'p[95.0]': 'desc' } },
          aggs: { p: { percentiles: { field: 'gasUsed.num', percents: ['95.0'] } } },
        },
      },
    },
  ],
  [
    'terms by what is in a filter',
    'tx',
    {
      aggs: {
        a: {
          terms: { field: 'from.raw', size: 4, order: { 'f>s': 'desc' } },
          aggs: { f: { filter: { term: { status: true } }, aggs: { s: { sum: { field: 'gasUsed.num' } } } } },
        },
      },
    },
  ],
  ['terms of booleans', 'tx', { aggs: { a: { terms: { field: 'status' } } } }],
  ['terms of dates', 'tx', { aggs: { a: { terms: { field: 'timestamp', size: 3 } } } }],
  [
    'terms of dates of events',
    'event',
    { aggs: { a: { terms: { field: 'timestamp', size: 3, format: 'yyyy-MM-dd HH:mm' } } } },
  ],
  [
    'terms of amounts',
    'tx',
    {
      aggs: {
        a: { terms: { field: 'value.coin', size: 20 } },
        b: { terms: { field: 'value.num', size: 20 } },
        c: { terms: { field: 'value.raw', size: 20 } },
      },
    },
  ],
  [
    'terms that are wanted',
    'event',
    {
      aggs: {
        b: { terms: { field: 'error', missing: 'none' } },
        c: { terms: { field: 'event.raw', exclude: ['Transfer'], size: 1 } },
        d: { terms: { field: 'event.raw', include: ['Transfer', 'Sync'] } },
        e: { terms: { field: 'event.raw', include: 'T.*' } },
      },
    },
  ],
  [
    'terms without documents',
    'event',
    {
      query: { term: { 'event.raw': 'Sync' } },
      aggs: { a: { terms: { field: 'event.raw', min_doc_count: 0, size: 3 } } },
    },
  ],
  [
    'terms of few documents',
    'event',
    {
      aggs: {
        a: { terms: { field: 'event.raw', min_doc_count: 100, size: 3 } },
        b: { terms: { field: 'event.raw', min_doc_count: 30 } },
      },
    },
  ],
  ['terms of lists', 'log', { aggs: { a: { terms: { field: 'topics', size: 6 } } } }],
  [
    'terms of places',
    'trace',
    {
      aggs: {
        a: { terms: { field: 'traceAddress' } },
        b: { terms: { field: 'error' } },
        c: { terms: { field: 'type' } },
        d: { terms: { field: 'action.value.num', size: 3 } },
      },
    },
  ],
  [
    'terms in terms',
    'event',
    {
      aggs: {
        a: {
          terms: { field: 'event.raw', size: 4 },
          aggs: {
            b: { terms: { field: 'address.raw', size: 3 }, aggs: { c: { cardinality: { field: 'transactionHash' } } } },
          },
        },
      },
    },
  ],
  [
    'terms of hashes',
    'event',
    { aggs: { a: { terms: { field: 'transactionHash', size: 4 } }, b: { terms: { field: 'blockHash', size: 4 } } } },
  ],
  [
    'terms over entities',
    'tx,log,event',
    {
      aggs: {
        a: { terms: { field: 'blockNumber.num', size: 4, shard_size: 9000 } },
        b: { terms: { field: 'address.raw', size: 4, shard_size: 9000 } },
        c: { terms: { field: 'blockHash', size: 3, shard_size: 9000 } },
      },
    },
  ],
  [
    'terms of numbers of a log',
    'log',
    {
      aggs: {
        a: { terms: { field: 'logIndex.num', size: 4 } },
        b: { terms: { field: 'transactionIndex.num', size: 4 } },
        s: { terms: { field: 'signature', size: 3 } },
      },
    },
  ],
  [
    'terms of calls',
    'call',
    {
      aggs: {
        a: { terms: { field: 'method.raw' } },
        b: { terms: { field: 'callType' } },
        c: { terms: { field: 'depth' } },
        d: { terms: { field: 'selector', size: 3 } },
        e: { terms: { field: 'reverted' } },
      },
    },
  ],
  [
    'hourly',
    'tx',
    {
      aggs: {
        a: { date_histogram: { field: 'timestamp', fixed_interval: '30m' } },
        b: { date_histogram: { field: 'timestamp', interval: '1h' } },
        c: {
          date_histogram: {
            field: 'timestamp',
            calendar_interval: 'month',
            format: 'yyyy-MM-dd',
            time_zone: 'Europe/Berlin',
          },
        },
      },
    },
  ],
  [
    'hourly with bounds',
    'tx',
    {
      aggs: {
        a: {
          date_histogram: {
            field: 'timestamp',
            fixed_interval: '1h',
            min_doc_count: 0,
            extended_bounds: { min: 1735682400000, max: 1735700400000 },
          },
          aggs: { s: { avg: { field: 'gasUsed.num' } }, t: { stats: { field: 'gasUsed.num' } } },
        },
      },
    },
  ],
  [
    'hourly with an offset',
    'tx',
    { aggs: { a: { date_histogram: { field: 'timestamp', fixed_interval: '1h', offset: '+15m', keyed: true } } } },
  ],
  [
    'hourly, hard bounds',
    'tx',
    {
      aggs: {
        a: {
          date_histogram: {
            field: 'timestamp',
            fixed_interval: '10m',
            hard_bounds: { min: 1735689600000, max: 1735693200000 },
          },
        },
      },
    },
  ],
  [
    'hourly by count',
    'event',
    {
      aggs: {
        a: {
          date_histogram: { field: 'timestamp', fixed_interval: '20m', order: { _count: 'desc' } },
          aggs: { n: { terms: { field: 'event.raw', size: 5 } } },
        },
      },
    },
  ],
  [
    'hourly newest first',
    'event',
    {
      aggs: {
        a: { date_histogram: { field: 'timestamp', fixed_interval: '20m', order: { _key: 'desc' }, min_doc_count: 1 } },
      },
    },
  ],
  [
    'of no documents',
    'event',
    {
      query: { term: { 'event.raw': 'Nothing' } },
      aggs: {
        a: { date_histogram: { field: 'timestamp', fixed_interval: '1h' } },
        b: { terms: { field: 'event.raw' } },
        c: { avg: { field: 'logIndex.num' } },
        d: { stats: { field: 'logIndex.num' } },
        e: { extended_stats: { field: 'logIndex.num' } },
        f: { percentiles: { field: 'logIndex.num' } },
        g: { min: { field: 'logIndex.num' } },
        h: { sum: { field: 'logIndex.num' } },
        i: { cardinality: { field: 'event.raw' } },
        j: { value_count: { field: 'event.raw' } },
        k: { range: { field: 'logIndex.num', ranges: [{ to: 5 }] } },
        l: { composite: { sources: [{ x: { terms: { field: 'event.raw' } } }] } },
        m: { nested: { path: 'args' } },
        n: { top_hits: { size: 1 } },
        o: { auto_date_histogram: { field: 'timestamp', buckets: 4 } },
        p: { filters: { filters: { x: { match_all: {} } } } },
      },
    },
  ],
  [
    'automatic',
    'tx',
    {
      aggs: {
        a: { auto_date_histogram: { field: 'timestamp', buckets: 3 } },
        b: { auto_date_histogram: { field: 'timestamp', buckets: 10 }, aggs: { s: { sum: { field: 'gasUsed.num' } } } },
        c: { auto_date_histogram: { field: 'timestamp', buckets: 100, format: 'HH:mm' } },
        d: { auto_date_histogram: { field: 'timestamp', buckets: 1 } },
      },
    },
  ],
  [
    'histogram',
    'tx',
    {
      aggs: {
        a: { histogram: { field: 'gasUsed.num', interval: 500000, min_doc_count: 1 } },
        b: { histogram: { field: 'gasUsed.num', interval: 1e6, offset: 3e5 } },
        c: {
          histogram: { field: 'value.coin', interval: 0.5, min_doc_count: 3, keyed: true, order: { _count: 'desc' } },
        },
        d: { histogram: { field: 'gasUsed.num', interval: 1e6, extended_bounds: { min: -2e6, max: 5e6 } } },
        e: { histogram: { field: 'gasUsed.num', interval: 1e6, hard_bounds: { min: 1e6, max: 2e6 } } },
      },
    },
  ],
  [
    'range',
    'tx',
    {
      aggs: {
        a: {
          range: {
            field: 'gasUsed.num',
            ranges: [{ to: 21001 }, { from: 21001, to: 100000 }, { from: 100000, key: 'big' }],
          },
        },
        b: {
          range: { field: 'value.coin', keyed: true, ranges: [{ to: 1.5 }, { from: 1.5 }] },
          aggs: { s: { max: { field: 'gasUsed.num' } } },
        },
      },
    },
  ],
  [
    'date range',
    'tx',
    {
      aggs: {
        a: {
          date_range: {
            field: 'timestamp',
            format: 'yyyy-MM-dd',
            ranges: [{ from: '2025-01-01', to: '2025-01-02' }, { to: '2025-01-01||+1M/M' }],
          },
        },
        b: {
          date_range: {
            field: 'timestamp',
            keyed: true,
            ranges: [{ from: 1735693200, key: 'late' }, { to: 1735693200 }],
          },
        },
      },
    },
  ],
  [
    'filters',
    'event',
    {
      aggs: {
        a: {
          filters: {
            filters: { z: { term: { 'event.raw': 'Transfer' } }, b: { term: { 'event.raw': 'Sync' } } },
            other_bucket: true,
          },
        },
        b: {
          filters: { filters: [{ term: { 'event.raw': 'Transfer' } }, { match_all: {} }], other_bucket_key: 'rest' },
        },
        c: { filter: { term: { 'event.raw': 'Swap' } }, aggs: { t: { terms: { field: 'address.raw', size: 2 } } } },
      },
    },
  ],
  [
    'missing',
    'tx',
    {
      aggs: {
        a: { missing: { field: 'to.raw' }, aggs: { s: { sum: { field: 'gasUsed.num' } } } },
        b: { missing: { field: 'contractAddress.raw' } },
        c: { missing: { field: 'gasPrice.num' } },
      },
    },
  ],
  [
    'global',
    'event',
    {
      query: { term: { 'event.raw': 'Sync' } },
      aggs: {
        a: { global: {}, aggs: { n: { terms: { field: 'event.raw', size: 2 } } } },
        b: { terms: { field: 'event.raw' } },
      },
    },
  ],
  [
    'nested',
    'event',
    {
      aggs: {
        a: {
          nested: { path: 'args' },
          aggs: {
            n: {
              terms: { field: 'args.name', size: 6 },
              aggs: {
                s: { avg: { field: 'args.value.scaled' } },
                d: { reverse_nested: {}, aggs: { t: { terms: { field: 'event.raw', size: 2 } } } },
              },
            },
            p: { terms: { field: 'args.pos' } },
            t: { terms: { field: 'args.value.type' } },
          },
        },
      },
    },
  ],
  [
    'nested, an argument by name',
    'event',
    {
      query: { term: { 'event.raw': 'Transfer' } },
      aggs: {
        a: {
          nested: { path: 'args' },
          aggs: {
            f: {
              filter: { term: { 'args.name': 'value' } },
              aggs: {
                s: { sum: { field: 'args.value.scaled' } },
                n: { stats: { field: 'args.value.num' } },
                c: { value_count: { field: 'args.value.num' } },
                x: { cardinality: { field: 'args.value.hex', precision_threshold: 40000 } },
              },
            },
          },
        },
      },
    },
  ],
  [
    'nested, by day',
    'event',
    {
      aggs: {
        d: {
          date_histogram: { field: 'timestamp', fixed_interval: '15m' },
          aggs: {
            a: {
              nested: { path: 'args' },
              aggs: {
                f: {
                  filter: { bool: { filter: [{ term: { 'args.name': 'to' } }] } },
                  aggs: { t: { terms: { field: 'args.value.hex', size: 3 } } },
                },
                g: { filter: { range: { 'args.value.num': { gt: 1000000 } } } },
                h: {
                  filters: {
                    filters: {
                      big: {
                        bool: {
                          must_not: [{ range: { 'args.value.num': { lt: 100 } } }],
                          filter: [{ exists: { field: 'args.value.num' } }],
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  ],
  [
    'nested fields outside',
    'event',
    { aggs: { a: { terms: { field: 'args.name' } }, b: { sum: { field: 'args.value.num' } } } },
  ],
  [
    'nested calls',
    'call',
    {
      aggs: {
        a: {
          nested: { path: 'args' },
          aggs: {
            n: { terms: { field: 'args.name', size: 6 } },
            s: { sum: { field: 'args.value.num' } },
            t: { terms: { field: 'args.value.type' } },
          },
        },
      },
    },
  ],
  [
    'composite',
    'event',
    {
      aggs: {
        a: {
          composite: {
            size: 4,
            sources: [
              { n: { terms: { field: 'event.raw' } } },
              { d: { date_histogram: { field: 'timestamp', fixed_interval: '1h' } } },
            ],
          },
        },
      },
    },
  ],
  [
    'composite after',
    'event',
    {
      aggs: {
        a: {
          composite: {
            size: 2,
            after: { n: 'Approval' },
            sources: [{ n: { terms: { field: 'event.raw', order: 'asc' } } }],
          },
          aggs: { c: { cardinality: { field: 'address.raw' } } },
        },
      },
    },
  ],
  [
    'composite of numbers',
    'tx',
    {
      aggs: {
        a: {
          composite: {
            size: 5,
            sources: [
              { s: { terms: { field: 'status', order: 'desc' } } },
              { h: { histogram: { field: 'gasUsed.num', interval: 100000 } } },
            ],
          },
        },
        b: {
          composite: {
            size: 3,
            sources: [
              { t: { terms: { field: 'to.raw', missing_bucket: true } } },
              { d: { date_histogram: { field: 'timestamp', calendar_interval: '1h', format: 'yyyy-MM-dd HH' } } },
            ],
            after: { t: null, d: '2025-01-01 00' },
          },
        },
      },
    },
  ],
  [
    'top hits',
    'event',
    {
      aggs: {
        a: {
          terms: { field: 'event.raw', size: 3 },
          aggs: {
            h: {
              top_hits: {
                size: 2,
                sort: [{ 'blockNumber.num': 'desc' }, { 'logIndex.num': 'asc' }],
                _source: ['event'],
              },
            },
          },
        },
      },
    },
  ],
  [
    'metrics',
    'tx',
    {
      aggs: {
        a: { avg: { field: 'gasUsed.num' } },
        b: { sum: { field: 'gasPrice.num' } },
        c: { min: { field: 'value.coin' } },
        d: { max: { field: 'timestamp' } },
        e: { stats: { field: 'timestamp' } },
        f: { extended_stats: { field: 'gasUsed.num' } },
        g: { extended_stats: { field: 'nonce.num', sigma: 3 } },
        h: { value_count: { field: 'to.raw' } },
        i: { cardinality: { field: 'to.raw' } },
        j: { avg: { field: 'status' } },
        k: { avg: { field: 'gasPrice.num', missing: 10 } },
        l: { stats: { field: 'status' } },
        m: { value_count: { field: 'timestamp' } },
        n: { sum: { field: 'value.num' } },
        o: { max: { field: 'timestamp', format: 'yyyy' } },
        p: { avg: { field: 'timestamp' } },
        q: { weighted_avg: { value: { field: 'gasPrice.num' }, weight: { field: 'gasUsed.num' } } },
        r: { cardinality: { field: 'gasUsed.num' } },
        s: { avg: { field: 'gasUsed.num', format: '0.00' } },
        t: { value_count: { field: 'status' } },
      },
    },
  ],
  ['extended stats of dates', 'tx', { aggs: { a: { extended_stats: { field: 'timestamp' } } } }],
  [
    'percentiles of few values',
    'tx',
    {
      query: { range: { 'blockNumber.num': { lt: 40 } } },
      aggs: {
        a: { percentiles: { field: 'gasUsed.num' } },
        b: { percentiles: { field: 'gasUsed.num', keyed: false, percents: [50, '99.9'] } },
        c: { percentiles: { field: 'timestamp', percents: [50] } },
        d: {
          percentile_ranks: {
            field: 'gasUsed.num',
            values: [20999, 21000, 21001, 50000, 1, 1e9, 60000, 100000, 200000],
          },
        },
      },
    },
  ],
  ['named and typed', 'event', { aggs: { a: { meta: { x: 1, y: 'z' }, terms: { field: 'event.raw', size: 1 } } } }],
  [
    'of blocks',
    'block',
    {
      aggs: {
        a: { terms: { field: 'miner.raw' } },
        b: { histogram: { field: 'number.num', interval: 50 } },
        c: { avg: { field: 'gasUsed.num' } },
        d: { sum: { field: 'size.num' } },
        e: { terms: { field: 'parentHash', size: 2 } },
        f: { cardinality: { field: 'transactions' } },
      },
    },
  ],
  [
    'of tokens and contracts',
    'token,contract',
    {
      aggs: {
        a: { terms: { field: 'standard' } },
        b: { terms: { field: 'decimals' } },
        c: { date_histogram: { field: 'timestamp', fixed_interval: '1h' } },
        d: { avg: { field: 'codeSize' } },
        e: { terms: { field: 'name.raw', size: 3 } },
      },
    },
  ],
  [
    'pipelines',
    'tx',
    {
      aggs: {
        h: {
          date_histogram: { field: 'timestamp', fixed_interval: '10m' },
          aggs: {
            s: { sum: { field: 'gasUsed.num' } },
            d: { derivative: { buckets_path: 's' } },
            c: { cumulative_sum: { buckets_path: 's' } },
            x: { serial_diff: { buckets_path: 's', lag: 2 } },
          },
        },
        best: { max_bucket: { buckets_path: 'h>s' } },
        all: { stats_bucket: { buckets_path: 'h._count' } },
      },
    },
  ],
  [
    'sorted and selected',
    'event',
    {
      aggs: {
        n: {
          terms: { field: 'event.raw', size: 10 },
          aggs: {
            c: { cardinality: { field: 'address.raw' } },
            b: { bucket_sort: { sort: [{ c: 'desc' }, { _key: 'asc' }], size: 3 } },
          },
        },
      },
    },
  ],
  [
    'bounds of dates beside an offset',
    'tx',
    {
      aggs: {
        a: {
          date_histogram: {
            field: 'timestamp',
            fixed_interval: '10m',
            offset: '4m',
            keyed: true,
            hard_bounds: { min: 1735690000000, max: 1735693000000 },
          },
        },
        b: {
          date_histogram: {
            field: 'timestamp',
            calendar_interval: 'hour',
            offset: '-10m',
            time_zone: '+05:45',
            hard_bounds: { min: 1735690000000, max: 1735694000000 },
          },
        },
        c: {
          date_histogram: {
            field: 'timestamp',
            calendar_interval: 'day',
            offset: '30h',
            format: 'yyyy-MM-dd',
            extended_bounds: { min: '2024-12-29', max: '2025-01-04' },
          },
        },
        d: {
          date_histogram: {
            field: 'timestamp',
            fixed_interval: '30m',
            hard_bounds: { min: '2025-01-01T00:40:00Z', max: '2025-01-01T00:50:00Z' },
          },
        },
      },
    },
  ],
  [
    'bounds of numbers beside an offset',
    'tx',
    {
      aggs: {
        t: {
          terms: { field: 'status' },
          aggs: {
            a: {
              histogram: {
                field: 'gasUsed.num',
                interval: 30_000,
                offset: -7000,
                hard_bounds: { min: 20_000, max: 150_000 },
                extended_bounds: { min: 30_000, max: 100_000 },
              },
            },
          },
        },
        b: {
          histogram: {
            field: 'gasUsed.num',
            interval: 50_000,
            offset: 7000,
            keyed: true,
            hard_bounds: { min: 57_000, max: 207_000 },
          },
        },
      },
    },
  ],
  [
    'terms by regular expressions and lists',
    'event',
    {
      aggs: {
        a: { terms: { field: 'event.raw', include: 'T.*|S[a-z]nc', size: 1 } },
        b: { terms: { field: 'event.raw', include: 'T.*', exclude: 'Transfer' } },
        c: { terms: { field: 'event.raw', include: '@&~(T.*)' } },
        d: { terms: { field: 'event.raw', include: ['Transfer', 'Sync'], exclude: 'T.*' } },
        e: { terms: { field: 'error', missing: 'none', include: 'n.*' } },
        f: { terms: { field: 'event.raw', include: [] } },
        g: { terms: { field: 'event.raw', exclude: '' } },
      },
    },
  ],
  [
    'terms by lists of numbers, dates and booleans',
    'tx',
    {
      aggs: {
        a: { terms: { field: 'gasUsed.num', include: [21_000, '30000', '21206.0'] } },
        b: { terms: { field: 'gasUsed.num', exclude: [21_000], size: 3 } },
        c: { terms: { field: 'status', include: ['true'] } },
        d: { terms: { field: 'status', exclude: [true] } },
        e: { terms: { field: 'timestamp', include: ['2025-01-01T00:01:00Z', '1735689672'] } },
        f: { terms: { field: 'value.coin', include: ['0.0', 1, 0.5] } },
      },
    },
  ],
  [
    'terms by partitions',
    'tx',
    {
      aggs: {
        a: { terms: { field: 'from.raw', size: 50, include: { partition: 1, num_partitions: 3 } } },
        b: {
          terms: {
            field: 'blockNumber.num',
            size: 9,
            order: { _key: 'asc' },
            include: { partition: 0, num_partitions: 7 },
          },
        },
        c: { terms: { field: 'value.coin', size: 50, include: { partition: 2, num_partitions: 5 } } },
      },
    },
  ],
  [
    'names of indices',
    'tx,event',
    {
      aggs: {
        a: { terms: { field: '_index', order: { _key: 'asc' } }, aggs: { n: { value_count: { field: '_id' } } } },
        b: { cardinality: { field: '_index' } },
        c: { terms: { field: '_index', include: '.*tx' } },
        d: {
          composite: { sources: [{ i: { terms: { field: '_index' } } }, { s: { terms: { field: 'blockHash' } } }] },
        },
      },
    },
  ],
  [
    'ids',
    'tx',
    {
      aggs: {
        a: { value_count: { field: '_id' } },
        b: { cardinality: { field: '_id' } },
        c: { missing: { field: '_id' } },
      },
    },
  ],
  [
    'fields that nothing has, with a value in their place',
    'tx',
    {
      aggs: {
        a: { terms: { field: 'nope', missing: 'm' } },
        b: { terms: { field: 'nope', missing: 3 } },
        c: { sum: { field: 'nope', missing: 2 } },
        d: { cardinality: { field: 'nope', missing: 'q' } },
        e: { percentiles: { field: 'nope', missing: 4, percents: [50] } },
        f: { histogram: { field: 'nope', interval: 4, missing: 9 } },
        g: { stats: { field: 'nope', missing: 2.5 } },
        h: { weighted_avg: { value: { field: 'gasUsed.num' }, weight: { field: 'nope', missing: 2 } } },
      },
    },
  ],
  [
    'deviations from medians',
    'tx',
    {
      aggs: {
        a: { median_absolute_deviation: { field: 'gasUsed.num' } },
        t: {
          terms: { field: 'status', order: { m: 'asc' } },
          aggs: { m: { median_absolute_deviation: { field: 'gasUsed.num', format: '0.00' } } },
        },
        n: { filter: { match_none: {} }, aggs: { m: { median_absolute_deviation: { field: 'gasUsed.num' } } } },
        b: { max_bucket: { buckets_path: 't>m' } },
        p: { percentiles_bucket: { buckets_path: 't>m', keyed: false, format: '0.00', percents: [50] } },
      },
    },
  ],
  [
    'hits of buckets by their scores',
    'event',
    {
      query: {
        bool: { should: [{ match: { event: 'transfer' } }, { term: { 'event.raw': { value: 'Sync', boost: 3 } } }] },
      },
      aggs: {
        t: {
          terms: { field: 'event.raw', size: 3 },
          aggs: {
            b: {
              top_hits: {
                size: 2,
                _source: false,
                sort: ['_score', { 'logIndex.num': 'desc' }, { timestamp: 'desc' }, 'transactionHash'],
              },
            },
            c: {
              top_hits: {
                size: 1,
                _source: false,
                sort: [{ 'logIndex.num': 'desc' }, { timestamp: 'desc' }, 'transactionHash'],
                track_scores: true,
              },
            },
          },
        },
      },
    },
  ],
  [
    'elements as hits',
    'event',
    {
      aggs: {
        n: {
          nested: { path: 'args' },
          aggs: {
            t: {
              terms: { field: 'args.name', size: 4 },
              aggs: {
                h: {
                  top_hits: {
                    size: 3,
                    from: 1,
                    sort: [{ 'args.value.num': 'desc' }, 'args.value.hex'],
                    _source: ['args.name', 'args.pos'],
                    docvalue_fields: ['args.pos'],
                    version: true,
                  },
                },
              },
            },
            a: { top_hits: { size: 2, sort: { 'args.pos': { order: 'desc' } } } },
            b: {
              top_hits: { size: 2, sort: { 'args.value.num': { order: 'asc', missing: '_first' } }, _source: false },
            },
          },
        },
      },
    },
  ],
  [
    'elements as hits by scores',
    'event',
    {
      query: { bool: { should: [{ match: { event: 'transfer' } }, { match_all: {} }] } },
      aggs: {
        n: {
          nested: { path: 'args' },
          aggs: { a: { top_hits: { size: 1, sort: 'args.value.num', track_scores: true, _source: false } } },
        },
      },
    },
  ],
]
