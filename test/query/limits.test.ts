import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/limits/index.ts'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'

const parse = (body: unknown, kinds: readonly Kind[] = ['tx'], limits: Partial<Limits> = {}) =>
  parseSearch(typeof body === 'string' ? body : JSON.stringify(body), kinds, Date.now(), {
    limits: { ...DEFAULT_LIMITS, ...limits },
  })

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

/** What is refused, beside the name of the limit that an operator can raise. */
const refusal = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof ChainsieveError && error.next === 'refuse', String(error))
    return `${error.code} ${/--limit (\w+)=N/.exec(error.message)?.[1]}`
  }
  return 'accepted'
}

const gas = (i: number) => ({ range: { 'gas.num': { gte: i } } })
const inBool = (clauses: unknown[]) => ({ query: { bool: { must_not: clauses } } })
const day = (i: number, more: object = {}) => ({ range: { timestamp: { gte: `2020-01-${10 + (i % 20)}`, ...more } } })

const AVG = { avg: { field: 'blockNumber.num' } }
const ANY = { match_all: {} }

/** So many at the limit are taken, and one more is refused. */
const LIMITS: [name: keyof Limits, code: string, body: (count: number) => unknown, kinds?: Kind[]][] = [
  ['clauses', 'too_many_clauses', count => inBool(many(count - 1, gas))],
  // Each of several kinds reads the same clauses.
  ['clauses', 'too_many_clauses', count => inBool(many(count - 1, gas)), ['tx', 'trace', 'call']],
  [
    'clauses',
    'too_many_clauses',
    count => ({ query: { bool: { filter: [inBool(many(count - 3, gas)).query, { match_all: {} }] } } }),
  ],
  ['clauses', 'too_many_clauses', count => ({ query: { match: { event: many(count - 1, i => `w${i}`).join(' ') } } })],
  [
    'clauses',
    'too_many_clauses',
    count => ({ query: { terms: { timestamp: many(count - 1, i => `2020-01-01||+${i}d/d`) } } }),
  ],
  ['values', 'illegal_argument_exception', count => ({ query: { ids: { values: many(count, String) } } })],
  [
    'values',
    'illegal_argument_exception',
    count => inBool(many(2, i => ({ terms: { 'gas.num': many(i === 0 ? count - 9 : 9, at => at) } }))),
  ],
  ['sorts', 'illegal_argument_exception', count => ({ sort: many(count, () => 'gas.num') })],
  [
    'sorts',
    'illegal_argument_exception',
    count => ({
      sort: ['timestamp', Object.fromEntries(many(count - 1, i => [['gas.num', 'gasPrice.num', 'hash'][i]!, 'asc']))],
    }),
  ],
  ['sourcePatterns', 'illegal_argument_exception', count => ({ _source: many(count, i => `a${i}`) })],
  [
    'sourcePatterns',
    'illegal_argument_exception',
    count => ({ _source: { includes: ['a'], excludes: many(count - 1, i => `a${i}`) } }),
  ],
  ['text', 'illegal_argument_exception', count => ({ _source: '*'.repeat(count) })],
  ['text', 'illegal_argument_exception', count => ({ query: { match: { event: 'a'.repeat(count) } } })],
  ['text', 'illegal_argument_exception', count => ({ query: { prefix: { 'event.raw': 'a'.repeat(count) } } })],
  ['meta', 'illegal_argument_exception', count => ({ aggs: { a: { ...AVG, meta: 'x'.repeat(count - 2) } } })],
  ...[
    (name: string) => ({ aggs: { [name]: AVG } }),
    (name: string) => ({
      aggs: {
        h: { terms: { field: 'blockHash' }, aggs: { a: AVG } },
        [name]: { max_bucket: { buckets_path: 'h>a' } },
      },
    }),
    (name: string) => ({ aggs: { a: { filters: { filters: { [name]: ANY } } } } }),
    (name: string) => ({ aggs: { a: { filters: { filters: [ANY], other_bucket_key: name } } } }),
    (name: string) => ({ aggs: { a: { range: { field: 'blockNumber.num', ranges: [{ to: 1, key: name }] } } } }),
    (name: string) => ({ aggs: { a: { date_range: { field: 'timestamp', ranges: [{ to: 'now', key: name }] } } } }),
    (name: string) => ({
      aggs: { a: { composite: { sources: [{ [name]: { terms: { field: 'blockNumber.num' } } }] } } },
    }),
    (name: string) => ({ aggs: { a: { terms: { field: 'transactionHash', missing: name } } } }),
    (name: string) => ({ query: { match_all: { _name: name } } }),
    (name: string) => ({ query: { nested: { path: 'args', query: ANY, inner_hits: { name } } } }),
    (name: string) => ({ collapse: { field: 'blockHash', inner_hits: { name } } }),
  ].map((body): (typeof LIMITS)[number] => [
    'nameLength',
    'illegal_argument_exception',
    count => body('x'.repeat(count)),
    ['event'],
  ]),
  [
    'timeZones',
    'illegal_argument_exception',
    count => inBool(many(count, i => day(i, { time_zone: Intl.supportedValuesOf('timeZone')[i] }))),
  ],
  [
    'dateFormats',
    'illegal_argument_exception',
    count => inBool([day(1, { format: many(count, () => 'yyyy-MM-dd').join('||') })]),
  ],
  ['nesting', 'parsing_exception', count => `${'['.repeat(count)}${']'.repeat(count)}`],
  ['jsonValues', 'parsing_exception', count => ({ query: { ids: { values: many(count - 4, () => '') } } })],
]

