/** A Markdown table that is also readable as it is; the first line is its head. */
export const showTable = (cells: readonly (readonly string[])[]): string => {
  const widths = cells[0]!.map((_, i) => Math.max(...cells.map(line => line[i]!.length)))
  const lines = cells.map(line => `| ${line.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`)
  lines.splice(1, 0, `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`)
  return lines.join('\n')
}

export const showTimes = ({ p50, p99 }: Pick<Times, 'p50' | 'p99'>) => `p50 ${fixed(p50)}, p99 ${fixed(p99)} ms`
export const count = (n: number) => Math.round(n).toLocaleString('en')
export const fixed = (n: number) =>
  n < 10 ? n.toFixed(n > 0 && n < 1 ? 3 : 2) : n.toLocaleString('en', { maximumFractionDigits: 1 })
export const megabytes = (bytes: number) => `${count(bytes / 1e6)} MB`

export interface Times {
  runs: number
  p50: number
  p99: number
  max: number
}
export const timesOf = (times: readonly number[]): Times => {
  const sorted = times.toSorted((a, b) => a - b)
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
  return { runs: sorted.length, p50: rank(0.5), p99: rank(0.99), max: rank(1) }
}
