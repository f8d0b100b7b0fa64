import { fixed, showTable, type Times, timesOf } from '../lib/table.ts'
import { HOUR, type Panel, top } from './dashboard.ts'
import type { DuckDb } from './duckdb.ts'
import { type Row, row } from './report.ts'

/** An aggregation with another filter in each turn. */
export interface FilteredPanel extends Pick<Panel, 'name' | 'entity'> {
  body(turn: number): object
  /** The same for DuckDB. */
  sql(turn: number): string
  /** Whether the answer is keys with counts, in the order of these, by which both are compared. */
  counts?: true
}

const asked = (filters: object[], aggs: object) => ({ size: 0, query: { bool: { filter: filters } }, aggs })
const least = (field: string, value: number) => ({ range: { [field]: { gte: value } } })

/** Numbers below `of`, which is a prime, that only repeat after as many turns. */
const another = (turn: number, of: number): number => (turn * 29) % of
const logIndex = (turn: number) => another(turn, 101)
const place = (turn: number) => another(turn, 83)
const gas = (turn: number) => 21_000 + 500 * another(turn, 97)

const argument = (name: string, aggs: object) => ({
  a: { nested: { path: 'args' }, aggs: { f: { filter: { term: { 'args.name': name } }, aggs } } },
})
const TRANSFERS = { term: { 'event.raw': 'Transfer' } }
const often = (value: string, from: string) =>
  `SELECT ${value} AS k, count(*) AS c FROM ${from} GROUP BY k ORDER BY c DESC, k LIMIT 10`

export const FILTERED: readonly FilteredPanel[] = [
  {
    ...{ name: 'names', entity: 'event', counts: true },
    body: turn => asked([least('logIndex.num', logIndex(turn))], { a: top('event.raw', 10) }),
    sql: turn => often('name', `event WHERE log >= ${logIndex(turn)}`),
  },
  {
    ...{ name: 'hourly, top five names', entity: 'event' },
    body: turn =>
      asked([least('transactionIndex.num', place(turn))], { a: { ...HOUR, aggs: { b: top('event.raw', 5) } } }),
    sql: turn =>
      `SELECT time // 3600000 AS h, name, count(*) AS c FROM event WHERE tx >= ${place(turn)} GROUP BY h, name
       QUALIFY row_number() OVER (PARTITION BY h ORDER BY count(*) DESC, name) <= 5 ORDER BY h, c DESC, name`,
  },
  {
    ...{ name: 'receivers of transfers', entity: 'event', counts: true },
    body: turn =>
      asked([TRANSFERS, least('logIndex.num', logIndex(turn))], argument('to', { b: top('args.value.hex', 10) })),
    sql: turn => often('hex', `argument WHERE event = 'Transfer' AND name = 'to' AND log >= ${logIndex(turn)}`),
  },
  {
    ...{ name: 'amounts of transfers', entity: 'event' },
    body: turn =>
      asked(
        [TRANSFERS, least('logIndex.num', logIndex(turn))],
        argument('value', { s: { sum: { field: 'args.value.scaled' } } }),
      ),
    sql: turn =>
      `SELECT sum(scaled) FROM argument WHERE event = 'Transfer' AND name = 'value' AND log >= ${logIndex(turn)}`,
  },
  {
    ...{ name: 'contracts', entity: 'event', counts: true },
    body: turn => asked([least('logIndex.num', logIndex(turn))], { a: top('address.raw', 10) }),
    sql: turn => often('address', `event WHERE log >= ${logIndex(turn)}`),
  },
  {
    ...{ name: 'senders by gas', entity: 'tx' },
    body: turn =>
      asked([least('gasUsed.num', gas(turn))], {
        a: top('from.raw', 10, { 1: { sum: { field: 'gasUsed.num' } } }, '1'),
      }),
    sql: turn =>
      `SELECT sender, sum(gas) AS g FROM tx WHERE gas >= ${gas(turn)} GROUP BY sender ORDER BY g DESC LIMIT 10`,
  },
  {
    ...{ name: 'percentiles of gas', entity: 'tx' },
    body: turn => asked([least('transactionIndex.num', place(turn))], { a: { percentiles: { field: 'gasUsed.num' } } }),
    sql: turn =>
      `SELECT approx_quantile(gas, [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]) FROM tx WHERE place >= ${place(turn)}`,
  },
  {
    ...{ name: 'mean price by hour', entity: 'tx' },
    body: turn =>
      asked([least('gasUsed.num', gas(turn))], { a: { ...HOUR, aggs: { b: { avg: { field: 'gasPrice.num' } } } } }),
    sql: turn => `SELECT time // 3600000 AS h, avg(price) FROM tx WHERE gas >= ${gas(turn)} GROUP BY h ORDER BY h`,
  },
]

/** Answers a body as JSON text. */
type AskText = (entity: Panel['entity'], body: object) => Promise<string>

interface Rivals {
  ours: AskText
  theirs?: AskText
  duckdb?: DuckDb['rows']
}

