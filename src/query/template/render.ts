import { DEFAULT_LIMITS, type Limits, overLimit } from '../../limits/index.ts'
import { javaDouble } from '../aggs/java-double.ts'
import { type Json, Numeral, textOfJson } from '../json.ts'
import { isObject } from '../json-node.ts'
import { faulty, type Piece, parseTemplate } from './parse.ts'

/**
 * Fills a mustache template as Elasticsearch 7.17 does: values are escaped for texts of JSON; `toJson`, `join` and `url` are sections of
 * its own. What it reads counts against the limit as what it makes does: a loop may read much and make nothing. `check` throws where it is to be
 * given up.
 */
export const renderTemplate = (
  template: string,
  params: Json,
  limits: Pick<Limits, 'template'> = DEFAULT_LIMITS,
  check: () => void = () => {},
): string => {
  let left = limits.template
  let unchecked = 0
  const spend = (amount: number) => {
    left -= amount
    if (left < 0) throw overLimit('template', { ...DEFAULT_LIMITS, ...limits })
    unchecked += amount
    if (unchecked < CHECK_EVERY) return
    unchecked = 0
    check()
  }
  const read = (name: string, scopes: readonly Json[]): Json | undefined => {
    spend(name.length + scopes.length)
    return lookup(name, scopes)
  }

  const render = (pieces: readonly Piece[], scopes: readonly Json[]): string => {
    let out = ''
    for (const piece of pieces) {
      spend(STEP)
      const text = renderPiece(piece, scopes)
      spend(text.length)
      out += text
    }
    return out
  }

  const renderPiece = (piece: Piece, scopes: readonly Json[]): string => {
    if (piece.is === 'text') return piece.text
    if (piece.is === 'variable') {
      const text = plain(read(piece.name, scopes))
      return piece.escaped ? JSON.stringify(text).slice(1, -1) : text
    }
    const own = piece.is === 'section' ? functionNamed(piece.name) : undefined
    if (own) return own(piece, scopes)
    const value = read(piece.name, scopes)
    const isOff = isFalse(value)
    if (piece.is === 'inverted') return isOff ? render(piece.of, scopes) : ''
    if (isOff) return ''
    const each: readonly Json[] = Array.isArray(value) ? value : [value!]
    let out = ''
    for (const one of each) {
      spend(STEP)
      out += render(piece.of, [...scopes, one])
    }
    return out
  }

  type Section = Extract<Piece, { is: 'section' | 'inverted' }>
  const functionNamed = (name: string): ((section: Section, scopes: readonly Json[]) => string) | undefined => {
    if (name === 'toJson')
      return (section, scopes) => {
        const value = read(onlyText(section), scopes)
        return value === undefined ? '' : textOfJson(value)
      }
    if (name === 'url')
      return ({ of }, scopes) =>
        encodeURIComponent(render(of, scopes).toWellFormed())
          .replace(/%20/g, '+')
          .replace(/[!'()~]/g, hex)
    const [, delimiter = ','] = JOIN.exec(name) ?? []
    if (!JOIN.test(name)) return undefined
    return (section, scopes) => {
      const value = read(onlyText(section), scopes)
      if (!Array.isArray(value)) return plain(value)
      spend(STEP * value.length)
      return value.map(one => plain(one)).join(delimiter)
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

/** What a step costs, in characters. */
const STEP = 8
/** Characters that take some tenths of a millisecond. */
const CHECK_EVERY = 16_384
const JOIN = /^join(?:\s+delimiter='(.*)')?$/s

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

const isFalse = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0)

/** The innermost scope that has the first of the names leads on. */
const lookup = (path: string, scopes: readonly Json[]): Json | undefined => {
  if (path === '.') return scopes.at(-1)
  const [first = '', ...rest] = path.split('.')
  for (let i = scopes.length - 1; i >= 0; i--) {
    const found = memberOf(scopes[i]!, first)
    if (found !== undefined) return rest.reduce<Json | undefined>(memberOf, found)
  }
  return undefined
}

const memberOf = (value: Json | undefined, name: string): Json | undefined => {
  if (value === undefined) return undefined
  if (isObject(value)) return value.get(name)
  if (!Array.isArray(value)) return undefined
  if (name === 'size') return value.length
  return /^\d{1,9}$/.test(name) ? (value as readonly Json[])[Number(name)] : undefined
}

/** As Java writes it. A list stands as the map of its places, as Elasticsearch hands it to templates. */
const plain = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return inner(new Map(value.map((one: Json, i): [string, Json] => [String(i), one])))
  return inner(value)
}

const inner = (value: Json): string => {
  if (value === null) return 'null'
  if (value instanceof Numeral) return numberText(value.text)
  if (isObject(value)) return `{${Array.from(value, ([name, one]) => `${name}=${inner(one)}`).join(', ')}}`
  if (Array.isArray(value)) return `[${value.map(inner).join(', ')}]`
  return String(value)
}

const numberText = (text: string): string => (/^-?\d+$/.test(text) ? text : javaDouble(Number(text)))
