import { tokenPath, URL_TOKEN } from '../rules/check-alerts.ts'
import {
  asToken,
  encodedInteger,
  followPath,
  isArguments,
  isEncoded,
  isPlainObject,
  scalarText,
  stringOf,
  withList,
} from '../rules/notify/values.ts'
import type { PayloadItem, TargetType } from '../rules/rule.ts'
import { cutText } from './text.ts'

/**
 * The payload's fields of the entity, or all of it. Names may be dotted; lists of objects are
 * searched by element, and lists of arguments become objects. Missing fields are omitted.
 */
export const select = (
  source: Record<string, unknown>,
  payload: readonly PayloadItem[] | undefined,
  targetType?: TargetType,
): Record<string, unknown> =>
  payload === undefined ? source : ((pickItems(withList(source, targetType), payload) ?? {}) as Record<string, unknown>)

/** Replaces each token once; values are never parsed for tokens. A string is a refusal's reason. */
export const fillUrl = (template: string, source: Record<string, unknown>, targetType?: TargetType): URL | string => {
  if (tokensInAuthority(template)) return 'its URL has a token before the path: only path and query may have tokens'
  const values = withList(source, targetType)
  const url = parseUrl(
    template.replace(URL_TOKEN, (_, token: string) => encode(asToken(followPath(values, tokenPath(token))))),
  )
  const shape = parseUrl(template.replace(URL_TOKEN, 'a'))
  if (url === null || shape === null) return 'its URL is not valid'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'its URL is neither http nor https'
  // A value of dots (`..`) would change the path.
  if (authority(url) !== authority(shape) || url.pathname.split('/').length !== shape.pathname.split('/').length)
    return 'the value of a token would change the destination of its URL'
  return url
}

/** Whether a token could change scheme, host, port or credentials; such URLs are refused. */
export const tokensInAuthority = (template: string): boolean => {
  if (template.search(URL_TOKEN) < 0) return false
  const [first, ...others] = TOKEN_PROBES.map(probe => parseUrl(template.replace(URL_TOKEN, probe)))
  return others.some(it => first === null || it === null || authority(it!) !== authority(first!))
}

/** Fields for people: dotted names and texts, in order, amounts in their unit first. */
export const asLines = (value: unknown, name = ''): [name: string, text: string][] => {
  const under = (key: string) => (name === '' ? key : `${name}.${key}`)
  if (isArguments(value))
    return value.flatMap(it => asLines(it.value, under(it.name === '' ? String(it.pos) : String(it.name))))
  if (Array.isArray(value)) {
    return value.some(isPlainObject)
      ? value.flatMap((element, index) => asLines(element, under(String(index))))
      : [[name, value.map(it => valueText(it)).join(', ')]]
  }
  if (!isPlainObject(value) || isEncoded(value)) return [[name, valueText(value)]]
  return Object.entries(value).flatMap(([key, member]) => asLines(member, under(key)))
}

const pickItems = (value: unknown, items: readonly PayloadItem[]): unknown => {
  if (Array.isArray(value) && !isArguments(value))
    return value.some(isPlainObject)
      ? value.filter(isPlainObject).map(element => pickItems(element, items) ?? {})
      : undefined
  const found = new Map<string, unknown>()
  for (const item of items) {
    const there = followPath(
      value,
      Object.hasOwn(Object(value), item.fieldName) ? [item.fieldName] : item.fieldName.split('.'),
    )
    const part = item.fieldType === 'Field' || there === undefined ? there : pickItems(there, item.subPayloads)
    if (part !== undefined) found.set(item.fieldName, join(found.get(item.fieldName), part))
  }
  return found.size === 0 ? undefined : Object.fromEntries(found)
}

/** Two items may select from the same field. */
const join = (one: unknown, other: unknown): unknown => {
  if (isPlainObject(one) && isPlainObject(other)) {
    const joined = new Map(Object.entries(one))
    for (const [name, value] of Object.entries(other)) joined.set(name, join(joined.get(name), value))
    return Object.fromEntries(joined)
  }
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
    return one.map((element, index) => join(element, other[index]))
  return other
}

const valueText = (value: unknown): string => {
  if (!isEncoded(value)) return scalarText(value)
  if (value.type === 'bool') return value.num === 1 ? 'true' : 'false'
  const integer = encodedInteger(value)
  const unit = value.scaled ?? value.coin
  if (integer !== undefined) return typeof unit === 'number' ? `${unit} (${integer})` : integer
  return stringOf(value) ?? scalarText(value.hex ?? value.raw)
}

/** Servers accept URLs of about 8,000 characters, so long texts are cut. */
const encode = (value: string): string => {
  const text = cutText(value.toWellFormed(), MAX_TOKEN_LENGTH)
  const encoded = encodeURIComponent(text)
  return encoded.length <= MAX_ENCODED ? encoded : encodeURIComponent(cutText(text, MAX_SHORT_TOKEN_LENGTH))
}
/** In UTF-16 units; the shorter one if most take nine characters each. */
const MAX_TOKEN_LENGTH = 2_000
const MAX_SHORT_TOKEN_LENGTH = 250
const MAX_ENCODED = 2_300

const parseUrl = (text: string): URL | null => URL.parse(text)
const authority = ({ protocol, username, password, host }: URL): string =>
  `${protocol}//${username}:${password}@${host}`

/** Sample values of tokens; letters stay visible in any part of a URL. */
const TOKEN_PROBES = ['a', 'b', '', '1']
