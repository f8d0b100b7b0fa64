import type { Memory } from '../lib/program.ts'
import { count, fixed, megabytes, showTable, showTimes, type Times } from '../lib/table.ts'
import type { Filling, Held, Sizes, Tracing } from './fill.ts'
import type { Filtered } from './filtered.ts'
import type { HeadSpeed } from './head.ts'
import { MILLION, SCAN } from './queries.ts'
import type { Measured } from './searching.ts'
import type { Starting, Streamed } from './serving.ts'

export interface Results {
  store: Held
  filling: Filling | undefined
  sizes: Sizes
  queries: Measured[]
  health: Times
  start: Starting
  stream: Streamed
  head: HeadSpeed | undefined
  tracing: Tracing | undefined
  filtered: Filtered
}

export interface Row {
  name: string
  value: string
  target: string
  ok: boolean | undefined
  /** The target is meant for a store or a result of this size or more; a smaller one shows less. */
  applies: boolean
}

export const rowsOf = (results: Results): Row[] => [
  ...fillingRows(results),
  ...sizeRows(results),
  ...headRows(results),
  ...tracingRows(results),
  ...results.queries.map(measured => queryRow(measured, results)),
  row('GET /health over HTTP, for comparison', showTimes(results.health)),
  ...startRows(results.start, results.store.logs),
  ...streamRows(results.stream),
]

interface Judged {
  target: string
  ok: boolean
  applies?: boolean
}

export const row = (name: string, value: string, judged?: Judged): Row => ({
  name,
  value,
  target: judged?.target ?? '',
  ok: judged?.ok,
  applies: judged?.applies ?? true,
})

/** Stores come out a little larger or smaller than asked for. */
const FIVE_MILLION = 4_900_000
const ONE_MILLION = 980_000
/** With fewer, the start of the program takes a good part of the time. */
const TRACED_LOGS = 280_000

const fillingRows = ({ filling }: Results): Row[] => {
  if (!filling) return []
  const { blocks, logs, events, seconds, pace, cpuSeconds, memory, others } = filling
  const rate = logs / seconds
  const applies = logs >= ONE_MILLION
  return [
    row('back-fill, end to end', `${count(rate)} logs/s`, { target: '>= 40,000 logs/s', ok: rate >= 40_000, applies }),
    row('back-fill, blocks and events', `${count(blocks / seconds)} blocks/s, ${count(events / seconds)} events/s`),
    ...(pace
      ? [
          row('back-fill, last fifth against the first', `${count(pace.last)} / ${count(pace.first)} logs/s`, {
            target: 'at most 15 % less',
            ok: pace.last >= 0.85 * pace.first,
            applies: logs >= FIVE_MILLION,
          }),
        ]
      : []),
    ...(cpuSeconds ? [row('back-fill, processor time', `${fixed((cpuSeconds * 1e6) / logs)} us/log`)] : []),
    ...(others === undefined ? [] : [row('processors busy with other things meanwhile', fixed(others))]),
    ...(memory ? [row('back-fill, memory', showMemory(memory))] : []),
  ]
}

const sizeRows = ({ sizes, store }: Results): Row[] => {
  const bytes = sizes.bytes / store.logs
  return [
    row('disk', `${count(bytes)} bytes/log`, { target: '<= 600 bytes/log', ok: bytes <= 600 }),
    row('disk per event', `${count(sizes.bytes / store.events)} bytes/event`),
    row(
      'disk by table',
      sizes.tables
        .filter(table => table.bytes / store.logs >= 1)
        .map(table => `${table.name} ${count(table.bytes / store.logs)}`)
        .join(', '),
    ),
  ]
}

const headRows = ({ head }: Results): Row[] => {
  if (!head) return []
  const { alone, fillAlone, beside } = head
  const judged = (rate: number) => ({ target: '>= 40 blocks/s', ok: rate >= 40 })
  const share = (rate: number, whole: number, least: number) => ({
    target: `>= ${fixed(least)} of its rate alone`,
    ok: rate >= whole * least,
  })
  return [
    row('head, one by one', `${fixed(alone)} blocks/s`, judged(alone)),
    row('head, one by one, while a back-fill runs', `${fixed(beside.head)} blocks/s`, share(beside.head, alone, 0.5)),
    row('back-fill of a server that follows', `${fixed(fillAlone)} blocks/s`),
    row('that back-fill beside the head', `${fixed(beside.fill)} blocks/s`, share(beside.fill, fillAlone, 0.33)),
    ...(beside.memory ? [row('server that follows and fills, memory', showMemory(beside.memory))] : []),
  ]
}

