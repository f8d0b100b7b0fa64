import { count, fixed, showTimes } from '../../lib/table.ts'
import { rowsOfFiltered, showFiltered } from '../filtered.ts'
import { type Row, row, showRows, startRows, verdict } from '../report.ts'
import type { Beside } from './beside.ts'
import { rowsOfPanels, showPanels } from './panels.ts'
import { atLeast, meanOf, perLog, RATIO, rateRatio, showCrowds, showQuestions, streamRows } from './tables.ts'

/** What was measured beside OpenSearch, as Markdown. */
export const showBeside = (beside: Beside): string => {
  const { version, asked, documents, panels, filtered } = beside
  const rows = rowsOf(beside)
  const differing = asked.flatMap(({ question, differing }) =>
    differing.map(({ value, ours, theirs }) => `* ${question}, ${value}: ours ${ours}, theirs ${theirs}`),
  )
  return [
    `${version} held the same ${count(documents)} blocks, transactions, logs and events.`,
    showQuestions(asked, version, RATIO),
    showCrowds(beside, version),
    showPanels(panels, version),
    showFiltered(filtered, version),
    showRows(rows),
    ...(differing.length > 0 ? [`Totals that differ:\n\n${differing.join('\n')}`] : []),
    verdict(rows),
  ].join('\n\n')
}

/** The rest of what was measured, and what is to be reached. */
export const rowsOf = (beside: Beside): Row[] => {
  const { asked, crowds, fairness, panels, besideHeavy, start, store, bytes, version } = beside
  const slowest = asked
    .map(one => ({ ...one, ratio: RATIO.of(one) }))
    .sort((a, b) => (a.ratio ?? 0) - (b.ratio ?? 0))[0]!
  const many = crowds.find(({ clients }) => clients === 16)!.results
  const mean = meanOf(RATIO, asked)
  const whileBusy = (what: string, { beside, scanning, scansPerSecond }: Beside['fairness']) =>
    row(
      `term on _id while ${scanning} ${what} are under way`,
      `${showTimes(beside)} (${fixed(scansPerSecond)} ${what}/s)`,
      { target: 'p99 < 20 ms', ok: beside.p99 < 20 },
    )
  return [
    atLeast('ratio of p50, the least of all queries', slowest.ratio, 2, ` (${slowest.question})`),
    atLeast('ratio of p50, geometric mean', mean, 4),
    atLeast('answers/s of 16 clients, ratio', rateRatio(asked, many.ours, many.theirs), 1),
    atLeast('p99 of 16 clients, theirs to ours', mean && many.theirs.p99 / many.ours.p99, 1),
    ...importRows(beside),
    ...streamRows(beside.streams, 3),
    row('disk', perLog(bytes.ours, store), { target: '<= 420 bytes/log', ok: bytes.ours / store.logs <= 420 }),
    row(`disk of ${version}, merged into one segment an index`, perLog(bytes.theirs, store)),
    row('term on _id', showTimes(fairness.alone)),
    whileBusy('scans', fairness),
    whileBusy('aggregations', besideHeavy),
    ...rowsOfPanels(panels),
    ...rowsOfFiltered(beside.filtered),
    ...startRows(start, store.logs),
  ]
}

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
