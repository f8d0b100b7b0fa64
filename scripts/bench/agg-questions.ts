import type { Kind } from '../../src/mapping/index.ts'

type Aggs = Record<string, object>

const terms = (field: string, size = 10, aggs?: Aggs) => ({ terms: { field, size }, ...(aggs && { aggs }) })
const hourly = (b?: object) => ({
  date_histogram: { field: 'timestamp', fixed_interval: '1h' },
  ...(b && { aggs: { b } }),
})
const of = (metric: string, field: string, more: object = {}) => ({ [metric]: { field, ...more } })
/** Of the arguments of a name. */
const args = (name: string, s: object) => ({
  nested: { path: 'args' },
  aggs: { f: { filter: { term: { 'args.name': name } }, aggs: { s } } },
})
const TRANSFERS = { term: { 'event.raw': 'Transfer' } }
const AMOUNTS = args('value', of('sum', 'args.value.scaled'))
const GAS = 'gasUsed.num'

/** Aggregations over all of a store, each of another kind; the last member is the query, if any. */
export const QUESTIONS: readonly (readonly [name: string, kind: Kind, agg: object, query?: object])[] = [
  ['terms of names', 'event', terms('event.raw')],
  ['terms of emitters', 'event', terms('address.raw')],
  ['terms of senders', 'tx', terms('from.raw')],
  ['hourly', 'event', hourly()],
  ['hourly, top five names', 'event', hourly(terms('event.raw', 5))],
  ['hourly, top five emitters', 'event', hourly(terms('address.raw', 5))],
  ['hourly, mean gas', 'tx', hourly(of('avg', GAS))],
  ['senders by gas', 'tx', { terms: { field: 'from.raw', order: { s: 'desc' } }, aggs: { s: of('sum', GAS) } }],
  ['stats', 'tx', of('stats', GAS)],
  ['percentiles', 'tx', of('percentiles', GAS)],
  ['sum of amounts', 'tx', of('sum', 'value.coin')],
  ['distinct emitters', 'event', of('cardinality', 'address.raw')],
  ['distinct transactions', 'event', of('cardinality', 'transactionHash')],
  ['hourly distinct senders', 'tx', hourly(of('cardinality', 'from.raw'))],
  ['histogram', 'tx', of('histogram', GAS, { interval: 50_000 })],
  ['range', 'tx', of('range', GAS, { ranges: [{ to: 30_000 }, { from: 30_000 }] })],
  ['filters', 'event', { filters: { filters: { a: TRANSFERS, b: { term: { 'event.raw': 'Swap' } } } } }],
  ['Transfers by emitter', 'event', terms('address.raw'), TRANSFERS],
  ['amounts of Transfers', 'event', AMOUNTS, TRANSFERS],
  ['amounts of Transfers, hourly', 'event', hourly(AMOUNTS), TRANSFERS],
  [
    'composite',
    'event',
    { composite: { size: 100, sources: [{ n: { terms: { field: 'event.raw' } } }, { d: hourly() }] } },
  ],
  ['top hits', 'event', terms('event.raw', 3, { h: { top_hits: { size: 1, sort: [{ timestamp: 'desc' }] } } })],
  [
    'receivers of Transfers',
    'event',
    args('to', terms('args.value.hex')),
    { bool: { filter: [TRANSFERS, { range: { 'blockNumber.num': { lt: 22_600_100 } } }] } },
  ],
]
