import UPlot from 'uplot'
import { theme, zone } from '../browser/preferences.ts'
import type { Lines, Series } from './chart.tsx'

export interface Drawn {
  show(series: Series | Lines): void
  remove(): void
}

/** Of lines, in their order. */
const LINE_COLOURS = ['--dim', '--good', '--bar', '--warn', '--bad']

/**
 * By the least distance of two labels, in seconds: what each says, and what the first of a year and
 * of a day adds.
 */
const TIME_LABELS: readonly (string | number | null)[][] = [
  [31_536_000, '{YYYY}', null, null, null, null, null, null, 1],
  [2_419_200, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
]

/** Draws into an element in the colours of the theme. */
export const drawChart = (box: HTMLElement, height: number, onSelect: (from: number, to: number) => void): Drawn => {
  let shown: Series | Lines = { times: [], counts: [] }
  let plot: UPlot | undefined
  const colour = (name: string) => {
    // The property alone has the colours of both themes.
    box.style.color = `var(${name})`
    return getComputedStyle(box).color
  }

  const bars = (): UPlot.Series => ({
    paths: UPlot.paths.bars!({ size: [0.9, 64], align: 1 }),
    fill: colour('--bar'),
    stroke: colour('--bar'),
    width: 0,
    points: { show: false },
  })
  const line = (_: unknown, i: number): UPlot.Series => ({
    stroke: colour(LINE_COLOURS[i % LINE_COLOURS.length]!),
    width: 1.5,
    points: { show: false },
    spanGaps: true,
  })

  const draw = () => {
    plot?.destroy()
    const series = shown
    const hasLines = 'lines' in series
    const values = hasLines ? series.lines : [series.counts]
    const axis = { stroke: colour('--dim'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
    const font = '11px system-ui, sans-serif'
    const options: UPlot.Options = {
      width: Math.max(box.clientWidth, 100),
      height,
      tzDate: seconds => {
        const date = new Date(seconds * 1000)
        return zone.get() === 'UTC' ? UPlot.tzDate(date, 'Etc/UTC') : date
      },
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false } },
      scales: { y: { range: (_, __, most) => [0, hasLines && most > 0 ? most : Math.max(most, 1)] } },
      axes: [
        { ...axis, font, size: 36, values: [...TIME_LABELS] },
        {
          ...axis,
          font,
          size: 48,
          values: (_, splits) => splits.map(it => (hasLines || it % 1 === 0 ? it.toLocaleString() : '')),
        },
      ],
      series: [{}, ...(hasLines ? values.map(line) : [bars()])],
      hooks: {
        setSelect: [
          ({ select: { left, width }, posToVal }) => {
            if (width > 2) onSelect(posToVal(left, 'x'), posToVal(left + width, 'x'))
          },
        ],
      },
    }
    plot = new UPlot(options, [[...shown.times], ...values.map(it => [...it])], box)
  }

  const resizes = new ResizeObserver(() => plot?.setSize({ width: Math.max(box.clientWidth, 100), height }))
  resizes.observe(box)
  const system = matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', draw)
  const forget = [theme, zone].map(choice => choice.subscribe(draw))
  return {
    show(series) {
      shown = series
      draw()
    },
    remove() {
      resizes.disconnect()
      system.removeEventListener('change', draw)
      for (const end of forget) end()
      plot?.destroy()
    },
  }
}
