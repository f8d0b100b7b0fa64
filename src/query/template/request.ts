import { refuse } from '../../lib/errors.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../../limits/index.ts'
import { type JsonValue, Numeral, shortenText, textOfJson } from '../json.ts'
import {
  bracketName,
  isJsonMap,
  type JsonNode,
  toBoolean,
  toObject,
  toScalar,
  toText,
  unexpected,
  where,
} from '../json-node.ts'
import { key, keyOr, nullableKey, optionalKey, readBodyKeys, SCHEMAS } from '../keys.ts'
import { javaDouble } from '../numbers.ts'

/** Rendered search body, and whether to explain its hits. */
interface Rendered {
  body: string
  explain: boolean
}

/** `{"source": …, "params": {…}}`. Templates are sent along: none are stored. */
export const readTemplate = (place: JsonNode, limits: Limits, check?: () => void): Rendered => {
  const { source, params, explain } = readBodyKeys(
    place,
    'an object such as {"source": {"query": {"match_all": {}}}, "params": {}}',
    TEMPLATE_KEYS,
    [],
  )
  if (source === undefined)
    throw refuse(
      'action_request_validation_exception',
      'Validation Failed: 1: template is missing: send it as [source];',
    )
  return { body: fillTemplate(source, params, limits, check), explain }
}

const readTemplateSource = (place: JsonNode): string | undefined =>
  isJsonMap(place.value) ? textOfJson(place.value) : toText(place, 'a template, as text or as an object') || undefined

