import { KINDS } from '../../../src/mapping/index.ts'
import { count, fixed, showTable } from '../../lib/table.ts'
import type { Varying } from '../anew.ts'
import { type Comparison, cpuText, perLog, rateRatio, showCrowds, showQuestions, streamRows } from '../beside/tables.ts'
import { type Row, row, showRows, verdict } from '../report.ts'
import type { OnlyImports, OverCluster } from './cluster.ts'
import type { Imports } from './imports.ts'

/** Milliseconds that our server takes more than the cluster itself. */
const MORE: Comparison = {
  is: 'more ms',
  of: ({ differing, times }) => (differing.length > 0 ? undefined : times.ours.p50 - times.theirs.p50),
}

/** What was measured over a cluster, as Markdown. */
export const showOverCluster = (over: OverCluster | OnlyImports): string => {
  const rows = 'asked' in over ? rowsOf(over) : importRows(over)
  return [
    ...('asked' in over ? [showQuestions(over.asked, over.version, MORE), showCrowds(over, over.version)] : []),
    showImports(over),
    ...('asked' in over ? [showSizes(over)] : []),
    showRows(rows),
    verdict(rows),
  ].join('\n\n')
}

const showImports = ({ imports: { ours, bare } }: OnlyImports): string =>
  showTable([
    ['import', 'seconds', 'its processor s', 'of the cluster'],
    ...[...ours.map(one => ({ ...one, name: 'ours' })), ...bare.map(one => ({ ...one, name: nameOf(one) }))].map(
      ({ name, seconds, cpuSeconds, clusterSeconds }) => [
        ...[name, fixed(seconds), cpuText(cpuSeconds), fixed(clusterSeconds)],
      ],
    ),
  ])

const nameOf = ({ parallel, bytes }: Imports['bare'][number]) =>
  `bare, ${parallel} at a time of ${fixed(bytes / 1e6)} MB`

const showSizes = ({ sent, settled, store: { logs } }: OverCluster): string =>
  showTable([
    ['entity', 'documents', 'a log', 'JSON bytes each', 'bytes on disk each'],
    ...KINDS.filter(kind => sent[kind].documents > 0).map(kind => [
      ...[kind, count(sent[kind].documents), fixed(sent[kind].documents / logs)],
      ...[count(sent[kind].bytes / sent[kind].documents), count(settled[kind].bytes / settled[kind].documents)],
    ]),
  ])

const medianOf = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

const importRows = ({ imports, sent, store: { logs } }: OnlyImports): Row[] => {
  const [own, bare] = [imports.ours, imports.bare].map(all => medianOf(all.map(({ seconds }) => seconds))) as [
    number,
    number,
  ]
  const documents = KINDS.reduce((sum, kind) => sum + sent[kind].documents, 0)
  const busy = (all: Imports['ours']) =>
    medianOf(all.map(({ cpuSeconds = 0, clusterSeconds }) => cpuSeconds + clusterSeconds))
  return [
    row(
      'import, median of the rounds',
      `${fixed(own)} s, ${count(documents / own)} documents/s, ${count(logs / own)} logs/s`,
    ),
    row('bare loader of ready-made documents', `${fixed(bare)} s, ${count(documents / bare)} documents/s`),
    row('import, ratio', fixed(bare / own), { target: '>= 0.8', ok: bare / own >= 0.8 }),
    row('the same of processor time, with that of the cluster', fixed(busy(imports.bare) / busy(imports.ours))),
  ]
}

export const rowsOf = (over: OverCluster): Row[] => {
  const { asked, crowds, settled, streams, store } = over
  const more = asked.map(({ times }) => times.ours.p50 - times.theirs.p50)
  const most = Math.max(...more)
  const isSame = asked.every(({ differing }) => differing.length === 0)
  const throughRow = (what: string, varying: Varying) => {
    const { ours, theirs } = crowds.find(one => one.clients === 16 && one.varying === varying)!.results
    const ratio = rateRatio(asked, ours, theirs)
    return row(what, fixed(ours.perSecond / theirs.perSecond), {
      ...{ target: '>= 0.8', ok: ratio !== undefined && ratio >= 0.8 },
    })
  }
  return [
    row('p50 of a query, more than the cluster asked directly, at most', `${fixed(most)} ms`, {
      ...{ target: '<= 1.5 ms', ok: isSame && most <= 1.5 },
    }),
    row('the same, median of the queries', `${fixed(medianOf(more))} ms`),
    throughRow('answers/s of 16 clients whose questions all differ, ratio', 'number'),
    throughRow('the same of questions that are asked again and again', 'nothing'),
    ...importRows(over),
    row(
      'disk of the cluster, one segment an index',
      perLog(
        KINDS.reduce((sum, kind) => sum + settled[kind].bytes, 0),
        store,
      ),
    ),
    ...streamRows(streams),
  ]
}
