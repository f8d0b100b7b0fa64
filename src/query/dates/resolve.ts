import { startOfMonth } from './calendar.ts'
import type { TimeField } from './pattern.ts'
import { calendarTimeOf, TIME_FIELDS } from './time-fields.ts'
import { DAY, HOUR, MINUTE, SECOND } from './time-zone.ts'

export type TimeValues = Map<TimeField, number>

/** A date and time as written, without missing units. */
export interface LocalTime {
  year: number
  month?: number
  day?: number
  hour?: number
  minute?: number
  second?: number
  millisecond?: number
  /** From UTC, in milliseconds. */
  offset?: number | undefined
  zone?: string | undefined
}

/**
 * The time that the fields of a text give, by the rules of java.time (`isStrict`, or smart, where
 * the 31st of a short month is its last day) and those of Elasticsearch for missing fields;
 * undefined if they contradict each other or are out of range.
 */
export const resolveFields = (
  { values, offset, zone }: { values: TimeValues; offset: number | undefined; zone: string | undefined },
  isStrict: boolean,
): LocalTime | undefined => {
  const fields = createReadFields(values)
  resolveYearOfEra(fields, isStrict)
  const early = resolveDate(fields, isStrict)
  resolveTimeFields(fields, isStrict)
  const date = early ?? resolveDateOfWeeks(fields, isStrict)
  const time = resolveTime(fields, isStrict)
  if (fields.hasFailed()) return undefined
  if (date !== undefined && !agrees(values, DATE_FIELDS, date)) return undefined
  if (time !== undefined && !agrees(values, TIMES_OF_DAY, time.inDay, time.nanoseconds)) return undefined
  const day = date === undefined ? missingDate(values, time !== undefined) : date + (time?.days ?? 0) * DAY
  if (day === undefined) return undefined
  const { year, month, day: dayOfMonth } = calendarTimeOf(day)
  const inDay = time?.inDay ?? 0
  return {
    ...{ year, month, day: dayOfMonth, offset, zone },
    hour: Math.floor(inDay / HOUR),
    minute: Math.floor((inDay % HOUR) / MINUTE),
    second: Math.floor((inDay % MINUTE) / SECOND),
    millisecond: inDay % SECOND,
  }
}

const createReadFields = (values: TimeValues) => {
  let failed = false
  const fail = (): undefined => {
    failed = true
  }
  return {
    values,
    hasFailed: () => failed,
    fail,
    /** Takes a field out, within its range. */
    take(field: TimeField, least = FIELD_RANGES[field]![0]): number | undefined {
      const value = values.get(field)
      values.delete(field)
      return value !== undefined && (value < least || value > FIELD_RANGES[field]![1]) ? fail() : value
    },
    put(field: TimeField, value: number) {
      if ((values.get(field) ?? value) !== value) fail()
      values.set(field, value)
    },
  }
}
type ReadFields = ReturnType<typeof createReadFields>

const YEARS = 999_999_999
const FIELD_RANGES: Partial<Record<TimeField, readonly [number, number]>> = {
  era: [0, 1],
  year: [-YEARS, YEARS],
  'year of era': [1, YEARS],
  'year of weeks': [-YEARS, YEARS],
  week: [1, 53],
  'week of month': [0, 5],
  quarter: [1, 4],
  month: [1, 12],
  day: [1, 31],
  'day of year': [1, 366],
  'day of week': [1, 7],
  'day in its week of the month': [1, 7],
  'half of day': [0, 1],
  'hour of half': [0, 11],
  'clock hour of half': [1, 12],
  hour: [0, 23],
  'clock hour': [1, 24],
  minute: [0, 59],
  second: [0, 59],
  nanosecond: [0, 999_999_999],
  'millisecond of day': [0, DAY - 1],
  'nanosecond of day': [0, DAY * 1e6 - 1],
}

