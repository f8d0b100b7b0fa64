/** How long ago a moment was, or in how long it comes; both in milliseconds since 1970. */
export const ago = (time: number, now: number): string => {
  const seconds = (time - now) / 1000
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return RELATIVE.format(Math.round(seconds / length), unit)
}

/**
 * The same of what has happened: another clock may be ahead of this one, and that of the page is a few seconds old. Times further ahead are
 * those of a chain whose clock was turned.
 */
export const since = (time: number, now: number): string =>
  time > now - 1_000 && time < now + AHEAD_MS ? 'just now' : ago(time, now)

const AHEAD_MS = 3_600_000

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
