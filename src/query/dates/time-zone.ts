import { createRecentCache } from '../../lib/caches.ts'
import { refuse } from '../../lib/errors.ts'
import { type JsonNode, showJson, where } from '../json-node.ts'
import type { QueryBudget } from '../scope.ts'

/** Offset of local time from UTC at an instant, in milliseconds. */
export type Zone = (instant: number) => number

export const UTC: Zone = () => 0

/** Name of a zone for other systems: an offset such as `+02:00`, or a name of the tz database. */
export const nameOfZone = (zone: Zone): string => zoneNames.get(zone) ?? 'UTC'

const zoneNames = new WeakMap<Zone, string>()

/** Id of a zone as the request wrote it, for which `nameOfZone` may have a newer name. */
export const idOfZone = (zone: Zone): string => zoneIds.get(zone) ?? 'Z'

const zoneIds = new WeakMap<Zone, string>()

/** Zone of an offset (`+02:00`) or name (`Europe/Berlin`); a name counts against the budget. */
export const zoneOf = (place: JsonNode, text: string, budget: QueryBudget): Zone => {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(text) ?? []
  if (hours !== undefined && Number(hours) <= 18 && Number(minutes) < 60) {
    const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE * (sign === '-' ? -1 : 1)
    const zone = () => offset
    const name = `${sign}${hours.padStart(2, '0')}:${minutes.padStart(2, '0')}`
    zoneNames.set(zone, name)
    if (offset !== 0) zoneIds.set(zone, name)
    return zone
  }
  if (text === 'Z') return UTC
  // Names are the same in any letter case.
  const name = text.toLowerCase()
  budget.timeZone(name, place)
  const known = zones.get(name)
  if (known) return known
  const zone = namedZone(place, text)
  zones.set(name, zone)
  return zone
}

/** Creating a formatter takes a thousand times as long as using it. */
const zones = createRecentCache<Zone>(50)

const namedZone = (place: JsonNode, text: string): Zone => {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: text,
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      hourCycle: 'h23',
    })
  } catch (cause) {
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: ${showJson(text)} is not a time zone. Write an offset such as "+02:00" or a name such as "Europe/Berlin".`,
      cause,
    )
  }
  const zone: Zone = instant => {
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, value]))
    const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type))
    const year = parts.get('era') === 'BC' ? 1 - number('year') : number('year')
    const local =
      utc(year, number('month'), number('day')) +
      number('hour') * HOUR +
      number('minute') * MINUTE +
      number('second') * SECOND
    return local - Math.floor(instant / SECOND) * SECOND
  }
  const name = format.resolvedOptions().timeZone
  zoneNames.set(zone, name)
  zoneIds.set(zone, name.toLowerCase() === text.toLowerCase() ? name : text)
  return zone
}

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** `Date.UTC` takes the years 0 to 99 for 1900 to 1999. */
export const utc = (year: number, month: number, day: number): number => {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getTime()
}
