const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** In units of 1,000. */
export const showBytes = (bytes: number): string => {
  let [value, unit] = [bytes, 0]
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value).toLocaleString() : value.toFixed(1)} ${UNITS[unit]}`
}
