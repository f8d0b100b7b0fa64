import { fixed, showTable, type Times, timesOf } from '../../lib/table.ts'
import { connect } from '../connection.ts'
import { createSpans, PANELS, type Panel, WHOLE } from '../dashboard.ts'
import type { DuckDb } from '../duckdb.ts'
import { askFiltered, type Filtered } from '../filtered.ts'
import type { BenchEffort } from '../options.ts'
import type { Request } from '../queries.ts'
import { type Row, row } from '../report.ts'
import { type Both, inTurns, mapSides, SIDES, type Side, type SideName } from './sides.ts'

/** Aggregations by both: those of a dashboard, and some over nearly everything. */
export interface AskedPanel {
  panel: string
  /** Whether buckets are the same, by key and count. */
  same: boolean
  /** Of a span of time that nobody asked for before. */
  anew: Both<Times>
  /** Of the same request again and again. */
  again: Both<Times>
}

const connectBoth = (sides: Both<Side>) => {
  const connections = mapSides(side => connect(sides[side].url))
  return {
    async ask(side: SideName, { name, entity }: Pick<Panel, 'name' | 'entity'>, body: object): Promise<string> {
      const request = { label: name, entities: entity, body: JSON.stringify(body) }
      const reply = await connections[side].ask(sides[side].bytes(request))
      const text = reply.body.toString()
      if (reply.status !== 200) throw new Error(`${name}: ${side} answered ${reply.status}: ${text.slice(0, 500)}`)
      return text
    },
    close() {
      for (const side of SIDES) connections[side].close()
    },
  }
}

/** Aggregations with another filter each time, by both and by DuckDB. */
export const askFilteredPanels = async (sides: Both<Side>, duckdb: DuckDb | string): Promise<Filtered> => {
  const { ask, close } = connectBoth(sides)
  const asks = mapSides(side => (entity: Panel['entity'], body: object) => ask(side, { name: side, entity }, body))
  return askFiltered(asks, duckdb).finally(close)
}

export const askPanels = async (sides: Both<Side>, { runs, budgetMs }: BenchEffort): Promise<AskedPanel[]> => {
  const { ask, close } = connectBoth(sides)
  const timed = async (panel: Panel, bodyOf: (i: number) => object): Promise<Both<Times>> => {
    const times: Both<number[]> = { ours: [], theirs: [] }
    const end = performance.now() + budgetMs / 10
    await inTurns(Math.min(runs, RUNS), async (side, round) => {
      if (performance.now() > end && round >= LEAST_RUNS) return
      const start = performance.now()
      await ask(side, panel, bodyOf(round))
      times[side].push(performance.now() - start)
    })
    return { ours: timesOf(times.ours), theirs: timesOf(times.theirs) }
  }
  try {
    const whole = spanIn(JSON.parse(await ask('ours', PANELS[0]!, ENDS)) as Ends)
    const next = createSpans(whole)
    const all: AskedPanel[] = []
    for (const panel of [...PANELS, ...WHOLE]) {
      const body = panel.body(next())
      const [ours, theirs] = [await ask('ours', panel, body), await ask('theirs', panel, body)].map(bucketsIn)
      const same = ours !== undefined && ours === theirs
      const anew = await timed(panel, () => panel.body(next()))
      all.push({ panel: panel.name, same, anew, again: await timed(panel, () => body) })
    }
    return all
  } finally {
    close()
  }
}

const RUNS = 40
const LEAST_RUNS = 4
const ENDS = { size: 0, aggs: { a: { min: { field: 'timestamp' } }, b: { max: { field: 'timestamp' } } } }

type Ends = { aggregations: Record<'a' | 'b', { value: number }> }

const spanIn = ({ aggregations: { a, b } }: Ends) => ({ from: a.value, to: b.value })

/** Keys and counts of all buckets, as text; undefined where there are no aggregations. */
const bucketsIn = (answer: string): string | undefined => {
  const { aggregations } = JSON.parse(answer) as { aggregations?: object }
  return aggregations && JSON.stringify(aggregations, KEPT)
}

/** All names but those of metrics, which are not told alike to the last digit. */
const KEPT = [...['buckets', 'key', 'doc_count', 'ok', 'failed', 'n', 'd'], ...['a', 'b', 'f', '1', '2', '3']]

/** Aggregations that look at everything, never twice at the same span. */
export const heavy = (): Request[] =>
  WHOLE.flatMap(({ entity, body, name }) =>
    Array.from({ length: 5 }, (_, i) => {
      const label = `${name} ${i}`
      return { label, entities: entity, body: JSON.stringify(body({ from: i, to: 1e13 })) }
    }),
  )

const ratioOf = ({ ours, theirs }: Both<Times>): number => theirs.p50 / ours.p50

export const showPanels = (asked: readonly AskedPanel[], version: string): string =>
  showTable([
    ['aggregation', 'ours p50 ms', `${version} p50 ms`, 'ratio', 'again: ours', 'theirs', 'ratio'],
    ...asked.map(({ panel, same, anew, again }) => [
      `${panel}${same ? '' : ' (buckets differ)'}`,
      ...[anew, again].flatMap(both => [fixed(both.ours.p50), fixed(both.theirs.p50), fixed(ratioOf(both))]),
    ]),
  ])

export const rowsOfPanels = (asked: readonly AskedPanel[]): Row[] => {
  const slowest = asked.toSorted((a, b) => ratioOf(a.anew) - ratioOf(b.anew))[0]!
  const longest = asked.slice(0, PANELS.length).toSorted((a, b) => b.anew.ours.p50 - a.anew.ours.p50)[0]!
  const [least, most] = [ratioOf(slowest.anew), longest.anew.ours.p50]
  const differing = asked.filter(({ same }) => !same).map(({ panel }) => panel)
  return [
    row('aggregations whose buckets differ', differing.join(', ') || 'none', {
      ...{ target: 'none', ok: differing.length === 0 },
    }),
    row('ratio of aggregations, the least', `${fixed(least)} (${slowest.panel})`, { target: '>= 2', ok: least >= 2 }),
    row('panels of a dashboard, p50 of the longest', `${fixed(most)} ms (${longest.panel})`, {
      ...{ target: '< 100 ms', ok: most < 100 },
    }),
  ]
}
