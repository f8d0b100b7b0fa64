/** A dashboard of Grafana over a chain: what its panels ask, in the forms in which Grafana asks it. */

export interface Panel {
  name: string
  entity: 'tx' | 'event'
  body(span: Span): object
}

export interface Span {
  from: number
  to: number
  /** Another number for each span. */
  turn: number
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

const top = (field: string, size: number, aggs: object = {}, by = '_count') => ({
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

const HOUR = { date_histogram: { field: 'timestamp', fixed_interval: '1h' } }

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

const filtered = (name: string, entity: Panel['entity'], filters: (turn: number) => object[], aggs: object): Panel => ({
  name: `filtered: ${name}`,
  entity,
  body: ({ turn }) => ({ size: 0, query: { bool: { filter: filters(turn) } }, aggs }),
})

/** Numbers that differ for as many turns in succession as `of`, and are not in order. */
const another = (turn: number, of: number): number => (turn * 29) % of
const least = (field: string, value: number) => ({ range: { [field]: { gte: value } } })

const argument = (name: string, aggs: object) => ({
  a: { nested: { path: 'args' }, aggs: { f: { filter: { term: { 'args.name': name } }, aggs } } },
})
const TRANSFERS = { term: { 'event.raw': 'Transfer' } }

/** Aggregations of which each has another filter each time, so that no cached state of a segment serves them. */
export const FILTERED: readonly Panel[] = [
  filtered('names', 'event', turn => [least('logIndex.num', another(turn, 101))], { a: top('event.raw', 10) }),
  filtered('hourly, top five names', 'event', turn => [least('transactionIndex.num', another(turn, 83))], {
    a: { ...HOUR, aggs: { b: top('event.raw', 5) } },
  }),
  filtered(
    'receivers',
    'event',
    turn => [TRANSFERS, least('logIndex.num', another(turn, 101))],
    argument('to', { b: top('args.value.hex', 10) }),
  ),
  filtered(
    'amounts',
    'event',
    turn => [TRANSFERS, least('logIndex.num', another(turn, 101))],
    argument('value', { s: { sum: { field: 'args.value.scaled' } } }),
  ),
  filtered('contracts', 'event', turn => [least('logIndex.num', another(turn, 101))], {
    a: top('address.raw', 10),
  }),
  filtered('senders by gas', 'tx', turn => [least('gasUsed.num', 21_000 + another(turn, 50_000))], {
    a: top('from.raw', 10, { 1: { sum: { field: 'gasUsed.num' } } }, '1'),
  }),
  filtered('percentiles of gas', 'tx', turn => [least('transactionIndex.num', another(turn, 83))], {
    a: { percentiles: { field: 'gasUsed.num' } },
  }),
  filtered('mean fee over time', 'tx', turn => [least('gasUsed.num', 21_000 + another(turn, 50_000))], {
    a: { ...HOUR, aggs: { b: { avg: { field: 'gasPrice.num' } } } },
  }),
]

/** Spans of time, each another one, of more than half of the whole. */
export const createSpans = (whole: Omit<Span, 'turn'>): (() => Span) => {
  let asked = 0
  return () => {
    asked++
    const length = whole.to - whole.from
    const [before, after] = [(asked * 0.381966) % 1, (asked * 0.618034) % 1].map(share =>
      Math.round(share * length * 0.2),
    )
    return { from: whole.from + before!, to: whole.to - after!, turn: asked }
  }
}
