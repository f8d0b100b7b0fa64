import { useEffect, useRef } from 'preact/hooks'
import type { Drawn } from './chart-draw.ts'

export interface Series {
  /** Where each bar begins, in seconds since 1970. */
  times: readonly number[]
  counts: readonly number[]
}

interface Props {
  /** What it shows, for those who do not see it. */
  label: string
  series: Series
  height?: number
  /** Told of the span that was chosen by dragging, in seconds. */
  onSelect?: ((from: number, to: number) => void) | undefined
}

/** Counts over time as bars. What draws it is loaded when it is first needed. */
export const Chart = ({ label, series, height = 112, onSelect }: Props) => {
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<Drawn>(undefined)
  const latest = useRef({ series, onSelect })
  latest.current = { series, onSelect }

  useEffect(() => {
    let gone = false
    const load = async () => {
      const { drawChart } = await import('./chart-draw.ts')
      if (gone) return
      const select = (from: number, to: number) => latest.current.onSelect?.(from, to)
      drawn.current = drawChart(box.current!, height, select)
      drawn.current.show(latest.current.series)
    }
    load().catch(() => {
      if (!gone) box.current!.textContent = 'The chart cannot be loaded. Reload the console.'
    })
    return () => {
      gone = true
      drawn.current?.remove()
    }
  }, [height])
  useEffect(() => drawn.current?.show(series), [series])

  return <div ref={box} class="chart" role="img" aria-label={label} style={{ height: `${height}px` }} />
}
