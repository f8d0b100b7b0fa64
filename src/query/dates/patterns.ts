import type { ChainsieveError } from '../../lib/errors.ts'

export const DATE = 'uuuu-MM-dd'
const TIME_PATTERN = 'HH:mm:ss.SSSXXX'

/** Its fraction has three digits, or as many more as there are. */
export const FINEST = 'date_optional_time_nanos'

/** Patterns by the names of Elasticsearch, each also with `strict_` before it. */
export const PATTERNS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    date_optional_time: `${DATE}'T'${TIME_PATTERN}`,
    dateOptionalTime: `${DATE}'T'${TIME_PATTERN}`,
    [FINEST]: `${DATE}'T'${TIME_PATTERN}`,
    iso8601: `${DATE}'T'${TIME_PATTERN}`,
    date_time: `${DATE}'T'${TIME_PATTERN}`,
    date_time_no_millis: `${DATE}'T'HH:mm:ssXXX`,
    date: DATE,
    year_month_day: DATE,
    year_month: 'uuuu-MM',
    year: 'uuuu',
    date_hour: `${DATE}'T'HH`,
    date_hour_minute: `${DATE}'T'HH:mm`,
    date_hour_minute_second: `${DATE}'T'HH:mm:ss`,
    date_hour_minute_second_millis: `${DATE}'T'HH:mm:ss.SSS`,
    date_hour_minute_second_fraction: `${DATE}'T'HH:mm:ss.SSS`,
    basic_date: 'uuuuMMdd',
    basic_date_time: "uuuuMMdd'T'HHmmss.SSSXXX",
    basic_date_time_no_millis: "uuuuMMdd'T'HHmmssXXX",
    ordinal_date: 'uuuu-DDD',
    hour: 'HH',
    hour_minute: 'HH:mm',
    hour_minute_second: 'HH:mm:ss',
    hour_minute_second_millis: 'HH:mm:ss.SSS',
    time: TIME_PATTERN,
    time_no_millis: 'HH:mm:ssXXX',
    t_time: `'T'${TIME_PATTERN}`,
  }),
)

export type PatternPiece = { text: string; isQuoted: boolean } | { letter: string; count: number }

const LONGEST_PATTERN = 100

export const splitPattern = (pattern: string, bad: (why: string) => ChainsieveError): PatternPiece[] => {
  if (pattern === '' || pattern.length > LONGEST_PATTERN) throw bad(`it must have 1 to ${LONGEST_PATTERN} characters`)
  return pattern.match(/'(?:[^']|'')*'|([A-Za-z])\1*|[\s\S]/g)!.map((piece): PatternPiece => {
    if (/^[A-Za-z]/.test(piece)) return { letter: piece[0]!, count: piece.length }
    if (piece === "''") return { text: "'", isQuoted: true }
    const isQuoted = piece.length > 1 && piece.startsWith("'")
    return { text: isQuoted ? piece.slice(1, -1).replaceAll("''", "'") : piece, isQuoted }
  })
}
