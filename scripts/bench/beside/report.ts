import { type Row, row, showRows, startRows, verdict } from '../report.ts'
import { count, fixed, showTable, showTimes } from '../table.ts'
import type { Times } from '../times.ts'
import type { Asked, Worked } from './asking.ts'
import type { Beside } from './beside.ts'
import { rowsOfPanels, showPanels } from './panels.ts'

/** What was measured beside OpenSearch, as Markdown. */
export const showBeside = (beside: Beside): string => {
  const { version, asked, documents } = beside
  const rows = rowsOf(beside)
  const differing = asked.flatMap(({ question, differing }) =>
    differing.map(({ value, ours, theirs }) => `* ${question}, ${value}: ours ${ours}, theirs ${theirs}`),
  )
  return [
    `${version} held the same ${count(documents)} blocks, transactions, logs and events.`,
    showQuestions(asked, version),
    showCrowds(beside),
    showPanels(beside.panels, version),
    showRows(rows),
    ...(differing.length > 0 ? [`Totals that differ:\n\n${differing.join('\n')}`] : []),
    verdict(rows),
  ].join('\n\n')
}

/** Undefined where one of the totals differs. */
const meanRatio = (asked: readonly Asked[]): number | undefined => {
  const ratios = asked.map(ratioOf)
  if (ratios.includes(undefined)) return undefined
  return Math.exp(ratios.reduce((sum: number, ratio) => sum + Math.log(ratio!), 0) / ratios.length)
}

/** Of medians: how many times as fast ours is. */
const ratioOf = ({ differing, times }: Asked): number | undefined =>
  differing.length > 0 ? undefined : times.theirs.p50 / times.ours.p50

const ratioText = (ratio: number | undefined) => (ratio === undefined ? 'totals differ' : fixed(ratio))

const showQuestions = (asked: readonly Asked[], version: string): string => {
  const lines = asked.map(one => {
    const { question, hits, times, again, cpu } = one
    const texts = [
      ...[pair(times.ours), pair(times.theirs), ratioText(ratioOf(one)), cpuText(cpu)],
      ...[fixed(again.ours.p50), fixed(again.theirs.p50), ratioText(ratioOf({ ...one, times: again }))],
    ]
    return [`${question} (${count(hits)} hits)`, ...texts]
  })
  return showTable([
    [
      ...['query', 'ours p50 / p99 ms', `${version} p50 / p99 ms`, 'ratio of p50', 'our processor ms'],
      ...['again: ours', 'theirs', 'ratio'],
    ],
    ...lines,
    [
      ...['geometric mean', '', '', `**${ratioText(meanRatio(asked))}**`, '', '', ''],
      ratioText(meanRatio(asked.map(one => ({ ...one, times: one.again })))),
    ],
  ])
}

const showCrowds = ({ crowds, asked, version }: Beside): string =>
  showTable([
    [
      'clients, all ten mixed',
      'ours answers/s',
      'p50 / p99 ms',
      `${version} answers/s`,
      'p50 / p99 ms',
      'ratio',
      'processor ms, ours',
      'theirs',
    ],
    ...crowds.map(({ clients, results: { ours, theirs } }) => [
      `${clients}`,
      count(ours.perSecond),
      pair(ours),
      count(theirs.perSecond),
      pair(theirs),
      ratioText(rateRatio(asked, ours, theirs)),
      cpuText(ours.cpu),
      cpuText(theirs.cpu),
    ]),
  ])

/** Of answers a second: those of a mix say nothing either where one of its totals differs. */
const rateRatio = (asked: readonly Asked[], ours: Worked, theirs: Worked): number | undefined =>
  meanRatio(asked) && ours.perSecond / theirs.perSecond

const pair = ({ p50, p99 }: Times): string => `${fixed(p50)} / ${fixed(p99)}`
const cpuText = (cpu: number | undefined): string => (cpu === undefined ? '' : fixed(cpu))

/** The rest of what was measured, and what is to be reached. */
export const rowsOf = (beside: Beside): Row[] => {
  const { asked, crowds, fairness, panels, besideHeavy, start, store } = beside
  const slowest = asked
    .map(one => ({ ...one, ratio: ratioOf(one) }))
    .sort((a, b) => (a.ratio ?? 0) - (b.ratio ?? 0))[0]!
  const many = crowds.find(({ clients }) => clients === 16)!.results
  const { alone, beside: scanned, scanning, scansPerSecond } = fairness
  return [
    atLeast('ratio of p50, the least of all queries', slowest.ratio, 2, ` (${slowest.question})`),
    atLeast('ratio of p50, geometric mean', meanRatio(asked), 4),
    atLeast('answers/s of 16 clients, ratio', rateRatio(asked, many.ours, many.theirs), 1),
    atLeast('p99 of 16 clients, theirs to ours', meanRatio(asked) && many.theirs.p99 / many.ours.p99, 1),
    ...importRows(beside),
    ...streamRows(beside),
    ...diskRows(beside),
    row('term on _id', showTimes(alone)),
    row(
      `term on _id while ${scanning} scans are under way`,
      `${showTimes(scanned)} (${fixed(scansPerSecond)} scans/s)`,
      { target: 'p99 < 20 ms', ok: scanned.p99 < 20 },
    ),
    row(
      `term on _id while ${besideHeavy.scanning} aggregations are under way`,
      `${showTimes(besideHeavy.beside)} (${fixed(besideHeavy.scansPerSecond)} aggregations/s)`,
      { target: 'p99 < 20 ms', ok: besideHeavy.beside.p99 < 20 },
    ),
    ...rowsOfPanels(panels),
    ...startRows(start, store.logs),
  ]
}

const atLeast = (name: string, value: number | undefined, least: number, note = ''): Row =>
  row(name, `${ratioText(value)}${note}`, { target: `>= ${least}`, ok: value !== undefined && value >= least })

/** The best of each side: what slows a round down is others that use the machine. */
const importRows = ({ imports, store, version }: Beside): Row[] => {
  const ours = store.logs / Math.min(...imports.ours)
  const best = imports.theirs.toSorted((a, b) => a.seconds - b.seconds)[0]!
  const theirs = store.logs / best.seconds
  return [
    row('import, from the start of the program to its end', `${count(ours)} logs/s`),
    row(
      `_bulk of ready-made documents into ${version}`,
      `${count(theirs)} logs/s (${best.parallel} at a time of ${fixed(best.bytes / 1e6)} MB)`,
    ),
    atLeast('import, ratio', ours / theirs, 6),
  ]
}

const streamRows = ({ streams: { ours, theirs } }: Beside): Row[] => {
  const best = (all: typeof ours) => Math.max(...all.map(({ hits, seconds }) => hits / seconds))
  const same = ours[0]!.hits === theirs[0]!.hits
  return [
    row(`size: -1, ${count(ours[0]!.hits)} events`, `${count(best(ours))} events/s`),
    row(`a scroll of 10,000 each, ${count(theirs[0]!.hits)} events`, `${count(best(theirs))} events/s`),
    atLeast('all events, ratio', same ? best(ours) / best(theirs) : undefined, 3),
  ]
}

const diskRows = ({ bytes, store: { logs }, version }: Beside): Row[] => [
  row('disk', `${count(bytes.ours / logs)} bytes/log`, { target: '<= 420 bytes/log', ok: bytes.ours / logs <= 420 }),
  row(`disk of ${version}, merged into one segment an index`, `${count(bytes.theirs / logs)} bytes/log`),
]
