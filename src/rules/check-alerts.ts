import { isIPv4, isIPv6 } from 'node:net'
import { isRecord } from '../lib/arrays.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { shortenText } from '../query/json.ts'
import { CHANNEL_TYPES, CHANNELS, channelNamed, type Parameter } from './channels.ts'
import { isHiddenKey } from './hidden-keys.ts'
import {
  checkByteLength,
  checkFilled,
  checkList,
  checkObject,
  checkOneOf,
  checkOptional,
  checkString,
  elementsUnlike,
  type InputPlace,
  quotedList,
  reportExpected,
} from './input.ts'

export interface RuleOptions {
  /** Completes "the host is …" if nothing may be sent there. */
  refusedHost?: (hostname: string) => string | undefined
  /** Nothing is stored or sent: keys may be as answers show them. */
  draft?: boolean
}

/** A webhook's URL, which may have tokens such as `{transactionHash}`. */
const checkUrl = (place: InputPlace, { refusedHost }: RuleOptions): void => {
  const what = 'a URL that starts with http:// or https://'
  const value = checkString(place, what)
  if (value === undefined) return
  if (INVISIBLE.test(value)) {
    reportExpected(place, what, 'It has surrounding white space or control characters: remove them.')
    return
  }
  const url = URL.parse(value.replace(URL_TOKEN, PLACEHOLDER))
  if (url === null || !/^https?:$/.test(url.protocol)) {
    reportExpected(place, what, 'One is https://example.org/{transactionHash}.')
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
      `${place.label} leads to ${url.hostname}, which is ${why}: use a public address, or have the operator of this server allow it: --allow-target ${allowedRange(url.hostname)}`,
    )
}

/** A range for the operator to allow. The addresses of a name may change. */
const allowedRange = (host: string): string => {
  const address = host.replace(/^\[|\]$/g, '')
  if (isIPv4(address)) return `${address}/32`
  return isIPv6(address) ? `${address}/128` : host === 'localhost' ? '127.0.0.1/32' : 'ADDRESS/32'
}

const checkRecipients = (place: InputPlace): void => {
  const { value } = place
  if (!Array.isArray(value) || value.length === 0) reportExpected(place, 'a list of one or more email addresses')
  for (const it of elementsUnlike(place, isEmail)) reportExpected(it, EMAIL_EXPECTATION)
}

const EMAIL_EXPECTATION = 'an email address such as alice@example.org'

/** Subset that mail servers accept: no quoted names, comments or address literals; one line. */
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
const INVISIBLE = /^\s|\s$|\p{Cc}/u

/** Reports elements that repeat another one. */
export const checkDistinct = (places: readonly InputPlace[]) => {
  const seen = new Map<string, InputPlace>()
  for (const place of places) {
    const key = JSON.stringify(place.value, sortedProperties)
    const same = seen.get(key)
    if (same) place.fault(`${place.label} is the same as ${same.label}: remove one of them.`)
    else seen.set(key, place)
  }
}

/** The order of an object's properties does not matter. */
const sortedProperties = (_: string, value: unknown): unknown => {
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  return typeof value === 'bigint' ? String(value) : value
}

interface AlertOptions extends RuleOptions {
  limits: Limits
}

export const checkAlerts = (place: InputPlace, options: AlertOptions): void => {
  const alerts = [...checkList(place, { of: 'alerts', min: 1, max: 10 })]
  for (const it of alerts) checkAction(it, options)
  checkDistinct(alerts)
}

type ParameterCheck = (place: InputPlace, options: AlertOptions) => unknown

const checkLimitedUrl: ParameterCheck = (place, options) =>
  checkByteLength(place, 'ruleUrl', options.limits) && checkUrl(place, options)

const checkLimitedText =
  (limit: 'ruleName' | 'ruleText'): ParameterCheck =>
  (place, { limits }) =>
    checkByteLength(place, limit, limits) && checkString(place)

const checkLimitedRecipients: ParameterCheck = (place, { limits }) => {
  if (Array.isArray(place.value) && place.value.length > limits.ruleRecipients)
    place.fault(overLimit('ruleRecipients', limits, place.label).message)
  else checkRecipients(place)
}

const PARAMETER_CHECKS: Record<Parameter['holds'], ParameterCheck> = {
  ...{ url: checkLimitedUrl, addresses: checkLimitedRecipients },
  ...{ text: checkLimitedText('ruleText'), name: checkLimitedText('ruleName'), key: checkLimitedText('ruleName') },
}

const checkParameter = (place: InputPlace, { holds, optional, choices, form }: Parameter, options: AlertOptions) => {
  const { value } = place
  // Forms leave an empty text.
  if (optional && (value === undefined || value === '')) return
  if (choices) return checkOneOf(place, choices, 'one of')
  if (holds === 'key' && isHiddenKey(value)) return options.draft || place.fault(hiddenKeyFault(place))
  if (form && !(typeof value === 'string' && form[0].test(value))) {
    // A key is not repeated in an answer.
    if (holds === 'key') return place.fault(`${place.label} must be ${form[1]}.`)
    return reportExpected(place, form[1])
  }
  return PARAMETER_CHECKS[holds](place, options)
}