const BOTH: Kind[] = ['event', 'tx']

test('each limit of a query holds to the unit, and tells how it is raised', () => {
  const low: Partial<Limits> = {
    ...{ clauses: 40, values: 60, sorts: 3, sourcePatterns: 5, text: 300, timeZones: 3, dateFormats: 3 },
    ...{ nesting: 12, jsonValues: 200, meta: 50, nameLength: 40 },
  }
  for (const [name, code, body, kinds = BOTH] of LIMITS) {
    const limits = name === 'jsonValues' ? { jsonValues: 200 } : low
    const most = low[name]!
    // A bare list is nested well, and no search.
    const within = refusal(() => parse(body(most), kinds, limits))
    assert.equal(within, name === 'nesting' ? 'parsing_exception undefined' : 'accepted', name)
    assert.equal(
      refusal(() => parse(body(most + 1), kinds, limits)),
      `${code} ${name}`,
    )
  }
})

test('queries at the limits are read in little time, hostile ones are refused in less', () => {
  const zones = Intl.supportedValuesOf('timeZone').slice(0, 16)
  const zoned = (i: number) => day(i, { lt: 'now-1M/M', time_zone: zones[i % 16]!.toUpperCase(), format: 'yyyy-MM-dd' })
  const slow: [string, unknown, (readonly Kind[])?][] = [
    ['time zones', inBool(many(2_000, i => ({ ...zoned(i) })))],
    ['kinds', inBool(many(4_000, gas)), KINDS],
    ['date math', inBool(many(200, () => day(0, { lte: `now${'+1M/d'.repeat(500)}`, time_zone: zones[0] })))],
    ['formats', inBool(many(2_000, i => day(i, { format: many(400, at => `yyyy-MM-dd'${i}${at}'`).join('||') })))],
    ['spaces', { query: { bool: { should: [], minimum_should_match: `${' '.repeat(2_000_000)}x<` } } }],
    ['empty objects', `[${'{},'.repeat(5_000_000)}{}]`],
    ['empty lists', `{"query":${'[[],[]],'.repeat(2_000_000)}0}`],
    ['a long prefix', { query: { prefix: { 'event.raw': 'é'.repeat(7_000_000) } } }, ['event']],
    ['marks', inBool(many(500, () => ({ match: { event: `a${'\u0301'.repeat(9_999)}` } }))), ['event']],
    ['a long pattern', { _source: '*a'.repeat(5_000_000) }],
  ]
  for (const [name, body, kinds] of slow) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const start = process.cpuUsage()
    refusal(() => parse(text, kinds))
    // Of the processor: others may have the machine meanwhile.
    const { user, system } = process.cpuUsage(start)
    const took = (user + system) / 1000
    assert.ok(took < 1000, `${name}: ${took} ms`)
  }
})

test('a query is given up while it is read, when whoever asked it says so', () => {
  let asked = 0
  const check = () => {
    if (++asked === 100) throw new Error('enough')
  }
  assert.throws(() => parseSearch(JSON.stringify(inBool(many(4_000, gas))), ['tx'], 0, { check }), /enough/)
  assert.equal(asked, 100)
})
