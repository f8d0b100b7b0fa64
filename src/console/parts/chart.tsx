import { useEffect, useRef } from 'preact/hooks'
import { useLoaded } from './loaded.ts'

export interface Series {
  /** Start of each bar, in epoch seconds. */
  times: readonly number[]
  counts: readonly number[]
}

/** Lines instead of bars; null is unknown. */
export interface Lines {
  times: readonly number[]
  lines: readonly (readonly (number | null)[])[]
}

interface ChartProps {
  /** Accessible label. */
  label: string
  series: Series | Lines
  height?: number
  /** Called with the dragged span, in seconds. */
  onSelect?: ((from: number, to: number) => void) | undefined
}

/** Bars or lines over time, loaded on demand. */
export const Chart = ({ label, series, height = 112, onSelect }: ChartProps) => {
  const latest = useRef({ series, onSelect })
  latest.current = { series, onSelect }
  const { box, loaded } = useLoaded('chart', height, async () => {
    const { drawChart } = await import('./chart-draw.ts')
    return element => {
      const drawn = drawChart(element, height, (from, to) => latest.current.onSelect?.(from, to))
      drawn.show(latest.current.series)
      return drawn
    }
  })
  useEffect(() => loaded.current?.show(series), [series])

  return <div ref={box} class="chart" role="img" aria-label={label} style={{ height: `${height}px` }} />
}

interface SparkProps {
  /** Title such as `Blocks per second`. */
  title: string
  values: readonly (number | null)[]
  show?(value: number): string
}

const [WIDTH, HEIGHT] = [300, 40]

/** A sparkline: line chart from zero up; null is unknown. */
export const Spark = ({ title, values, show = formatSignificant }: SparkProps) => {
  const known = values.filter(value => value !== null)
  if (known.length < 2) return null
  const most = Math.max(...known)
  const now = values.findLast(value => value !== null)!
  const text = `now ${show(now)}, at most ${show(most)}`
  return (
    <figure class="spark">
      <figcaption>
        {title}: <span class="dim">{text}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${title}: ${text}`}>
        {knownRuns(values).map(({ from, run }) => (
          <polyline
            key={from}
            points={run.map((value, i) => pointOf(from + i, value, values.length, most)).join(' ')}
          />
        ))}
      </svg>
    </figure>
  )
}

/** Runs of known values. */
const knownRuns = (values: readonly (number | null)[]): { from: number; run: number[] }[] => {
  const runs: { from: number; run: number[] }[] = []
  let open: number[] | undefined
  for (const [i, value] of values.entries()) {
    if (value === null) open = undefined
    else if (open) open.push(value)
    else {
      open = [value]
      runs.push({ from: i, run: open })
    }
  }
  return runs
}

const pointOf = (i: number, value: number, count: number, most: number): string => {
  const x = (i / (count - 1)) * WIDTH
  const y = HEIGHT - 1 - (most > 0 ? value / most : 0) * (HEIGHT - 2)
  return `${x.toFixed(1)},${y.toFixed(1)}`
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
