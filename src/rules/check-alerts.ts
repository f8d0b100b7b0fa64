import { isRecord } from '../lib/record.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { checkRecipients, checkUrl, type RuleOptions } from './addresses.ts'
import { CHANNEL_TYPES, CHANNELS, type Parameter } from './channels.ts'
import { distinct } from './distinct.ts'
import { atMost, expected, filled, list, object, oneOf, optional, type Place, string } from './place.ts'

export interface AlertOptions extends RuleOptions {
  limits: Limits
}

/** A rule's `alerts`. */
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

/** Parameters of each type of receiver, all of which it must have. */
export const RECEIVERS = CHANNEL_TYPES.map(type => ({ type, parameters: Object.keys(CHANNELS[type]) }))

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