interface AskedFiltered {
  panel: string
  /** Whether ours and DuckDB's keys and counts are the same, if both tell them. */
  same: boolean
  /** With filters that nobody asked for before, so that no cached answer or state serves them. */
  anew: { [name in keyof Rivals]?: Times }
  /** The last request again and again: ours and theirs answer from a cache. */
  again: { [name in keyof Rivals]?: Times }
}

const askAll = async (rivals: Rivals): Promise<AskedFiltered[]> => {
  const all: AskedFiltered[] = []
  for (const panel of FILTERED) {
    const run = (name: keyof Rivals, turn: number): Promise<unknown> =>
      name === 'duckdb' ? rivals.duckdb!(panel.sql(turn)) : rivals[name]!(panel.entity, panel.body(turn))
    const names = (Object.keys(rivals) as (keyof Rivals)[]).filter(name => rivals[name])
    const timed = async (turnOf: (round: number) => number) => {
      const times = new Map(names.map((name): [keyof Rivals, number[]] => [name, []]))
      for (let round = 0; round < ROUNDS; round++)
        for (const name of round % 2 === 0 ? names : names.toReversed()) {
          const start = performance.now()
          await run(name, turnOf(round))
          times.get(name)!.push(performance.now() - start)
        }
      return Object.fromEntries(Array.from(times, ([name, some]) => [name, timesOf(some)]))
    }
    for (let turn = 0; turn < WARM; turn++) for (const name of names) await run(name, turn)
    const same =
      !panel.counts || !rivals.duckdb
        ? true
        : countsIn((await run('ours', WARM)) as string) === JSON.stringify(await run('duckdb', WARM))
    const anew = await timed(round => WARM + 1 + round)
    all.push({ panel: panel.name, same, anew, again: await timed(() => WARM) })
  }
  return all
}

export interface Filtered {
  asked: AskedFiltered[]
  /** Why DuckDB is not there. */
  skipped?: string
}

/** `duckdb` holds the same documents, or tells why it does not. */
export const askFiltered = async (asks: Omit<Rivals, 'duckdb'>, duckdb: DuckDb | string): Promise<Filtered> => {
  if (typeof duckdb === 'string') return { asked: await askAll(asks), skipped: duckdb }
  try {
    return { asked: await askAll({ ...asks, duckdb: duckdb.rows }) }
  } finally {
    duckdb.close()
  }
}

/** Together fewer than the filters of a panel. */
const [WARM, ROUNDS] = [10, 40]

/** Keys and counts of the only list of buckets in an answer. */
const countsIn = (answer: string): string => {
  const buckets = /"buckets":(\[.*?\])/.exec(answer)?.[1] ?? '[]'
  const found = JSON.parse(buckets) as { key: string; doc_count: number }[]
  return JSON.stringify(found.map(({ key, doc_count }) => [key, doc_count]))
}

const ratio = ({ ours }: AskedFiltered['anew'], other: Times | undefined): number =>
  other && ours ? other.p50 / ours.p50 : Number.NaN
const mean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, one) => sum + Math.log(one), 0) / values.length)

export const showFiltered = ({ asked: all, skipped }: Filtered, version: string | undefined): string => {
  const rivals = [
    ...(version ? [{ name: 'theirs' as const, title: version }] : []),
    ...(skipped === undefined ? [{ name: 'duckdb' as const, title: 'DuckDB, 2 threads' }] : []),
  ]
  const cells = all.map(({ panel, same, anew, again }) => [
    `${panel}${same ? '' : ' (counts differ)'}`,
    fixed(anew.ours!.p50),
    ...rivals.flatMap(({ name }) => [fixed(anew[name]!.p50), fixed(ratio(anew, anew[name]))]),
    ...[again.ours, again.theirs].flatMap(times => (times ? [fixed(times.p50)] : [])),
  ])
  const table = showTable([
    [
      'another filter each time',
      'ours p50 ms',
      ...rivals.flatMap(({ title }) => [`${title} p50 ms`, 'ratio']),
      'from a cache: ours',
      ...(version ? ['theirs'] : []),
    ],
    ...cells,
    [
      ...['geometric mean', ''],
      ...rivals.flatMap(({ name }) => ['', `**${fixed(mean(all.map(({ anew }) => ratio(anew, anew[name]))))}**`]),
      ...[...(version ? [''] : []), ''],
    ],
  ])
  return `${table}${skipped === undefined ? '' : `\n\nDuckDB was skipped: ${skipped}.`}`
}

export const rowsOfFiltered = ({ asked: all }: Filtered): Row[] =>
  (['theirs', 'duckdb'] as const).flatMap(name => {
    const ratios = all.flatMap(({ anew }) => (anew[name] ? [ratio(anew, anew[name])] : []))
    if (ratios.length === 0) return []
    const [low, middle] = [Math.min(...ratios), mean(ratios)]
    const [what, leastMean, leastOfAll] = name === 'theirs' ? ['OpenSearch', 4, 1.5] : ['DuckDB', 0.7, 0]
    return [
      row(`filtered aggregations, times ${what}'s speed`, `${fixed(middle)} (least ${fixed(low)})`, {
        target: `>= ${leastMean}${leastOfAll > 0 ? `, none below ${leastOfAll}` : ''}`,
        ok: middle >= leastMean && low >= leastOfAll,
      }),
    ]
  })
