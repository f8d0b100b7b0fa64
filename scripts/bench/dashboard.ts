/** A dashboard of Grafana over a chain: what its panels ask, in the forms in which Grafana asks it. */

export interface Panel {
  name: string
  entity: 'tx' | 'event'
  body(span: Span): object
}

export interface Span {
  from: number
  to: number
}

const BUCKETS = 60

const asked = ({ from, to }: Span, words: string | undefined, aggs: object): object => ({
  size: 0,
  query: {
    bool: {
      filter: [
        { range: { timestamp: { gte: from, lte: to, format: 'epoch_millis' } } },
        ...(words === undefined ? [] : [{ query_string: { analyze_wildcard: true, query: words } }]),
      ],
    },
  },
  aggs,
})

const overTime = ({ from, to }: Span, aggs: object = {}) => ({
  date_histogram: {
    field: 'timestamp',
    fixed_interval: `${Math.max(12, Math.round((to - from) / BUCKETS / 1000))}s`,
    min_doc_count: 0,
    extended_bounds: { min: from, max: to },
    format: 'epoch_millis',
  },
  aggs,
})

export const top = (field: string, size: number, aggs: object = {}, by = '_count') => ({
  terms: { field, size: `${size}`, order: { [by]: 'desc' }, min_doc_count: 1 },
  aggs,
})

const panel = (name: string, entity: Panel['entity'], aggs: (span: Span) => object, words?: string): Panel => ({
  name,
  entity,
  body: span => asked(span, words, aggs(span)),
})

export const PANELS: readonly Panel[] = [
  panel('transactions over time', 'tx', span => ({ 2: overTime(span) })),
  panel('events over time', 'event', span => ({ 2: overTime(span) }), '*'),
  panel(
    'mean gas used',
    'tx',
    span => ({ 2: overTime(span, { 1: { avg: { field: 'gasUsed.num' } } }) }),
    'status:true',
  ),
  panel('gas used and its change', 'tx', span => ({
    2: overTime(span, { 1: { sum: { field: 'gasUsed.num' } }, 4: { derivative: { buckets_path: '1' } } }),
  })),
  panel('busiest events', 'event', () => ({ 3: top('event.raw', 10) })),
  panel('busiest events over time', 'event', span => ({ 3: top('event.raw', 5, { 2: overTime(span) }) })),
  panel('events over time, by name', 'event', span => ({ 2: overTime(span, { 3: top('event.raw', 5) }) })),
  panel('busiest contracts', 'event', () => ({ 3: top('address.raw', 10) })),
  panel('senders by gas', 'tx', () => ({ 3: top('from.raw', 10, { 1: { sum: { field: 'gasUsed.num' } } }, '1') })),
  panel('senders over time', 'tx', span => ({ 2: overTime(span, { 1: { cardinality: { field: 'from.raw' } } }) })),
  panel('gas used', 'tx', () => ({ 2: { histogram: { field: 'gasUsed.num', interval: 100_000, min_doc_count: 1 } } })),
  panel('failed and not', 'tx', span => ({
    2: {
      filters: {
        filters: {
          ok: { query_string: { analyze_wildcard: true, query: 'status:true' } },
          failed: { query_string: { analyze_wildcard: true, query: 'status:false' } },
        },
      },
      aggs: { 3: overTime(span) },
    },
  })),
]

export const HOUR = { date_histogram: { field: 'timestamp', fixed_interval: '1h' } }

/** The aggregations that have targets of their own, over nearly everything. */
export const WHOLE: readonly Panel[] = [
  panel('all: names', 'event', () => ({ a: top('event.raw', 10) })),
  panel('all: contracts', 'event', () => ({ a: top('address.raw', 10) })),
  panel('all: hourly, top five names', 'event', () => ({ a: { ...HOUR, aggs: { b: top('event.raw', 5) } } })),
  panel('all: hourly, top five contracts', 'event', () => ({ a: { ...HOUR, aggs: { b: top('address.raw', 5) } } })),
  panel('all: percentiles of gas', 'tx', () => ({ a: { percentiles: { field: 'gasUsed.num' } } })),
  panel('all: names by hour, composite', 'event', () => ({
    a: { composite: { size: 100, sources: [{ n: { terms: { field: 'event.raw' } } }, { d: HOUR }] } },
  })),
  panel('all: amounts', 'event', () => ({
    a: {
      nested: { path: 'args' },
      aggs: { f: { filter: { term: { 'args.name': 'value' } }, aggs: { s: { sum: { field: 'args.value.scaled' } } } } },
    },
  })),
]

/** Spans of time, each another one, of more than half of the whole. */
export const createSpans = (whole: Span): (() => Span) => {
  let asked = 0
  return () => {
    asked++
    const length = whole.to - whole.from
    const [before, after] = [(asked * 0.381966) % 1, (asked * 0.618034) % 1].map(share =>
      Math.round(share * length * 0.2),
    )
    return { from: whole.from + before!, to: whole.to - after! }
  }
}
