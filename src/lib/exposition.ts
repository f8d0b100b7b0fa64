import type { Labels, MetricSnapshot } from './metrics.ts'

/** Prometheus's text format, version 0.0.4. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** All series of a name must stand together, so snapshots of one name become one. */
export const exposition = (snapshots: readonly MetricSnapshot[]): string => {
  const byName = Map.groupBy(snapshots, ({ name }) => name)
  return [...byName.values()].map(family).join('')
}

/** The same metrics with labels that their owner does not know. */
export const labelled = (snapshots: readonly MetricSnapshot[], more: Labels): MetricSnapshot[] =>
  snapshots.map(one => {
    const add = <T extends { labels: Labels }>(series: T): T => ({ ...series, labels: { ...more, ...series.labels } })
    return one.type === 'histogram' ? { ...one, series: one.series.map(add) } : { ...one, series: one.series.map(add) }
  })

const family = (same: readonly MetricSnapshot[]): string => {
  const { name, help, type } = same[0]!
  const lines = same.flatMap(one => (one.type === 'histogram' ? histogram(one) : simple(one)))
  if (lines.length === 0) return ''
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
}

const simple = ({ name, series }: Exclude<MetricSnapshot, { type: 'histogram' }>): string[] =>
  series.map(({ labels, value }) => `${name}${shown(labels)} ${number(value)}`)

const histogram = ({ name, bounds, series }: Extract<MetricSnapshot, { type: 'histogram' }>): string[] =>
  series.flatMap(({ labels, counts, sum, count }) => [
    ...bounds.map((bound, i) => `${name}_bucket${shown({ ...labels, le: number(bound) })} ${counts[i]}`),
    `${name}_bucket${shown({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${shown(labels)} ${number(sum)}`,
    `${name}_count${shown(labels)} ${count}`,
  ])

const shown = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

const number = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
