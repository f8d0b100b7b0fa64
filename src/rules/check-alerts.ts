import { isIPv4, isIPv6 } from 'node:net'
import { isRecord } from '../lib/record.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { CHANNEL_TYPES, CHANNELS, type Parameter } from './channels.ts'
import { TOKEN } from './extracts.ts'
import { atMost, expected, filled, list, object, oneOf, optional, type Place, string, wrongOf } from './place.ts'

export interface RuleOptions {
  /** Completes "the host is …" if nothing may be sent there. */
  refusedHost?: (hostname: string) => string | undefined
}

/** A webhook's URL, which may have tokens such as `{transactionHash}`. */
const checkUrl = (place: Place, { refusedHost }: RuleOptions): void => {
  const what = 'a URL that starts with http:// or https://'
  const value = string(place, what)
  if (value === undefined) return
  if (UNSEEN.test(value)) {
    expected(place, what, 'It has surrounding white space or control characters: remove them.')
    return
  }
  const url = URL.parse(value.replace(TOKEN, PLACEHOLDER))
  if (url === null || !/^https?:$/.test(url.protocol)) {
    expected(place, what, 'One is https://example.org/{transactionHash}.')
    return
  }
  const { username, password, host } = url
  // Otherwise anyone who writes to the chain could choose where the alert goes.
  if (`${username} ${password} ${host}`.includes(PLACEHOLDER)) {
    place.fault(`${place.label} has a token before its path: only path and query may have tokens.`)
    return
  }
  const why = refusedHost?.(url.hostname)
  if (why !== undefined)
    place.fault(
      `${place.label} leads to ${url.hostname}, which is ${why}: use a public address, or have the operator of this server allow it: --allow-target ${rangeOf(url.hostname)}`,
    )
}

/** A range for the operator to allow. The addresses of a name may change. */
const rangeOf = (host: string): string => {
  const address = host.replace(/^\[|\]$/g, '')
  if (isIPv4(address)) return `${address}/32`
  return isIPv6(address) ? `${address}/128` : host === 'localhost' ? '127.0.0.1/32' : 'ADDRESS/32'
}

const checkRecipients = (place: Place): void => {
  const { value } = place
  if (!Array.isArray(value) || value.length === 0) expected(place, 'a list of one or more email addresses')
  for (const it of wrongOf(place, isEmail)) expected(it, EMAIL_ADDRESS)
}

const EMAIL_ADDRESS = 'an email address such as alice@example.org'

/** What mail servers take in practice: no quoted names, no comments, no address literals, one line. */
const isEmail = (text: unknown): boolean => {
  if (typeof text !== 'string' || text.length > 254) return false
  const [local, domain, ...more] = text.split('@')
  return (
    more.length === 0 &&
    local!.length <= 64 &&
    LOCAL.test(local!) &&
    domain !== undefined &&
    (domain === 'localhost' || DOMAIN.test(domain))
  )
}

const LOCAL = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const DOMAIN = /^([\p{L}\p{N}]([\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}]([\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u
const PLACEHOLDER = 'chainsieve-token'
const UNSEEN = /^\s|\s$|\p{Cc}/u

/** Reports elements that repeat another one. */
export const distinct = (places: readonly Place[]) => {
  const seen = new Map<string, Place>()
  for (const place of places) {
    const key = JSON.stringify(place.value, sorted)
    const same = seen.get(key)
    if (same) place.fault(`${place.label} is the same as ${same.label}: remove one of them.`)
    else seen.set(key, place)
  }
}

/** The order of an object's properties does not matter. */
const sorted = (_: string, value: unknown): unknown => {
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  return typeof value === 'bigint' ? String(value) : value
}

interface AlertOptions extends RuleOptions {
  limits: Limits
}

export const checkAlerts = (place: Place, options: AlertOptions): void => {
  const alerts = [...list(place, { of: 'alerts', min: 1, max: 10 })]
  for (const it of alerts) action(it, options)
  distinct(alerts)
}

type Check = (place: Place, options: AlertOptions) => unknown

const url: Check = (place, options) => atMost(place, 'ruleUrl', options.limits) && checkUrl(place, options)

const textOf =
  (limit: 'ruleName' | 'ruleText'): Check =>
  (place, { limits }) =>
    atMost(place, limit, limits) && string(place)

const recipients: Check = (place, { limits }) => {
  if (Array.isArray(place.value) && place.value.length > limits.ruleRecipients)
    place.fault(overLimit('ruleRecipients', limits, place.label).message)
  else checkRecipients(place)
}

const CHECKS: Record<Parameter['holds'], Check> = {
  ...{ url, addresses: recipients },
  ...{ text: textOf('ruleText'), name: textOf('ruleName') },
}

const action = (place: Place, options: AlertOptions) => {
  if (!object(place, { what: 'an alert', known: ['type', 'parameters', 'payload'] })) return
  const type = oneOf(place.member('type'), CHANNEL_TYPES, 'a type of receiver')
  const parameters = place.member('parameters')
  if (type !== undefined) {
    const known: Record<string, Parameter> = CHANNELS[type]
    if (object(parameters, { what: `the parameters of "${type}"`, known: Object.keys(known) }))
      for (const [name, { holds }] of Object.entries(known)) CHECKS[holds](parameters.member(name), options)
  } else if (!isRecord(parameters.value)) expected(parameters, 'an object')
  optional(place.member('payload'), it => payload(it, options.limits))
}

const payload = (place: Place, limits: Limits) => {
  // A list that is too long is not looked through.
  if (fieldsIn(place.value) > limits.rulePayload)
    return place.fault(overLimit('rulePayload', limits, place.label).message)
  const items = [...list(place, { of: 'fields', max: 10 })]
  for (const item of items) payloadItem(item, 1, limits)
  distinct(items)
}

const fieldsIn = (value: unknown, level = 1): number =>
  Array.isArray(value) && level <= 3
    ? value.reduce((sum: number, it) => sum + 1 + (isRecord(it) ? fieldsIn(it.subPayloads, level + 1) : 0), 0)
    : 0

const payloadItem = (place: Place, level: 1 | 2 | 3, limits: Limits) => {
  if (!object(place, { what: 'a field of a payload', known: ['fieldType', 'fieldName', 'subPayloads'] })) return
  const type = place.member('fieldType')
  const sub = type.value === 'Sub Field'
  if (sub && level === 3) expected(type, '"Field"', 'The third level is the last.')
  else oneOf(type, ['Field', 'Sub Field'], 'one of two')
  filled(place.member('fieldName'))
  atMost(place.member('fieldName'), 'ruleValue', limits)
  const inner = place.member('subPayloads')
  if (sub && level !== 3) for (const it of list(inner, { of: 'fields' })) payloadItem(it, level === 1 ? 2 : 3, limits)
  else if (type.value === 'Field' && inner.value !== undefined && inner.value !== null)
    expected(inner, 'null or left out', 'Only "Sub Field" takes it.')
}
