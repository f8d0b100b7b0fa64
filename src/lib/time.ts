export const DAY_MS = 86_400_000

/** Epoch milliseconds of an ISO 8601 time, UTC without a zone. Undefined for other texts. */
export const parseTime = (text: string): number | undefined => {
  const [, day, clock = '', zone = 'Z'] = ISO.exec(text) ?? []
  if (day === undefined) return undefined
  const at = Date.parse(clock === '' ? day : `${day}${clock}${zone}`)
  // Date.parse takes the 31st of February for a day in March.
  const exists = !Number.isNaN(at) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
  return exists ? at : undefined
}

const ISO = /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/

/** Readable lengths in milliseconds. */
const LENGTHS = [
  ...[1, 5, 10, 30].map(seconds => seconds * 1_000),
  ...[1, 5, 10, 30].map(minutes => minutes * 60_000),
  ...[1, 3, 6, 12].map(hours => hours * 3_600_000),
  ...[1, 7, 30, 90, 365].map(days => days * 86_400_000),
]
/** Equal parts of a time: `starts` are where they begin, in epoch milliseconds. */
export interface TimeParts {
  intervalMs: number
  starts: number[]
}

/** Divides a time into at most `most` parts that begin at multiples of their length. */
export const partsBetween = (first: number, last: number, most: number): TimeParts => {
  const countOf = (length: number) => Math.floor(last / length) - Math.floor(first / length) + 1
  let intervalMs = LENGTHS.find(length => countOf(length) <= most) ?? LENGTHS.at(-1)!
  while (countOf(intervalMs) > most) intervalMs *= 2
  const start = Math.floor(first / intervalMs) * intervalMs
  return { intervalMs, starts: Array.from({ length: countOf(intervalMs) }, (_, n) => start + n * intervalMs) }
}
