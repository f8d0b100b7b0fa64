interface Range {
  from: number
  to: number
}

interface Props {
  /** Blocks that are held, ascending and inclusive. */
  ranges: readonly Range[]
  head: number | null
  /** Whether these blocks were looked at, rather than held. */
  scoped?: boolean
  /** Blocks that the bar stands for; by default from the first one that is held to the head. */
  whole?: Range
}

const WIDTH = 1_000
const NAMED = 8

/** Which blocks are held, from the first one to the head, and which are missing between. */
export const RangeBar = ({ ranges, head, scoped = false, whole }: Props) => {
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (!first || !last) return <p class="dim">No block {scoped ? 'was looked at' : 'is held'} yet.</p>
  const all = whole ?? { from: first.from, to: Math.max(last.to, head ?? 0) }
  const gaps = gapsOf(ranges)
  const held = ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  const text = `Blocks ${showRange({ from: first.from, to: last.to })} ${scoped ? 'were looked at' : 'are held'}: ${held.toLocaleString()}`
  return (
    <div class="range-bar">
      <svg viewBox={`0 0 ${WIDTH} 14`} preserveAspectRatio="none" role="img" aria-label={`${text}. ${showGaps(gaps)}`}>
        <rect class="missing" x="0" y="0" width={WIDTH} height="14" />
        <rect class="held" y="0" height="14" {...placeOf({ from: first.from, to: last.to }, all)} />
        {drawn(gaps, all).map(({ x, width }) => (
          <rect key={x} class="gap" y="0" height="14" x={x} width={width} />
        ))}
      </svg>
      <p>
        {text}.{' '}
        {gaps.length === 0 ? <span class="dim">{showGaps(gaps)}</span> : <span class="warn">{showGaps(gaps)}</span>}
      </p>
    </div>
  )
}

export const gapsOf = (ranges: readonly Range[]): Range[] =>
  ranges.slice(1).map(({ from }, i) => ({ from: ranges[i]!.to + 1, to: from - 1 }))

const placeOf = ({ from, to }: Range, all: Range) => {
  const scale = WIDTH / (all.to - all.from + 1)
  return { x: (from - all.from) * scale, width: (to - from + 1) * scale }
}

/** Every gap is seen, however small; those that lie at the same place are one. */
export const drawn = (gaps: readonly Range[], all: Range): { x: number; width: number }[] => {
  const places: { x: number; width: number }[] = []
  for (const gap of gaps) {
    const { x, width } = placeOf(gap, all)
    const [start, end] = [Math.floor(x), Math.max(Math.ceil(x + width), Math.floor(x) + 2)]
    const before = places.at(-1)
    if (before && start <= before.x + before.width) before.width = Math.max(before.width, end - before.x)
    else places.push({ x: start, width: end - start })
  }
  return places
}

export const showGaps = (gaps: readonly Range[]): string => {
  if (gaps.length === 0) return 'No block is missing between them.'
  const more = gaps.length > NAMED ? ` and ${(gaps.length - NAMED).toLocaleString()} further gaps` : ''
  return `Missing: ${gaps.slice(0, NAMED).map(showRange).join(', ')}${more}.`
}

const showRange = ({ from, to }: Range): string =>
  from === to ? from.toLocaleString() : `${from.toLocaleString()}–${to.toLocaleString()}`
