import UPlot from 'uplot'
import { theme, zone } from '../browser/preferences.ts'
import { type Layer, type Lines, layerColour, type Series } from './chart.tsx'
import { compactNumber } from './format.ts'

export interface Drawn {
  show(series: Series | Lines): void
  remove(): void
}

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

/** Draws into an element in the colours of the theme; `onPoint` is told the place under the pointer. */
export const drawChart = (
  box: HTMLElement,
  height: number,
  onSelect: (from: number, to: number) => void,
  onPoint: (at: number | undefined) => void,
): Drawn => {
  let shown: Series | Lines = { times: [], counts: [] }
  let plot: UPlot | undefined
  const colour = (name: string) => {
    // The property alone has the colours of both themes.
    box.style.color = `var(${name})`
    return getComputedStyle(box).color
  }

  const bars = (stroke: string): UPlot.Series => ({
    paths: UPlot.paths.bars!({ size: [0.9, 64], align: 1 }),
    ...{ fill: stroke, stroke, width: 0, points: { show: false } },
  })
  const line = (stroke: string): UPlot.Series => ({ stroke, width: 1.5, points: { show: false } })

  const draw = () => {
    plot?.destroy()
    const series = shown
    const hasLines = 'lines' in series
    const layers = layersOf(series).map((layer, i) => ({ ...layer, colour: colour(layerColour(layer, i)) }))
    // A lower layer covers those that are stacked on it.
    if (!hasLines) layers.reverse()
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
      padding: [8, null, 0, null],
      cursor: { y: false, drag: { x: true, y: false, setScale: false } },
      scales: { y: { range: (_, __, most) => [0, hasLines && most > 0 ? most : Math.max(most, 1)] } },
      axes: [
        { ...axis, font, size: 36, values: [...TIME_LABELS] },
        {
          ...axis,
          font,
          ...{ size: 48, space: 24 },
          values: (_, splits) => splits.map(it => (hasLines || it % 1 === 0 ? compactNumber(it) : '')),
        },
      ],
      series: [
        {},
        ...layers.map(it => (hasLines ? { ...line(it.colour), spanGaps: !series.hasGaps } : bars(it.colour))),
      ],
      hooks: {
        setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)],
        setSelect: [
          ({ select: { left, width }, posToVal }) => {
            if (width > 2) onSelect(posToVal(left, 'x'), posToVal(left + width, 'x'))
          },
        ],
      },
    }
    plot = new UPlot(options, [[...shown.times], ...layers.map(it => [...it.values])], box)
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

/** Layers from the bottom to the top, each with those below it. */
const layersOf = (series: Series | Lines): readonly Layer[] => {
  if ('lines' in series) return series.lines
  const { counts, split = [{ name: '', values: counts }] } = series
  let below = counts.map(() => 0)
  return split.map(layer => {
    below = below.map((height, i) => height + (layer.values[i] ?? 0))
    return { ...layer, values: below }
  })
}
