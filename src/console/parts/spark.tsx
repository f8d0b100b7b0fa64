interface Props {
  /** What it shows, such as `Blocks per second`. */
  title: string
  values: readonly (number | null)[]
  show?(value: number): string
}

const [WIDTH, HEIGHT] = [300, 40]

/** A line of a few hundred values from zero up; null is a value that is not known. */
export const Spark = ({ title, values, show = showNumber }: Props) => {
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
        {runsOf(values).map(({ from, run }) => (
          <polyline
            key={from}
            points={run.map((value, i) => pointOf(from + i, value, values.length, most)).join(' ')}
          />
        ))}
      </svg>
    </figure>
  )
}

/** The values between those that are not known. */
export const runsOf = (values: readonly (number | null)[]): { from: number; run: number[] }[] => {
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

/** Three digits that mean something, as of a rate. */
export const showNumber = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString() : String(Number(value.toPrecision(3)))
