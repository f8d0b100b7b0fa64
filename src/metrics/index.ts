import { METRIC_TABLE, type MetricDeclaration, type MetricName } from './table.ts'

export type Labels = Readonly<Record<string, string>>

export type Counter = ReturnType<Metrics['counter']>

export type MetricSnapshot =
  | { type: 'counter' | 'gauge'; name: string; help: string; series: { labels: Labels; value: number }[] }
  | {
      type: 'histogram'
      name: string
      help: string
      /** Inclusive ascending upper bounds of the buckets (`le`); values above the last one are only in `count`. */
      bounds: readonly number[]
      /** `counts[i]` counts values up to `bounds[i]`, cumulative as in Prometheus. */
      series: { labels: Labels; counts: number[]; sum: number; count: number }[]
    }

/** Counters, gauges and histograms of one thread; a snapshot is plain data for other threads. */
export type Metrics = ReturnType<typeof createMetrics<MetricName>>

/** Each metric is declared in `table`, and registered once. */
export const createMetrics = <Name extends string = MetricName>(
  table: Readonly<Record<Name, MetricDeclaration>> = METRIC_TABLE as Readonly<Record<string, MetricDeclaration>>,
) => {
  const metrics = new Map<string, () => MetricSnapshot>()
  const add = (name: Name, type: MetricDeclaration[0], snapshot: (help: string) => MetricSnapshot) => {
    const [declared, , help] = table[name] ?? []
    if (declared !== type || help === undefined) throw new Error(`${name} is not declared as a ${type}`)
    if (metrics.has(name)) throw new Error(`there are two metrics ${name}`)
    metrics.set(name, () => snapshot(help))
  }
  return {
    counter(name: Name) {
      const series = createSeries(() => ({ value: 0 }))
      add(name, 'counter', help => ({ type: 'counter', name, help, series: series.all() }))
      /** Resolves labels once for many additions. */
      const of = (labels: Labels) => {
        const one = series.of(labels)
        return (by = 1) => {
          one.value += by
        }
      }
      return { add: (labels: Labels, by?: number) => of(labels)(by), of }
    },
    gauge(name: Name) {
      const series = createSeries(() => ({ value: 0 }))
      add(name, 'gauge', help => ({ type: 'gauge', name, help, series: series.all() }))
      return {
        set: (labels: Labels, value: number) => {
          series.of(labels).value = value
        },
      }
    },
    histogram(name: Name, bounds: readonly number[]) {
      if (bounds.some((bound, i) => i > 0 && bound <= bounds[i - 1]!))
        throw new Error(`the bounds of ${name} do not ascend`)
      const series = createSeries(() => ({ counts: bounds.map(() => 0), sum: 0, count: 0 }))
      add(name, 'histogram', help => ({ type: 'histogram', name, help, bounds, series: series.all() }))
      /** Resolves labels once for many observations. */
      const of = (labels: Labels) => {
        const one = series.of(labels)
        return (value: number) => {
          one.sum += value
          one.count++
          for (let i = bounds.length - 1; i >= 0 && value <= bounds[i]!; i--) one.counts[i]!++
        }
      }
      return { observe: (labels: Labels, value: number) => of(labels)(value), of }
    },
    snapshot: (): MetricSnapshot[] => [...metrics.values()].map(one => structuredClone(one())),
  }
}

/** A snapshot of a gauge or counter whose values are read at the moment of the scrape. */
export const snapshotOf = (name: MetricName, ...series: [value: number, labels?: Labels][]): MetricSnapshot => {
  const [type, , help]: MetricDeclaration = METRIC_TABLE[name]
  if (type === 'histogram') throw new Error(`${name} is a histogram`)
  return { type, name, help, series: series.map(([value, labels = {}]) => ({ labels, value })) }
}

/** Values by labels, in any order of labels. */
const createSeries = <T extends object>(zero: () => T) => {
  const series = new Map<string, T & { labels: Labels }>()
  return {
    of(labels: Labels) {
      const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
      const one = series.get(key) ?? { labels: { ...labels }, ...zero() }
      series.set(key, one)
      return one
    },
    all: () => [...series.values()],
  }
}

/** Prometheus's text format, version 0.0.4. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
/** Prometheus requires all series of a name together, so snapshots of a name are merged. */
export const exposition = (snapshots: readonly MetricSnapshot[]): string => {
  const byName = Map.groupBy(snapshots, ({ name }) => name)
  return [...byName.values()].map(family).join('')
}

/** Adds labels. */
export const labelled = (snapshots: readonly MetricSnapshot[], more: Labels): MetricSnapshot[] =>
  snapshots.map(one => {
    const add = <T extends { labels: Labels }>(series: T): T => ({ ...series, labels: { ...more, ...series.labels } })
    return one.type === 'histogram' ? { ...one, series: one.series.map(add) } : { ...one, series: one.series.map(add) }
  })
const family = (same: readonly MetricSnapshot[]): string => {
  const { name, help, type } = same[0]!
  const lines = same.flatMap(one => (one.type === 'histogram' ? histogramLines(one) : valueLines(one)))
  if (lines.length === 0) return ''
  return `# HELP ${name} ${escapeLabel(help)}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
}

const valueLines = ({ name, series }: Exclude<MetricSnapshot, { type: 'histogram' }>): string[] =>
  series.map(({ labels, value }) => `${name}${labelText(labels)} ${metricNumber(value)}`)
const histogramLines = ({ name, bounds, series }: Extract<MetricSnapshot, { type: 'histogram' }>): string[] =>
  series.flatMap(({ labels, counts, sum, count }) => [
    ...bounds.map((bound, i) => `${name}_bucket${labelText({ ...labels, le: metricNumber(bound) })} ${counts[i]}`),
    `${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${labelText(labels)} ${metricNumber(sum)}`,
    `${name}_count${labelText(labels)} ${count}`,
  ])
const labelText = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value).replaceAll('"', '\\"')}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeLabel = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const metricNumber = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