const resolveYearOfEra = (fields: ReadFields, isStrict: boolean) => {
  const { values } = fields
  const yearOfEra = fields.take('year of era')
  if (yearOfEra === undefined) return
  const era = values.get('era')
  const year = values.get('year')
  if (era !== undefined) {
    values.delete('era')
    fields.put('year', era === 1 ? yearOfEra : 1 - yearOfEra)
  } else if (year !== undefined) fields.put('year', year > 0 ? yearOfEra : 1 - yearOfEra)
  // Java leaves a year without an era alone; Elasticsearch takes it for a year.
  else values.set(isStrict ? 'year of era' : 'year', yearOfEra)
}

/** Local midnight in milliseconds since 1970. */
const dayAt = (year: number, month: number, day: number): number | undefined => {
  if (month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return undefined
  return startOfMonth(year * 12 + month - 1) + (day - 1) * DAY
}

const daysOfMonth = (year: number, month: number) =>
  (startOfMonth(year * 12 + month) - startOfMonth(year * 12 + month - 1)) / DAY

const dayOfYearAt = (year: number, dayOfYear: number): number | undefined => {
  const day = startOfMonth(year * 12) + (dayOfYear - 1) * DAY
  return dayOfYear >= 1 && day < startOfMonth(year * 12 + 12) ? day : undefined
}

const resolveDate = (fields: ReadFields, isStrict: boolean): number | undefined => {
  const { values } = fields
  if (!values.has('year')) return undefined
  if (values.has('month') && values.has('day')) {
    const [year, month, day] = [fields.take('year')!, fields.take('month')!, fields.take('day')!]
    if (fields.hasFailed()) return undefined
    return dayAt(year, month, isStrict ? day : Math.min(day, daysOfMonth(year, month))) ?? fields.fail()
  }
  if (values.has('day of year')) {
    const [year, day] = [fields.take('year')!, fields.take('day of year')!]
    return fields.hasFailed() ? undefined : (dayOfYearAt(year, day) ?? fields.fail())
  }
  return undefined
}

const mondayOf = (day: number) => day - (TIME_FIELDS['day of week'](calendarTimeOf(day)) - 1) * DAY
/** The week that holds 4 January is the first. */
const firstMondayOf = (year: number) => mondayOf(startOfMonth(year * 12) + 3 * DAY)

const resolveDateOfWeeks = (fields: ReadFields, isStrict: boolean): number | undefined => {
  const { values } = fields
  if (!values.has('day of week')) return undefined
  if (values.has('year')) {
    if (!values.has('month') || !values.has('week of month')) return undefined
    const [year, month] = [fields.take('year')!, fields.take('month')!]
    const [week, weekday] = [fields.take('week of month')!, fields.take('day of week')!]
    if (fields.hasFailed()) return undefined
    const first = startOfMonth(year * 12 + month - 1)
    const weeks = week - TIME_FIELDS['week of month'](calendarTimeOf(first))
    const day = mondayOf(first) + (weeks * 7 + weekday - 1) * DAY
    return isStrict && calendarTimeOf(day).month !== month ? fields.fail() : day
  }
  if (!values.has('year of weeks') || !values.has('week')) return undefined
  const [year, week, weekday] = [fields.take('year of weeks')!, fields.take('week')!, fields.take('day of week')!]
  if (fields.hasFailed()) return undefined
  const start = firstMondayOf(year)
  const weeks = (firstMondayOf(year + 1) - start) / (7 * DAY)
  return start + ((Math.min(week, weeks) - 1) * 7 + weekday - 1) * DAY
}

const resolveTimeFields = (fields: ReadFields, isStrict: boolean) => {
  const { values } = fields
  const clockHour = fields.take('clock hour', isStrict ? 1 : 0)
  if (clockHour !== undefined) fields.put('hour', clockHour % 24)
  const clockHourOfHalf = fields.take('clock hour of half', isStrict ? 1 : 0)
  if (clockHourOfHalf !== undefined) fields.put('hour of half', clockHourOfHalf % 12)
  if (values.has('half of day') && values.has('hour of half')) {
    const [half, hour] = [fields.take('half of day')!, fields.take('hour of half')!]
    if (!fields.hasFailed()) fields.put('hour', half * 12 + hour)
  }
  const nanoseconds = fields.take('nanosecond of day')
  if (nanoseconds !== undefined) {
    putTime(fields, Math.floor(nanoseconds / 1e9))
    fields.put('nanosecond', nanoseconds % 1e9)
  }
  const milliseconds = fields.take('millisecond of day')
  if (milliseconds !== undefined) {
    putTime(fields, Math.floor(milliseconds / SECOND))
    fields.put('nanosecond', (milliseconds % SECOND) * 1e6 + ((values.get('nanosecond') ?? 0) % 1e6))
  }
}

const putTime = (fields: ReadFields, second: number) => {
  fields.put('hour', Math.floor(second / 3600))
  fields.put('minute', Math.floor((second % 3600) / 60))
  fields.put('second', second % 60)
}

const TIMES = ['minute', 'second', 'nanosecond'] as const

/** Milliseconds in the day; undefined if the hour or a unit between others is missing. */
const resolveTime = (
  fields: ReadFields,
  isStrict: boolean,
): { inDay: number; nanoseconds: number; days: number } | undefined => {
  const { values } = fields
  const missing = TIMES.findIndex(field => !values.has(field))
  // Java does not even check the ranges of an hour and a second without a minute.
  if (values.has('hour') && missing >= 0 && TIMES.slice(missing).some(field => values.has(field))) return undefined
  if (!values.has('hour')) {
    for (const field of TIMES_OF_DAY) if (values.has(field)) checkFieldRange(fields, field)
    return undefined
  }
  const isEndOfDay = !isStrict && values.get('hour') === 24 && TIMES.every(field => (values.get(field) ?? 0) === 0)
  if (isEndOfDay) values.set('hour', 0)
  const [hour = 0, minute = 0, second = 0, nanosecond = 0] = (['hour', ...TIMES] as const).map(it => fields.take(it))
  const inDay = hour * HOUR + minute * MINUTE + second * SECOND + Math.floor(nanosecond / 1e6)
  return { inDay, nanoseconds: nanosecond % 1e6, days: isEndOfDay ? 1 : 0 }
}

const checkFieldRange = (fields: ReadFields, field: TimeField) => {
  const value = fields.values.get(field)!
  fields.take(field)
  fields.values.set(field, value)
}

const DATE_FIELDS = [
  ...(['era', 'year', 'year of era', 'year of weeks', 'week', 'week of month', 'quarter', 'month', 'day'] as const),
  ...(['day of year', 'day of week', 'day in its week of the month'] as const),
]
const TIMES_OF_DAY = ['half of day', 'hour of half', 'hour', ...TIMES] as const

/** Whether the remaining fields say the same as the resolved ones. */
const agrees = (values: TimeValues, fields: readonly TimeField[], local: number, nanoseconds = 0): boolean => {
  const time = { ...calendarTimeOf(local), nanoseconds }
  return fields.every(field => (values.get(field) ?? TIME_FIELDS[field](time)) === TIME_FIELDS[field](time))
}

/** The date where Java has none, as Elasticsearch completes it. */
const missingDate = (values: TimeValues, hasTime: boolean): number | undefined => {
  const given = values.get('year') ?? values.get('year of era')
  const [month, day, dayOfYear] = [values.get('month'), values.get('day'), values.get('day of year')]
  if (given !== undefined && month !== undefined && day !== undefined) return dayAt(given, month, day)
  if (given !== undefined && dayOfYear !== undefined) return dayOfYearAt(given, dayOfYear)
  if (given !== undefined && !hasTime) return dayAt(given, month ?? 1, 1)
  const year = values.get('year of weeks')
  if (year !== undefined && (hasTime || month === undefined)) {
    const week = values.get('week') ?? 1
    return week < 1 || week > 53 ? undefined : firstMondayOf(year) + (week - 1) * 7 * DAY
  }
  if (month !== undefined) return dayAt(given ?? 1970, month, day ?? 1)
  return hasTime ? 0 : undefined
}