/** The best of the imports of each way: what slows one down is others that use the machine. */
const tracingRows = ({ tracing }: Results): Row[] => {
  if (!tracing) return []
  const { logs, traces, bytes, tables } = tracing
  const best = (way: 'without' | 'with', time: 'seconds' | 'cpuSeconds') =>
    Math.min(...tracing[way].map(one => one[time] ?? Number.NaN))
  const share = best('without', 'seconds') / best('with', 'seconds')
  const cpuShare = best('without', 'cpuSeconds') / best('with', 'cpuSeconds')
  const seconds = best('with', 'seconds')
  const applies = logs >= TRACED_LOGS
  const each = bytes / traces
  return [
    row('back-fill with traces', `${count(logs / seconds)} logs/s, ${count(traces / seconds)} traces/s`),
    row(
      'of the rate without traces',
      `${fixed(share)}${Number.isNaN(cpuShare) ? '' : ` (by processor time ${fixed(cpuShare)})`}`,
      { target: '>= 0.5', ok: share >= 0.5, applies },
    ),
    row('disk per trace, with its call and index', `${count(each)} bytes/trace`, {
      target: '< 200 bytes/trace',
      ok: each < 200,
      applies,
    }),
    row(
      'that by table',
      tables
        .filter(table => table.bytes / traces >= 1)
        .map(table => `${table.name} ${count(table.bytes / traces)}`)
        .join(', '),
    ),
  ]
}

const queryRow = (measured: Measured, { store }: Results): Row => {
  const { query, group, way, p50, p99, hits } = measured
  const name = `${query}, ${way}`
  const value = `${showTimes(measured)} (${count(hits.median)} hits)`
  switch (group) {
    case 'example':
    case 'id': {
      const most = group === 'id' ? { 'in process': 0.3, HTTP: 0.8 }[way] : { 'in process': 1, HTTP: 1.5 }[way]
      const target = `p50 < ${most}, p99 < 10 ms`
      return row(name, value, { target, ok: p50 < most && p99 < 10, applies: store.logs >= FIVE_MILLION })
    }
    case 'wide':
      return row(name, value, { target: 'p50 < 50 ms', ok: p50 < 50, applies: hits.median >= MILLION })
    case 'other': {
      if (query !== SCAN) return row(name, value)
      const rate = store.txs / (p50 / 1000)
      return row(name, `${value}, ${fixed(rate / 1e6)} million rows/s`, {
        target: '>= 2 million rows/s',
        ok: rate >= 2e6,
        applies: store.logs >= ONE_MILLION,
      })
    }
  }
}

export const startRows = ({ serve, node, idle }: Starting, logs: number): Row[] => {
  const ratio = serve.p50 / node.p50
  const value = `${fixed(serve.p50)} ms (at most ${fixed(serve.max)}); ${fixed(ratio)} times \`node -e 0\` (${fixed(node.p50)} ms)`
  return [
    row('start to first answer', value, { target: '<= 6.25 times', ok: ratio <= 6.25, applies: logs >= FIVE_MILLION }),
    ...(idle
      ? [
          row('idle server, memory', showMemory(idle), {
            target: '<= 150 MB',
            ok: idle.peakOwn <= 150e6,
          }),
        ]
      : []),
  ]
}

const streamRows = ({ hits, bytes, seconds, memory }: Streamed): Row[] => {
  const rate = hits / seconds
  const applies = hits >= MILLION
  return [
    row(`size: -1, ${count(hits)} hits`, `${count(rate)} hits/s, ${fixed(bytes / 1e6 / seconds)} MB/s`, {
      target: '>= 50,000 hits/s',
      ok: rate >= 50_000,
      applies,
    }),
    ...(memory
      ? [
          row('size: -1, memory of the server', showMemory(memory), {
            target: '< 300 MB',
            ok: memory.peakOwn < 300e6,
            applies,
          }),
        ]
      : []),
  ]
}

export const showRows = (rows: readonly Row[]): string => {
  const cells = rows.map(({ name, value, target, ok, applies }) => {
    const verdict = ok === undefined ? '' : ok ? 'yes' : 'NO'
    return [name, value, target, verdict && !applies ? `(${verdict})` : verdict]
  })
  const table = showTable([['', 'value', 'target', 'ok'], ...cells])
  const small = rows.some(({ ok, applies }) => ok !== undefined && !applies)
  return small ? `${table}\n\nIn brackets: the target is meant for more than there was here.` : table
}

export const verdict = (rows: readonly Row[]): string => {
  const judged = rows.filter(({ ok, applies }) => ok !== undefined && applies)
  const missed = judged.filter(({ ok }) => !ok)
  return `${judged.length - missed.length} of ${judged.length} targets reached.`
}

/** Pages of the store that are mapped into memory belong to the system's cache: they go when others need the room. */
const showMemory = ({ peak, peakOwn }: Memory) => `${megabytes(peakOwn)} (${megabytes(peak)} with mapped files)`
