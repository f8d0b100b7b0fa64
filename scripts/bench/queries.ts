import type { Random } from './random.ts'

/** The example queries of the search interface, and some that are hard, with values of documents that are stored. */
export interface Query {
  name: string
  /** Which target it has: an example, one of those that go by an id, a filter with very many hits, or none. */
  group: 'example' | 'id' | 'wide' | 'other'
  /** The same query with different values, asked in turn. */
  requests: Request[]
}

export interface Request {
  /** The value that is asked for. */
  label: string
  /** `event`, `block,tx` … */
  entities: string
  /** What is posted to `search`; undefined is no body. */
  body?: string
  /** Instead of a search: the document of this id. */
  id?: string
}

/** Answers a search as parsed JSON. */
export type Ask = (entities: string, body?: object) => Answer

export interface Answer {
  hits: { total: number; hits: { _id: string; _parent: string | null; _source: Record<string, unknown> }[] }
}

export const makeQueries = (ask: Ask, random: Random): Query[] => {
  const sample = takeSample(ask, random)
  const { blocks, txs, parents, parties, emitters, names, pairs, args, numbers, gas } = sample
  const one = <T>(values: readonly T[]): T => values[random.below(values.length)]!
  const some = <T>(values: readonly T[]): T[] => Array.from({ length: VALUES }, () => one(values))
  const search = (entities: string, label: string, body?: object): Request => ({
    label,
    entities,
    ...(body && { body: JSON.stringify(body) }),
  })
  const filter = (...clauses: object[]) => ({ query: { bool: { filter: clauses } } })
  const term = (field: string, value: unknown) => ({ term: { [field]: value } })
  const argument = (key: string) => {
    const [name, hex] = split(key)
    return nested(term('args.name', name), term('args.value.hex', hex))
  }
  const ranges = some(blocks).map(({ number }, i) => ({ gte: number, lte: number + [0, 9, 99, 999][i % 4]! }))
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
      requests: some(blocks).map(({ number }) => search('block', `${number}`, filter(term('number.num', number)))),
    },
    {
      name: 'newest block',
      group: 'example',
      requests: [search('block', 'desc', { sort: { 'number.num': 'desc' }, size: 1 })],
    },
    {
      name: 'transactions of a block',
      group: 'example',
      requests: some(blocks).map(({ hash }) => search('tx', hash, filter(term('blockHash', hash)))),
    },
    {
      name: 'transactions of a block range',
      group: 'example',
      requests: ranges.map(range =>
        search('tx', JSON.stringify(range), filter({ range: { 'blockNumber.num': range } })),
      ),
    },
    {
      name: 'transactions from or to',
      group: 'example',
      requests: spread(parties, random).map(address =>
        search('tx', address, { query: { bool: { should: [term('from', address), term('to', address)] } } }),
      ),
    },
    {
      name: 'transaction by _id',
      group: 'id',
      requests: some(txs).map(hash => search('tx', hash, filter(term('_id', hash)))),
    },
    {
      name: 'logs of a transaction',
      group: 'example',
      requests: some(parents).map(hash => search('log', hash, filter(term('transactionHash', hash)))),
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
      requests: [...spread(parties, random).slice(0, VALUES / 2), ...some(blocks).slice(0, VALUES / 2)].map(value => {
        const key = typeof value === 'string' ? value : value.hash
        const should = [{ ids: { values: [key] } }, term('from', key), term('to', key)]
        return search('block,tx', key, { query: { bool: { should } } })
      }),
    },
    {
      name: 'block by hash (GET)',
      group: 'id',
      requests: some(blocks).map(({ hash }) => ({ label: hash, entities: 'block', id: hash })),
    },
    {
      name: 'transactions by ids',
      group: 'id',
      requests: some(txs).map(hash => search('tx', hash, { query: { ids: { values: [hash] } } })),
    },
    {
      name: 'Transfer in a block range, very many hits',
      group: 'wide',
      requests: windows.map(range => search('event', JSON.stringify(range), transfersIn(range))),
    },
    {
      name: 'value of an argument in a range, few hits',
      group: 'other',
      requests: few(numbers).map(least =>
        search('event', `>= ${least}`, { query: nested(term('args.name', 'value'), atLeast('args.value.num', least)) }),
      ),
    },
    {
      name: 'value of an argument in a range, many hits',
      group: 'other',
      requests: many(numbers).map(least =>
        search('event', `>= ${least}`, { query: nested(term('args.name', 'value'), atLeast('args.value.num', least)) }),
      ),
    },
    {
      name: SCAN,
      group: 'other',
      requests: [...many(gas), ...few(gas)].map(least =>
        search('tx', `>= ${least}`, { query: atLeast('gasUsed.num', least) }),
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

export const transfersIn = (range: Window | undefined): object => ({
  query: {
    bool: {
      filter: [{ term: { 'event.raw': 'Transfer' } }, ...(range ? [{ range: { 'blockNumber.num': range } }] : [])],
    },
  },
})

/** Different values of each query. */
const VALUES = 40
/** Blocks whose documents the values are drawn from. */
const BLOCKS = 48

interface Sample {
  first: number
  last: number
  blocks: { number: number; hash: string }[]
  txs: string[]
  /** Transactions with logs. */
  parents: string[]
  /** How often something was seen; several parts are joined by a bar. */
  parties: Map<string, number>
  emitters: Map<string, number>
  names: Map<string, number>
  /** Event name and contract. */
  pairs: Map<string, number>
  /** Argument name, address and event name. */
  args: Map<string, number>
  /** Values of arguments called `value` that fit a long, ascending. */
  numbers: number[]
  /** Used by transactions, ascending. */
  gas: number[]
}

const takeSample = (ask: Ask, random: Random): Sample => {
  const end = (order: string): number => {
    const { hits } = ask('block', { sort: { 'number.num': order }, size: 1 }).hits
    if (hits.length === 0) throw new Error('the store holds no block')
    return (hits[0]!._source.number as { num: number }).num
  }
  const [first, last] = [end('asc'), end('desc')]
  const sample: Sample = {
    first,
    last,
    blocks: [],
    txs: [],
    parents: [],
    parties: new Map(),
    emitters: new Map(),
    names: new Map(),
    pairs: new Map(),
    args: new Map(),
    numbers: [],
    gas: [],
  }
  for (let i = 0; i < BLOCKS; i++) {
    const number = first + random.below(last - first + 1)
    const { hits } = ask('block', { query: { term: { 'number.num': number } } }).hits
    // A hole between the ranges that are held.
    if (hits.length === 0) continue
    sample.blocks.push({ number, hash: hits[0]!._id })
    addDocuments(sample, ask, number)
  }
  for (const list of [sample.numbers, sample.gas]) list.sort((a, b) => a - b)
  if (sample.names.size === 0 || sample.parties.size === 0)
    throw new Error('the store has no events or no transactions: fill it with more blocks')
  return sample
}

const addDocuments = (sample: Sample, ask: Ask, number: number) => {
  const here = { query: { term: { 'blockNumber.num': number } }, size: 10_000 }
  const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const { _id, _source } of ask('tx', here).hits.hits) {
    const { from, to, gasUsed } = _source as { from: string; to?: string | null; gasUsed: { num: number } }
    sample.txs.push(_id)
    sample.gas.push(gasUsed.num)
    add(sample.parties, from)
    if (to) add(sample.parties, to)
  }
  for (const { _parent, _source } of ask('event', here).hits.hits) {
    const { event, address, args } = _source as { event: string; address: string; args: Argument[] }
    sample.parents.push(_parent!)
    add(sample.emitters, address)
    add(sample.names, event)
    add(sample.pairs, join(event, address))
    for (const { name, value } of args ?? []) {
      if (value.type === 'address') add(sample.args, join(name, value.hex, event))
      if (name === 'value' && value.num !== null) sample.numbers.push(notAbove(value.num))
    }
  }
}

interface Argument {
  name: string
  value: { hex: string; num: number | null; type: string }
}

/** JSON.parse rounds what is beyond 2^53; rounded up it might be beyond every value that is stored. */
const notAbove = (number: number): number =>
  Number.isSafeInteger(number) ? number : Math.floor(number / 2 ** 20) * 2 ** 20

const BAR = ' | '
const join = (...parts: string[]) => parts.join(BAR)
const split = (key: string) => key.split(BAR) as [string, string, string]

/** Half of them the most frequent ones, half of them seen once or twice. */
const spread = (counts: ReadonlyMap<string, number>, random: Random): string[] => {
  const sorted = [...counts].sort(([, a], [, b]) => b - a).map(([key]) => key)
  const hot = sorted.slice(0, VALUES / 2)
  const rare = sorted.slice(Math.floor(sorted.length / 2))
  return [...hot, ...Array.from({ length: VALUES / 2 }, () => rare[random.below(rare.length)]!)]
}

const nested = (...clauses: object[]) => ({ nested: { path: 'args', query: { bool: { filter: clauses } } } })
const atLeast = (field: string, least: number) => ({ range: { [field]: { gte: least } } })

const quantile = (sorted: readonly number[], share: number) => sorted[Math.floor(share * (sorted.length - 1))]!
const few = (numbers: readonly number[]) => [0.99, 0.995, 0.999].map(share => quantile(numbers, share))
const many = (numbers: readonly number[]) => [0.1, 0.3, 0.5].map(share => quantile(numbers, share))

/** Hits that a wide filter should have. */
export const MILLION = 1_000_000

/** Block ranges with a million Transfers, or with 60 % of them where there are fewer. */
const wideWindows = (ask: Ask, { first, last }: Sample, random: Random): Window[] => {
  const { total } = ask('event', { ...transfersIn(undefined), size: 0 }).hits
  const blocks = last - first + 1
  // Blocks differ a little.
  const share = total > MILLION ? Math.min(1, (MILLION * 1.05) / total) : 0.6
  const length = Math.ceil(share * blocks)
  return Array.from({ length: 5 }, () => {
    const gte = first + random.below(blocks - length + 1)
    return { gte, lte: gte + length - 1 }
  })
}
