/** Counts over time in the height of a line. */
export const Spark = ({ counts, label }: { counts: readonly number[]; label: string }) => {
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
