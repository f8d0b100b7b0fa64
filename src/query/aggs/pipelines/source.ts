import { refuse } from '../../../lib/errors.ts'
import { Numeral } from '../../json.ts'
import { isObject, type JsonNode, known, members, named, string, unexpected, where } from '../../json-node.ts'

/** A script of the request, of which only a small part of the language is understood. */
export interface Source {
  text: string
  /** Numbers and truths that stand beside it; integers and doubles are told apart. */
  params: ReadonlyMap<string, number | boolean>
  /** Names of params that are written as integers. */
  integers: ReadonlySet<string>
  /** Whether variables stand in it without `params.` before. */
  isExpression: boolean
  at: JsonNode
}

/** A text, or an object with it as `source` or `inline`. */
export const readSource = (place: JsonNode): Source => {
  if (!isObject(place.value)) return { ...NOTHING, ...textOf(place) }
  const { source, inline, lang, params } = known(place, 'a script', ['source', 'inline', 'lang', 'params', 'id'], [])
  const at = source ?? inline
  if (at === undefined || (source && inline)) throw unexpected(place, 'a script with [source]')
  const language = lang === undefined ? 'painless' : string(lang, 'a language')
  if (language !== 'painless' && language !== 'expression') {
    throw refuse(
      'illegal_argument_exception',
      `${where(lang!)}: script_lang not supported ${named(language)}. Write arithmetic in painless or as an expression.`,
    )
  }
  return { ...textOf(at), ...paramsOf(params), isExpression: language === 'expression' }
}

const NOTHING = { params: new Map(), integers: new Set<string>(), isExpression: false }

const textOf = (at: JsonNode): { text: string; at: JsonNode } => {
  const text = string(at, 'a script').trim()
  if (text.length <= LONGEST) return { text, at }
  throw refuse('illegal_argument_exception', `${where(at)}: a script has at most ${LONGEST} characters here.`)
}

const LONGEST = 1000

const paramsOf = (place: JsonNode | undefined): Pick<Source, 'params' | 'integers'> => {
  const params = new Map<string, number | boolean>()
  const integers = new Set<string>()
  for (const [name, at] of place === undefined ? [] : members(place, 'params by name')) {
    const { value } = at
    if (typeof value === 'boolean') params.set(name, value)
    else if (typeof value === 'number') {
      params.set(name, value)
      integers.add(name)
    } else if (value instanceof Numeral) params.set(name, Number(value.text))
    else throw unexpected(at, 'a number, true or false')
  }
  return { params, integers }
}
