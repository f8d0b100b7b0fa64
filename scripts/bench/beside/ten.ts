import type { Random } from '../../lib/random.ts'
import { argument, filter, nested, type Query, type Request, range, search, should, term } from '../queries.ts'
import { quantile, type Sample, some, split, spread, VALUES } from '../sample.ts'

/** A question that both are asked, with different values in turn. */
export type Question = Pick<Query, 'name' | 'requests'>

/**
 * The ten questions: each asks for the exact total and ten hits with the whole `_source`. Addresses
 * in analysed fields are written small, as OpenSearch's `term` compares with tokens.
 */
export const makeTen = ({ last, first, ...sample }: Sample, random: Random): Question[] => {
  const { blocks, parents, parties, names, pairs, args, numbers } = sample
  const ask = (entities: string, label: string, body: object): Request =>
    search(entities, label, { ...body, size: 10, track_total_hits: true })
  const window = (length: number) => {
    const gte = first + random.below(Math.max(1, last - first + 2 - length))
    return { gte, lte: gte + length - 1 }
  }
  const windows = (length: number) => Array.from({ length: VALUES }, () => window(length))
  const hot = [...names].sort(([, a], [, b]) => b - a).map(([name]) => name)

  return [
    {
      name: 'events by address and name, newest first',
      requests: spread(pairs, random).map(pair => {
        const [name, address] = split(pair)
        const query = filter(term('event.raw', name), term('address.raw', address))
        return ask('event', pair, { ...query, sort: { 'blockNumber.num': 'desc' } })
      }),
    },
    {
      name: 'events by argument',
      requests: spread(args, random).map(key => ask('event', key, filter(argument(key)))),
    },
    {
      name: 'events by a range of an argument',
      requests: Array.from({ length: VALUES }, (_, i) => {
        const share = WIDTHS[i % WIDTHS.length]!
        const from = random.unit() * (1 - share)
        const bounds = { gte: quantile(numbers, from), lte: quantile(numbers, from + share) }
        const query = nested(term('args.name', 'value'), range('args.value.num', bounds))
        return ask('event', JSON.stringify(bounds), filter(query))
      }),
    },
    {
      name: 'transactions of six blocks',
      requests: windows(6).map(bounds => ask('tx', JSON.stringify(bounds), filter(range('blockNumber.num', bounds)))),
    },
    {
      name: 'transactions from or to',
      requests: spread(parties, random).map(party => {
        const address = party.toLowerCase()
        return ask('tx', address, should(term('from', address), term('to', address)))
      }),
    },
    {
      name: 'logs of a transaction',
      requests: some(parents, random).map(hash => ask('log', hash, filter(term('transactionHash', hash)))),
    },
    {
      name: 'block by number',
      requests: some(blocks, random).map(({ number }) => ask('block', `${number}`, filter(term('number.num', number)))),
    },
    {
      name: 'ten newest blocks',
      requests: [ask('block', 'desc', { sort: { 'number.num': 'desc' } })],
    },
    {
      name: 'events by name in a range of blocks',
      requests: windows(Math.min(BLOCKS, Math.ceil((last - first + 1) / 2))).map((bounds, i) =>
        ask(
          'event',
          JSON.stringify(bounds),
          filter(term('event.raw', hot[i % Math.min(hot.length, HOT)]), range('blockNumber.num', bounds)),
        ),
      ),
    },
    {
      name: "a hash that may be a block's, or from",
      requests: [
        ...spread(parties, random).filter((_, i) => i % 2 === 0),
        ...some(blocks, random).slice(VALUES / 2),
      ].map(value => {
        const key = typeof value === 'string' ? value.toLowerCase() : value.hash
        return ask('block,tx', key, should({ ids: { values: [key] } }, term('from', key)))
      }),
    },
  ]
}

/** As many requests of each question, so that a mix of them is even, in an order of no pattern. */
export const mixOf = (questions: readonly Question[], random: Random): Request[] => {
  const mix = questions.flatMap(({ requests }) =>
    Array.from({ length: VALUES }, (_, i) => requests[i % requests.length]!),
  )
  for (let i = mix.length - 1; i > 0; i--) {
    const j = random.below(i + 1)
    ;[mix[i], mix[j]] = [mix[j]!, mix[i]!]
  }
  return mix
}

/** Requests that are dear: each looks at every transaction, and every other one sorts what it finds. */
export const makeScans = ({ gas }: Sample): Request[] =>
  Array.from({ length: VALUES }, (_, i) => {
    const bounds = { gte: quantile(gas, (i + 1) / (VALUES + 2)) }
    const sort = i % 2 === 0 ? {} : { sort: { 'gasUsed.num': 'desc' } }
    return search('tx', JSON.stringify(bounds), { query: range('gasUsed.num', bounds), ...sort })
  })

const WIDTHS = [0.001, 0.01, 0.1, 0.5]
/** In a range; half of all where there are few. */
const BLOCKS = 100
const HOT = 10
