import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Link } from '../browser/router.tsx'
import { useLoaded } from './loaded.ts'
import { Text, Time } from './text.tsx'

export interface Series {
  /** Start of each bar, in epoch seconds. */
  times: readonly number[]
  counts: readonly number[]
  /** Parts of the counts, which are stacked. */
  split?: readonly Layer[] | undefined
}

/** Lines instead of bars. */
export interface Lines {
  times: readonly number[]
  lines: readonly Layer[]
  /** Whether a line ends where nothing is known. */
  hasGaps?: boolean
}

export interface Layer {
  name: string
  /** Null is unknown. */
  values: readonly (number | null)[]
  /** Default: the sum of its values. */
  total?: number
  /** Whether it is all that no other layer has. */
  isRest?: boolean
  /** In the legend; default: the name. */
  label?: ComponentChildren
  /** Page that its sum leads to. */
  href?: string
}

const LAYER_COLOURS = 6

/** A custom property of the style. */
export const layerColour = ({ isRest }: Layer, i: number): string => `--c${isRest ? LAYER_COLOURS : i % LAYER_COLOURS}`

interface ChartProps {
  /** Accessible label. */
  label: string
  series: Series | Lines
  height?: number
  /** Called with the dragged span, in seconds. */
  onSelect?: ((from: number, to: number) => void) | undefined
}

/** Bars or lines over time, loaded on demand. */
export const Chart = ({ label, series, height = 172, onSelect }: ChartProps) => {
  const [at, setAt] = useState<number>()
  const latest = useRef({ series, onSelect })
  latest.current = { series, onSelect }
  const { box, loaded } = useLoaded('chart', height, async () => {
    const { drawChart } = await import('./chart-draw.ts')
    return element => {
      const drawn = drawChart(element, height, (from, to) => latest.current.onSelect?.(from, to), setAt)
      drawn.show(latest.current.series)
      return drawn
    }
  })
  useEffect(() => loaded.current?.show(series), [series])

  return (
    <div class="chart">
      <Legend series={series} at={at} />
      <div ref={box} role="img" aria-label={label} style={{ height: `${height}px` }} />
    </div>
  )
}

/** Layers with their sums, or with their values under the pointer. */
const Legend = ({ series, at }: { series: Series | Lines; at: number | undefined }) => {
  const hasLines = 'lines' in series
  const layers = hasLines ? series.lines : (series.split ?? [])
  const time = at === undefined ? undefined : series.times[at]
  if (layers.length === 0) return null
  const shown = ({ values, total = values.reduce<number>((sum, it) => sum + (it ?? 0), 0) }: Layer) =>
    at !== undefined ? (values[at] ?? '–') : hasLines ? '' : total
  return (
    <ul class="legend">
      {layers.map((layer, i) => (
        <li key={layer.name} style={{ '--layer': `var(${layerColour(layer, i)})` }}>
          {layer.label ?? <Text value={layer.name} most={32} brief />}{' '}
          {layer.href ? (
            <Link to={layer.href}>{shown(layer).toLocaleString()}</Link>
          ) : (
            <span class="dim">{shown(layer).toLocaleString()}</span>
          )}
        </li>
      ))}
      {time !== undefined && (
        <li class="at dim">
          <Time value={time} brief />
        </li>
      )}
    </ul>
  )
}

/** Rounds to three significant digits. */
export const formatSignificant = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString() : String(Number(value.toPrecision(3)))

/** Inline bar chart. */
export const Bars = ({ counts, label }: { counts: readonly number[]; label: string }) => {
  const most = Math.max(1, ...counts)
  const [width, height] = [counts.length * 3, 20]
  return (
    <svg class="spark" role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none">
      <title>{label}</title>
      {counts.map((count, i) => {
        const tall = count === 0 ? 1 : Math.max(2, (count / most) * height)
        return <rect key={i} x={i * 3} y={height - tall} width={2} height={tall} data-none={count === 0 || undefined} />
      })}
    </svg>
  )
}
