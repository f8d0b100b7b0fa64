import { KINDS } from '../../../src/mapping/index.ts'
import type { Varying } from '../anew.ts'
import { type Row, row, showRows, verdict } from '../report.ts'
import { count, fixed, showTable } from '../table.ts'
import type { Times } from '../times.ts'
import type { OnlyImports, OverCluster } from './cluster.ts'
import type { Imports } from './imports.ts'

/** What was measured over a cluster, as Markdown. */
export const showOverCluster = (over: OverCluster | OnlyImports): string =>
  'asked' in over ? showAll(over) : showOnlyImports(over)

const showOnlyImports = (over: OnlyImports): string => {
  const rows = importRows(over)
  return [showImports(over), showRows(rows), verdict(rows)].join('\n\n')
}

const showAll = (over: OverCluster): string =>
  [
    showQuestions(over),
    showCrowds(over),
    showImports(over),
    showSizes(over),
    showRows(rowsOf(over)),
    verdict(rowsOf(over)),
  ].join('\n\n')

const pair = ({ p50, p99 }: Times): string => `${fixed(p50)} / ${fixed(p99)}`
const cpu = (ms: number | undefined): string => (ms === undefined ? '' : fixed(ms))

const showQuestions = ({ asked, version }: OverCluster): string =>
  showTable([
    [
      ...['query, each time another', 'ours p50 / p99 ms', `${version} p50 / p99 ms`, 'more', 'our processor ms'],
      ...['again: ours', 'theirs'],
    ],
    ...asked.map(({ question, hits, times, again, cpu: own, differing }) => [
      `${question} (${count(hits)} hits)`,
      ...[pair(times.ours), pair(times.theirs)],
      ...[differing.length > 0 ? 'totals differ' : fixed(times.ours.p50 - times.theirs.p50), cpu(own)],
      ...[fixed(again.ours.p50), fixed(again.theirs.p50)],
    ]),
  ])

const showCrowds = ({ crowds, version }: OverCluster): string =>
  showTable([
    [
      'clients, all ten mixed',
      'ours answers/s',
      `${version} answers/s`,
      'ratio',
      'p50 / p99 ms',
      'theirs',
      'processor ms, ours',
    ],
    ...crowds.map(({ clients, varying, results: { ours, theirs } }) => [
      ...[
        `${clients}${varying === 'nothing' ? ', the same again' : ''}`,
        count(ours.perSecond),
        count(theirs.perSecond),
        fixed(ours.perSecond / theirs.perSecond),
      ],
      ...[pair(ours), pair(theirs), cpu(ours.cpu)],
    ]),
  ])

const showImports = ({ imports: { ours, bare, unhindered } }: OnlyImports): string =>
  showTable([
    ['import', 'seconds', 'its processor s', 'of the cluster'],
    ...ours.map(({ seconds, cpuSeconds, clusterSeconds }) => [
      ...['ours', fixed(seconds), cpu(cpuSeconds), fixed(clusterSeconds)],
    ]),
    ...bare.map(({ seconds, bytes, parallel, cpuSeconds, clusterSeconds }) => [
      ...[
        `bare, ${parallel} at a time of ${fixed(bytes / 1e6)} MB`,
        fixed(seconds),
        cpu(cpuSeconds),
        fixed(clusterSeconds),
      ],
    ]),
    ...unhindered.map(({ seconds, cpuSeconds }) => [
      ...['ours, and nothing waits for the cluster', fixed(seconds), cpu(cpuSeconds), ''],
    ]),
  ])

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
  const secondsOf = (all: Imports['ours']) => medianOf(all.map(({ seconds }) => seconds))
  const [own, bare, unhindered] = [imports.ours, imports.bare, imports.unhindered].map(secondsOf) as [
    number,
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
    row(
      'import where nothing waits for the cluster',
      `${fixed(unhindered)} s, ${count(documents / unhindered)} documents/s, ${count(logs / unhindered)} logs/s`,
    ),
  ]
}

export const rowsOf = (over: OverCluster): Row[] => {
  const { asked, crowds, settled, streams, store } = over
  const { logs } = store
  const isSame = asked.every(({ differing }) => differing.length === 0)
  const more = asked.map(({ times }) => times.ours.p50 - times.theirs.p50)
  const most = Math.max(...more)
  const through = (varying: Varying) => {
    const { ours, theirs } = crowds.find(one => one.clients === 16 && one.varying === varying)!.results
    return ours.perSecond / theirs.perSecond
  }
  const throughRow = (what: string, varying: Varying) => {
    const ratio = through(varying)
    return row(what, fixed(ratio), { target: '>= 0.8', ok: isSame && ratio >= 0.8 })
  }
  const bytes = KINDS.reduce((sum, kind) => sum + settled[kind].bytes, 0)
  const rate = (all: typeof streams.ours) => medianOf(all.map(({ hits, seconds }) => hits / seconds))
  return [
    row('p50 of a query, more than the cluster asked directly, at most', `${fixed(most)} ms`, {
      ...{ target: '<= 1.5 ms', ok: isSame && most <= 1.5 },
    }),
    row('the same, median of the queries', `${fixed(medianOf(more))} ms`),
    throughRow('answers/s of 16 clients whose questions all differ, ratio', 'number'),
    throughRow('the same of questions that are asked again and again', 'nothing'),
    ...importRows(over),
    row('disk of the cluster, one segment an index', `${count(bytes / logs)} bytes/log`),
    row('size: -1, all events', `${count(rate(streams.ours))} events/s`),
    row('a scroll of 10,000 each, asked directly', `${count(rate(streams.theirs))} events/s`),
  ]
}
