/** Aggregations of transactions that ask for much, or for something odd. */
export const ODD: readonly object[] = [
  { a: { terms: { field: 'from.raw', size: 4_000_000_000 } } },
  { a: { terms: { field: 'from.raw', size: 70_000, order: { _key: 'asc' } } } },
  { a: { composite: { size: 100_000, sources: [{ n: { terms: { field: 'hash' } } }] } } },
  { a: { histogram: { field: 'gasUsed.num', interval: 0.001, min_doc_count: 1 } } },
  { a: { histogram: { field: 'value.num', interval: 1, min_doc_count: 1 } } },
  { a: { histogram: { field: 'gasUsed.num', interval: 5, offset: -7, min_doc_count: 1 } } },
  { a: { histogram: { field: 'gasUsed.num', interval: 5, offset: 1e18, min_doc_count: 1 } } },
  { a: { histogram: { field: 'gasUsed.num', interval: 1e308 } } },
  { a: { date_histogram: { field: 'timestamp', fixed_interval: '1ms', min_doc_count: 1 } } },
  { a: { date_histogram: { field: 'timestamp', fixed_interval: '99999999d' } } },
  { a: { date_histogram: { field: 'timestamp', fixed_interval: '9999999d', time_zone: 'Europe/Berlin' } } },
  {
    a: { date_histogram: { field: 'timestamp', calendar_interval: 'day', time_zone: 'europe/berlin', offset: '-3h' } },
  },
  { a: { date_histogram: { field: 'timestamp', calendar_interval: 'year', time_zone: '+18:00' } } },
  {
    a: {
      date_histogram: { field: 'timestamp', calendar_interval: 'quarter', time_zone: 'Asia/Calcutta', keyed: true },
    },
  },
  { a: { range: { field: 'gasUsed.num', ranges: [{}, { from: 5, to: 1 }, { to: 21_000 }] } } },
  { a: { date_range: { field: 'timestamp', ranges: [{ from: '1000-01-01' }, { to: '9999-12-31' }] } } },
  { constructor: { max: { field: 'gasUsed.num' } }, hits: { top_hits: { size: 1 } } },
  { a: { terms: { field: 'from.raw', include: '.*'.repeat(400) } } },
  { a: { terms: { field: 'from.raw', include: '(a|b)*<0-999>&@#?' } } },
  { a: { terms: { field: 'from.raw', include: '0x.*&.*[0-4]', exclude: '.{9}[0-9].*' } } },
  { a: { terms: { field: 'from.raw', missing: 'x'.repeat(40_000) } } },
  { a: { percentiles: { field: 'value.coin', percents: [0, 100, 33.3] } }, b: { boxplot: { field: 'value.num' } } },
  { a: { weighted_avg: { value: { field: 'gasPrice.num', missing: 3 }, weight: { field: 'value.num' } } } },
  {
    a: { sum: { field: 'value.num', exact: true } },
    b: { sum: { field: 'maxFeePerGas.num', exact: true, missing: 7 } },
  },
  {
    a: {
      filter: { has_child: { type: 'event', query: { term: { 'event.raw': 'Sync' } } } },
      aggs: { g: { max: { field: 'gasUsed.num' } } },
    },
  },
  { a: { auto_date_histogram: { field: 'timestamp', buckets: 100_000 } } },
  {
    a: {
      terms: { field: 'from.raw', size: 100 },
      aggs: { x: { auto_date_histogram: { field: 'timestamp', buckets: 3 } } },
    },
  },
]