export const TEMPLATE_KEYS = {
  source: nullableKey(readTemplateSource, { anyOf: [SCHEMAS.text, { type: 'object' }] }),
  params: key(
    place =>
      place === undefined || place.value === null ? new Map() : toObject(place, 'an object with values by name'),
    { type: 'object' },
  ),
  id: optionalKey((place): never => {
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: unable to find script ${bracketName(toScalar(place, 'a name'))}: templates are not stored here. Send it as [source].`,
    )
  }),
  lang: optionalKey(place => {
    if (toText(place, '"mustache"') !== 'mustache') throw unexpected(place, '"mustache"')
  }),
  explain: keyOr(false, toBoolean),
  profile: optionalKey(place => {
    if (toBoolean(place)) throw unexpected(place, 'no [profile], which is not supported')
  }),
}

/**
 * Renders mustache like Elasticsearch 7.17: JSON-escaped values; sections `toJson`, `join`, `url`.
 * Input also counts against the limit: loops may read much and write nothing. `check` may throw.
 */
export const fillTemplate = (
  template: string,
  params: JsonValue,
  limits: Pick<Limits, 'template'> = DEFAULT_LIMITS,
  check: () => void = () => {},
): string => {
  let left = limits.template
  let unchecked = 0
  const spend = (amount: number) => {
    left -= amount
    if (left < 0) throw overLimit('template', { ...DEFAULT_LIMITS, ...limits })
    unchecked += amount
    if (unchecked < CHECK_TEMPLATE_EVERY) return
    unchecked = 0
    check()
  }
  const read = (name: string, scopes: readonly JsonValue[]): JsonValue | undefined => {
    spend(name.length + scopes.length)
    return lookUpValue(name, scopes)
  }

  const render = (pieces: readonly TemplatePiece[], scopes: readonly JsonValue[]): string => {
    let out = ''
    for (const piece of pieces) {
      spend(STEP_COST)
      const text = renderPiece(piece, scopes)
      spend(text.length)
      out += text
    }
    return out
  }

  const renderPiece = (piece: TemplatePiece, scopes: readonly JsonValue[]): string => {
    if (piece.is === 'text') return piece.text
    if (piece.is === 'variable') {
      const text = plainText(read(piece.name, scopes))
      return piece.escaped ? JSON.stringify(text).slice(1, -1) : text
    }
    const own = piece.is === 'section' ? functionNamed(piece.name) : undefined
    if (own) return own(piece, scopes)
    const value = read(piece.name, scopes)
    const isOff = isFalse(value)
    if (piece.is === 'inverted') return isOff ? render(piece.of, scopes) : ''
    if (isOff) return ''
    const each: readonly JsonValue[] = Array.isArray(value) ? value : [value!]
    let out = ''
    for (const one of each) {
      spend(STEP_COST)
      out += render(piece.of, [...scopes, one])
    }
    return out
  }

  type Section = Extract<TemplatePiece, { is: 'section' | 'inverted' }>
  const functionNamed = (name: string): ((section: Section, scopes: readonly JsonValue[]) => string) | undefined => {
    if (name === 'toJson')
      return (section, scopes) => {
        const value = read(onlyText(section), scopes)
        return value === undefined ? '' : textOfJson(value)
      }
    if (name === 'url')
      return ({ of }, scopes) =>
        encodeURIComponent(render(of, scopes).toWellFormed())
          .replace(/%20/g, '+')
          .replace(/[!'()~]/g, percentHex)
    const [, delimiter = ','] = JOIN.exec(name) ?? []
    if (!JOIN.test(name)) return undefined
    return (section, scopes) => {
      const value = read(onlyText(section), scopes)
      if (!Array.isArray(value)) return plainText(value)
      spend(STEP_COST * value.length)
      return value.map(one => plainText(one)).join(delimiter)
    }
  }

  const onlyText = ({ name, of }: Section): string => {
    const [only, other] = of
    spend(name.length)
    if (only?.is === 'text') spend(only.text.length)
    if (only?.is === 'text' && !other) return only.text.trim()
    throw faulty(`Mustache function [${name}] must contain one and only one identifier`, template)
  }

  return render(parseTemplate(template), [params])
}

const STEP_COST = 8
/** Characters that take some tenths of a millisecond. */
const CHECK_TEMPLATE_EVERY = 16_384
const JOIN = /^join(?:\s+delimiter='(.*)')?$/s

const percentHex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

const isFalse = (value: JsonValue | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0)

/** The innermost scope with the first name resolves the path. */
const lookUpValue = (path: string, scopes: readonly JsonValue[]): JsonValue | undefined => {
  if (path === '.') return scopes.at(-1)
  const [first = '', ...rest] = path.split('.')
  for (let i = scopes.length - 1; i >= 0; i--) {
    const found = memberNamed(scopes[i]!, first)
    if (found !== undefined) return rest.reduce<JsonValue | undefined>(memberNamed, found)
  }
  return undefined
}

const memberNamed = (value: JsonValue | undefined, name: string): JsonValue | undefined => {
  if (value === undefined) return undefined
  if (isJsonMap(value)) return value.get(name)
  if (!Array.isArray(value)) return undefined
  if (name === 'size') return value.length
  return /^\d{1,9}$/.test(name) ? (value as readonly JsonValue[])[Number(name)] : undefined
}

/** Text as Java writes it. A list is written as a map by index, as Elasticsearch does. */
const plainText = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value))
    return inner(new Map(value.map((one: JsonValue, i): [string, JsonValue] => [String(i), one])))
  return inner(value)
}

const inner = (value: JsonValue): string => {
  if (value === null) return 'null'
  if (value instanceof Numeral) return numberText(value.text)
  if (isJsonMap(value)) return `{${Array.from(value, ([name, one]) => `${name}=${inner(one)}`).join(', ')}}`
  if (Array.isArray(value)) return `[${value.map(inner).join(', ')}]`
  return String(value)
}

const numberText = (text: string): string => (/^-?\d+$/.test(text) ? text : javaDouble(Number(text)))

type TemplatePiece =
  | { is: 'text'; text: string }
  | { is: 'variable'; name: string; escaped: boolean }
  | { is: 'section' | 'inverted'; name: string; of: TemplatePiece[] }

const parseTemplate = (template: string): TemplatePiece[] => {
  let [open, close] = ['{{', '}}']
  const top: TemplatePiece[] = []
  const around: { name: string; pieces: TemplatePiece[] }[] = []
  let pieces = top
  let at = 0
  while (at < template.length) {
    const start = template.indexOf(open, at)
    const text = template.slice(at, start < 0 ? undefined : start)
    if (text !== '') pieces.push({ is: 'text', text })
    if (start < 0) break
    const sign = template[start + open.length] ?? ''
    const isTriple = sign === '{' && open === '{{'
    const ending = isTriple ? '}}}' : sign === '=' ? `=${close}` : close
    const from = start + open.length + (TAG_SIGNS.includes(sign) ? 1 : 0)
    const end = template.indexOf(ending, from)
    if (end < 0) throw faulty('Improperly closed variable', template)
    const name = template.slice(from, end).trim()
    at = end + ending.length
    if (sign === '!') continue
    if (sign === '=') {
      ;[open, close] = delimiters(name, template)
      continue
    }
    if (sign === '>') throw faulty(`Template ${shortenText(name)} not found: partials are not supported`, template)
    if (sign === '/') {
      const last = around.pop()
      if (last?.name !== name)
        throw faulty(
          `Mismatched start/end tags: ${shortenText(last?.name ?? 'none')} != ${shortenText(name)}`,
          template,
        )
      pieces = last.pieces
    } else if (sign === '#' || sign === '^') {
      if (around.length === DEEPEST_SECTIONS)
        throw faulty(`More than ${DEEPEST_SECTIONS} sections lie in one another`, template)
      const of: TemplatePiece[] = []
      pieces.push({ is: sign === '#' ? 'section' : 'inverted', name, of })
      around.push({ name, pieces })
      pieces = of
    } else pieces.push({ is: 'variable', name, escaped: !isTriple && sign !== '&' })
  }
  const left = around.at(-1)
  if (left) throw faulty(`Failed to close '${shortenText(left.name)}' tag`, template)
  return top
}

const TAG_SIGNS = ['{', '&', '!', '=', '>', '/', '#', '^']
const DEEPEST_SECTIONS = 50

const delimiters = (text: string, template: string): [string, string] => {
  const [open, close, ...others] = text.split(/\s+/)
  if (!open || !close || others.length > 0) throw faulty('Delimiters are two, with a space between', template)
  return [open, close]
}

const faulty = (why: string, template: string) =>
  refuse('script_exception', `${why}, in the template ${shortenText(JSON.stringify(template))}.`)