const hiddenKeyFault = ({ label }: InputPlace) =>
  `${label} is hidden as in an answer, and the rule has no such key for this type and URL: write the key itself.`

const checkAction = (place: InputPlace, options: AlertOptions) => {
  if (!checkObject(place, { what: 'an alert', known: ['type', 'parameters', 'payload', 'message'] })) return
  const written = place.member('type')
  const type = channelNamed(written.value) ?? checkOneOf(written, CHANNEL_TYPES, 'a type of receiver')
  const parameters = place.member('parameters')
  if (type !== undefined) {
    const known: Record<string, Parameter> = CHANNELS[type]
    if (checkObject(parameters, { what: `the parameters of "${written.value}"`, known: Object.keys(known) }))
      for (const [name, parameter] of Object.entries(known)) checkParameter(parameters.member(name), parameter, options)
  } else if (!isRecord(parameters.value)) reportExpected(parameters, 'an object')
  checkOptional(place.member('payload'), it => checkPayload(it, options.limits))
  checkOptional(place.member('message'), it => checkMessage(it, options.limits))
}

const checkMessage = (place: InputPlace, limits: Limits) => {
  const text = checkByteLength(place, 'ruleText', limits) ? checkString(place) : undefined
  for (const [token, , form, decimals] of text?.matchAll(MESSAGE_TOKEN) ?? []) {
    if (form === undefined) continue
    if (!MESSAGE_FORMS.some(it => it === form))
      place.fault(
        `${place.label} has ${shortenText(token)}, but no form of a value is ${JSON.stringify(shortenText(form))}: use ${quotedList(MESSAGE_FORMS, 'or')}.`,
      )
    else if (decimals !== undefined && (form !== 'units' || Number(decimals) > MAX_TOKEN_DECIMALS))
      place.fault(
        `${place.label} has ${shortenText(token)}: only "units" takes a number, of 0 to ${MAX_TOKEN_DECIMALS} decimals.`,
      )
  }
}

const checkPayload = (place: InputPlace, limits: Limits) => {
  // A list that is too long is not looked through.
  if (countPayloadFields(place.value) > limits.rulePayload)
    return place.fault(overLimit('rulePayload', limits, place.label).message)
  const items = [...checkList(place, { of: 'fields', max: 10 })]
  for (const item of items) checkPayloadItem(item, 1, limits)
  checkDistinct(items)
}

const countPayloadFields = (value: unknown, level = 1): number =>
  Array.isArray(value) && level <= 3
    ? value.reduce((sum: number, it) => sum + 1 + (isRecord(it) ? countPayloadFields(it.subPayloads, level + 1) : 0), 0)
    : 0

const checkPayloadItem = (place: InputPlace, level: 1 | 2 | 3, limits: Limits) => {
  if (!checkObject(place, { what: 'a field of a payload', known: ['fieldType', 'fieldName', 'subPayloads'] })) return
  const type = place.member('fieldType')
  const sub = type.value === 'Sub Field'
  if (sub && level === 3) reportExpected(type, '"Field"', 'The third level is the last.')
  else checkOneOf(type, ['Field', 'Sub Field'], 'one of two')
  checkFilled(place.member('fieldName'))
  checkByteLength(place.member('fieldName'), 'ruleValue', limits)
  const inner = place.member('subPayloads')
  if (sub && level !== 3)
    for (const it of checkList(inner, { of: 'fields' })) checkPayloadItem(it, level === 1 ? 2 : 3, limits)
  else if (type.value === 'Field' && inner.value !== undefined && inner.value !== null)
    reportExpected(inner, 'null or left out', 'Only "Sub Field" takes it.')
}

/** A token of a URL, such as `{transactionHash}`, `{args.value}` or, in rules of the original service, `{args#value}`. */
export const URL_TOKEN: RegExp = /\{([\w$.#]+)\}/g

/** A token of a message: `{args.to}`, `{args.to|short}` or `{args.value|units:6}`. */
export const MESSAGE_TOKEN: RegExp = /\{([\w$.#]+)(?:\|(\w+)(?::(\d{1,3}))?)?\}/g
export const MESSAGE_FORMS = ['units', 'short', 'explorer'] as const
/** What tokens name beside the fields of the document. */
export const MESSAGE_NAMES = ['$rule', '$network', '$state', '$block', '$alert', '$console', '$explorer'] as const
const MAX_TOKEN_DECIMALS = 77

/** The names that lead to the value of a token. */
export const tokenPath = (token: string): string[] => token.split(/[.#]/)
