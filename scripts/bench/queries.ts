import type { Random } from '../lib/random.ts'
import { type Ask, few, many, type Sample, some, split, spread, takeSample, VALUES } from './sample.ts'

/** The example queries of the search interface, and some that are hard, with values of documents that are stored. */
export interface Query {
  name: string
  /** Which target it has: an example, one of those that go by an id, a filter with very many hits, or none. */
  group: 'example' | 'id' | 'wide' | 'other'
  /** The same query with different values, asked in turn. */
  requests: Request[]
}

export interface Request {
  label: string
  /** `event`, `block,tx` … */
  entities: string
  body?: string
  id?: string
}

export const makeQueries = (ask: Ask, random: Random): Query[] => {
  const sample = takeSample(ask, random)
  const { blocks, txs, parents, parties, emitters, names, pairs, args, numbers, gas } = sample
  const any = <T>(values: readonly T[]): T[] => some(values, random)
  const ranges = any(blocks).map(({ number }, i) => ({ gte: number, lte: number + [0, 9, 99, 999][i % 4]! }))
  const windows = wideWindows(ask, sample, random)

  return [
    {
      name: 'no body',
      group: 'example',
      requests: ['block', 'tx', 'log', 'event'].map(entity => search(entity, entity)),
    },
    {
      name: 'block by number',
      group: 'example',
      requests: any(blocks).map(({ number }) => search('block', `${number}`, filter(term('number.num', number)))),
    },
    {
      name: 'newest block',
      group: 'example',
      requests: [search('block', 'desc', { sort: { 'number.num': 'desc' }, size: 1 })],
    },
    {
      name: 'transactions of a block',
      group: 'example',
      requests: any(blocks).map(({ hash }) => search('tx', hash, filter(term('blockHash', hash)))),
    },
    {
      name: 'transactions of a block range',
      group: 'example',
      requests: ranges.map(bounds => search('tx', JSON.stringify(bounds), filter(range('blockNumber.num', bounds)))),
    },
    {
      name: 'transactions from or to',
      group: 'example',
      requests: spread(parties, random).map(address =>
        search('tx', address, should(term('from', address), term('to', address))),
      ),
    },
    {
      name: 'transaction by _id',
      group: 'id',
      requests: any(txs).map(hash => search('tx', hash, filter(term('_id', hash)))),
    },
    {
      name: 'logs of a transaction',
      group: 'example',
      requests: any(parents).map(hash => search('log', hash, filter(term('transactionHash', hash)))),
    },
    {
      name: 'logs of a contract',
      group: 'example',
      requests: spread(emitters, random).map(address => search('log', address, filter(term('address', address)))),
    },
    {
      name: 'events by name',
      group: 'example',
      requests: spread(names, random).map((name, i) =>
        search('event', name, filter(i % 2 ? term('event', name.toLowerCase()) : term('event.raw', name))),
      ),
    },
    {
      name: 'events by name and contract, newest first',
      group: 'example',
      requests: spread(pairs, random).map(pair => {
        const [name, address] = split(pair)
        const query = filter(term('event.raw', name), term('address.raw', address))
        return search('event', pair, { ...query, sort: { 'blockNumber.num': 'desc' } })
      }),
    },
    {
      name: 'events by argument',
      group: 'example',
      requests: spread(args, random).map(key => search('event', key, filter(argument(key)))),
    },
    {
      name: 'events by name and argument',
      group: 'example',
      requests: spread(args, random).map(key =>
        search('event', key, filter(term('event.raw', split(key)[2]), argument(key))),
      ),
    },
    {
      name: 'block by hash or transactions from or to',
      group: 'example',
      requests: [...spread(parties, random).slice(0, VALUES / 2), ...any(blocks).slice(0, VALUES / 2)].map(value => {
        const key = typeof value === 'string' ? value : value.hash
        const clauses = [{ ids: { values: [key] } }, term('from', key), term('to', key)]
        return search('block,tx', key, should(...clauses))
      }),
    },
    {
      name: 'block by hash (GET)',
      group: 'id',
      requests: any(blocks).map(({ hash }) => ({ label: hash, entities: 'block', id: hash })),
    },
    {
      name: 'transactions by ids',
      group: 'id',
      requests: any(txs).map(hash => search('tx', hash, { query: { ids: { values: [hash] } } })),
    },
    {
      name: 'Transfer in a block range, very many hits',
      group: 'wide',
      requests: windows.map(window => search('event', JSON.stringify(window), transfersIn(window))),
    },
    {
      name: 'value of an argument in a range, few hits',
      group: 'other',
      requests: few(numbers).map(least =>
        search('event', `>= ${least}`, {
          query: nested(term('args.name', 'value'), range('args.value.num', { gte: least })),
        }),
      ),
    },
    {
      name: 'value of an argument in a range, many hits',
      group: 'other',
      requests: many(numbers).map(least =>
        search('event', `>= ${least}`, {
          query: nested(term('args.name', 'value'), range('args.value.num', { gte: least })),
        }),
      ),
    },
    {
      name: SCAN,
      group: 'other',
      requests: [...many(gas), ...few(gas)].map(least =>
        search('tx', `>= ${least}`, { query: range('gasUsed.num', { gte: least }) }),
      ),
    },
  ]
}

/** A condition on a field without an index: all transactions are looked at. */
export const SCAN = 'scan of a column (gasUsed of a transaction)'

export interface Window {
  gte: number
  lte: number
}

export const transfersIn = (window: Window | undefined): object =>
  filter(term('event.raw', 'Transfer'), ...(window ? [range('blockNumber.num', window)] : []))

export const MILLION = 1_000_000

/** Block ranges with a million Transfers, or with 60 % of them where there are fewer. */
const wideWindows = (ask: Ask, { first, last }: Sample, random: Random): Window[] => {
  const { total } = ask('event', { ...transfersIn(undefined), size: 0 }).hits
  const blocks = last - first + 1
  const share = total > MILLION ? Math.min(1, (MILLION * 1.05) / total) : 0.6
  const length = Math.ceil(share * blocks)
  return Array.from({ length: 5 }, () => {
    const gte = first + random.below(blocks - length + 1)
    return { gte, lte: gte + length - 1 }
  })
}

export const search = (entities: string, label: string, body?: object): Request => ({
  label,
  entities,
  ...(body && { body: JSON.stringify(body) }),
})

export const filter = (...clauses: object[]) => ({ query: { bool: { filter: clauses } } })
export const should = (...clauses: object[]) => ({ query: { bool: { should: clauses } } })
export const term = (field: string, value: unknown) => ({ term: { [field]: value } })
export const range = (field: string, bounds: object) => ({ range: { [field]: bounds } })
export const nested = (...clauses: object[]) => ({ nested: { path: 'args', query: { bool: { filter: clauses } } } })
export const argument = (key: string) => {
  const [name, hex] = split(key)
  return nested(term('args.name', name), term('args.value.hex', hex))
}
