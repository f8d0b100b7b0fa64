/** Inclusive range of integers. Lists of ranges ascend, with gaps between them. */
export interface Range {
  from: number
  to: number
}

export const mergeRanges = (ranges: readonly Range[]): Range[] => {
  const result: Range[] = []
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}

export const gapsIn = (held: readonly Range[], from: number, to: number): Range[] => {
  const gaps: Range[] = []
  let next = from
  for (const range of held) {
    if (range.to < next) continue
    if (range.from > to) break
    if (range.from > next) gaps.push({ from: next, to: range.from - 1 })
    next = range.to + 1
  }
  if (next <= to) gaps.push({ from: next, to })
  return gaps
}

/** Clips ranges to `from`..`to`. */
export const partsIn = (held: readonly Range[], from: number, to: number): Range[] =>
  held
    .map(range => ({ from: Math.max(range.from, from), to: Math.min(range.to, to) }))
    .filter(part => part.from <= part.to)

export const countIntegers = (ranges: readonly Range[]): number =>
  ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0)

export const holds = (ranges: readonly Range[], value: number): boolean =>
  ranges.some(({ from, to }) => from <= value && value <= to)
