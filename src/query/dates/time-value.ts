import { refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import { parseExactJson, shortenText } from '../json.ts'
import { bodyNode, isJsonMap, memberNode, toText } from '../json-node.ts'
import { asText, optionalKey, readBodyKeys, SCHEMAS } from '../keys.ts'
import { DAY, HOUR, MINUTE, SECOND } from './time-zone.ts'

export const TIME_UNIT_MS = { d: DAY, h: HOUR, m: MINUTE, s: SECOND, ms: 1, micros: 1e-3, nanos: 1e-6 } as const
export type TimeUnit = keyof typeof TIME_UNIT_MS

/** Milliseconds of a time such as `30s`; without a unit only 0 and -1. `name`: the parameter. */
const parseTimeValue = (name: string, text: string): number => {
  const value = text.trim()
  if (value === '-1' || value === '0') return Number(value)
  const [, digits, unit] = /^(\d{1,15})(nanos|micros|ms|[smhd])$/i.exec(value) ?? []
  // A capital M means months, which are no fixed time.
  if (digits !== undefined && unit !== 'M') return Number(digits) * TIME_UNIT_MS[unit!.toLowerCase() as TimeUnit]
  throw refuse(
    'illegal_argument_exception',
    `failed to parse setting [${name}] with value [${shortenText(text)}] as a time value: unit is missing or unrecognized. Write a number with one of ${Object.keys(TIME_UNIT_MS).join(', ')}, such as 30s.`,
  )
}

export const MOST_KEEP_ALIVE_MS = 86_400_000

/** Milliseconds that a cursor stays open after its last use. */
export const parseKeepAlive = (name: string, text: string): number => {
  const time = parseTimeValue(name, text)
  if (time > MOST_KEEP_ALIVE_MS)
    throw refuse(
      'illegal_argument_exception',
      `Keep alive for request (${shortenText(text)}) is too large. It must be less than (1d): [${name}] begins anew with each page.`,
    )
  // As in Elasticsearch, these select its default.
  return time <= 0 ? DEFAULT_KEEP_ALIVE_MS : time
}

const DEFAULT_KEEP_ALIVE_MS = 300_000

interface PitKeys {
  id: string
  /** Keep-alive from now on; undefined to keep that of its opening. */
  keepAliveMs: number | undefined
}

export const PIT_KEYS = {
  id: optionalKey(asText('the id of a point in time'), SCHEMAS.text),
  keep_alive: optionalKey(place => parseKeepAlive('keep_alive', toText(place, 'a time such as "1m"')), SCHEMAS.text),
}

/** Reads `pit` of a body before all else, since it says what is searched. */
export const pitOf = (body: string | undefined, limits: Limits): PitKeys | undefined => {
  if (!body?.includes('"pit"')) return undefined
  const root = parseExactJson(body, limits)
  if (!isJsonMap(root) || !root.has('pit')) return undefined
  const { id, keep_alive } = readBodyKeys(
    memberNode(bodyNode(root), 'pit'),
    'an object such as {"id": "…", "keep_alive": "1m"}',
    PIT_KEYS,
    [],
  )
  if (id === undefined)
    throw refuse('illegal_argument_exception', 'point in time id is not provided: write "pit": {"id": "…"}.')
  return { id, keepAliveMs: keep_alive }
}
