import type { Hex } from '../../src/chain/wire.ts'

/** A request that a user of the server repeats. */
export interface Asked {
  name: string
  entities: string
  body: object
}

/** Of every shape that takes another way through the program. `tip` is the newest block. */
export const queriesAt = (tip: number, sender: Hex, token: Hex): Asked[] => [
  { name: 'by sender', entities: 'tx', body: { query: { term: { from: sender } }, sort: { timestamp: 'desc' } } },
  {
    name: 'transfers of a token',
    entities: 'event',
    body: { query: { bool: { filter: [{ term: { 'event.raw': 'Transfer' } }, { term: { address: token } }] } } },
  },
  {
    name: 'arguments',
    entities: 'event',
    body: {
      query: { nested: { path: 'args', query: { range: { 'args.value.num': { gte: 1_000_000 } } } } },
      sort: { 'blockNumber.num': 'desc' },
      size: 50,
    },
  },
  {
    name: 'all logs of ten blocks',
    entities: 'log',
    body: { query: { range: { 'blockNumber.num': { gt: tip - 10 } } }, size: -1 },
  },
  {
    name: 'most active tokens',
    entities: 'event',
    body: { size: 0, aggs: { tokens: { terms: { field: 'address.raw', size: 20 } } } },
  },
  {
    name: 'by minute',
    entities: 'tx',
    body: {
      size: 0,
      aggs: {
        minutes: {
          date_histogram: { field: 'timestamp', fixed_interval: '1m' },
          aggs: { gas: { stats: { field: 'gasUsed.num' } }, senders: { cardinality: { field: 'from.raw' } } },
        },
      },
    },
  },
  { name: 'sorted by value', entities: 'tx', body: { sort: { 'value.num': 'desc' }, size: 20 } },
  { name: 'everything', entities: 'block,tx,log,event,contract,token', body: { sort: '_doc', size: 100 } },
]
