import { refuse } from '../../lib/errors.ts'
import { overLimit } from '../../limits/index.ts'
import { lookup } from '../../mapping/index.ts'
import { analyze as words } from '../../query/analysis.ts'
import { elements, known, scalar, string } from '../../query/json-node.ts'
import type { Call, Endpoint } from './endpoint.ts'
import { told } from './endpoint.ts'
import { kindsOf } from './indexes.ts'
import { BODY_PARAMETERS, jsonOf } from './request-body.ts'

export const analyze: Endpoint = {
  paths: ['_analyze', '{index}/_analyze'],
  methods: ['GET', 'POST'],
  doc: 'The tokens of a text, by the analyzer `standard` or `keyword`, or by that of a field.',
  limit: 'Other analyzers and custom ones, of a tokenizer and filters, are refused.',
  parameters: [...BODY_PARAMETERS, 'analyzer', 'text', 'field', 'prefer_local'],
  async handle(call) {
    const { analyzer, field, text } = known(await jsonOf(call), 'an object such as {"text": "…"}', KEYS, [])
    const name = analyzer ? string(analyzer, 'the name of an analyzer') : call.parameters.get('analyzer')
    const path = field ? string(field, 'the name of a field') : call.parameters.get('field')
    const given = call.parameters.get('text')
    const texts = text ? elements(text).map(at => scalar(at, 'a text')) : given === undefined ? [] : [given]
    if (texts.length === 0)
      throw refuse('action_request_validation_exception', 'Validation Failed: 1: text is missing;')
    const { limits } = call
    if (texts.reduce((sum, text) => sum + text.length + 1, 0) > limits.analyzed) throw overLimit('analyzed', limits)
    const split = splitterOf(name ?? (path === undefined ? 'standard' : analyzerOf(call, path)))
    // As in Elasticsearch: texts of a field stand a hundred places apart.
    const gap = path !== undefined && name === undefined && analyzerOf(call, path) === 'standard' ? 100 : 0
    let position = 0
    let before = 0
    const tokens = texts.flatMap(one => {
      const found = split(one).map(({ token, start, end, type }) => ({
        ...{ token, start_offset: before + start, end_offset: before + end, type, position: position++ },
      }))
      position += gap
      before += one.length + 1
      return found
    })
    return told({ tokens })
  },
}

const KEYS = ['analyzer', 'field', 'text'] as const

interface Token {
  token: string
  start: number
  end: number
  type: string
}

const splitterOf = (name: string): ((text: string) => Token[]) => {
  if (name === 'standard' || name === 'default') return standard
  if (name === 'keyword') return text => [{ token: text, start: 0, end: text.length, type: 'word' }]
  throw refuse(
    'illegal_argument_exception',
    `The analyzer [${name.slice(0, 80)}] is not supported. Supported are standard and keyword.`,
  )
}

const analyzerOf = (call: Call, path: string): string =>
  kindsOf(call).some(kind => lookup(kind, path)?.es === 'text') ? 'standard' : 'keyword'

/** Words stand in the text in their order. */
const standard = (text: string): Token[] => {
  const lower = Array.from(text, it => it.toLowerCase().slice(0, it.length)).join('')
  let at = 0
  return words(text).map(token => {
    const start = Math.max(at, lower.indexOf(token, at))
    at = start + token.length
    return { token, start, end: at, type: typeOf(token) }
  })
}

const TYPES: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/^\p{Script=Han}/u, '<IDEOGRAPHIC>'],
  [/^\p{Script=Hiragana}/u, '<HIRAGANA>'],
  [/^\p{Script=Katakana}/u, '<KATAKANA>'],
  [/^\p{Script=Hangul}/u, '<HANGUL>'],
  [/^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u, '<SOUTHEAST_ASIAN>'],
  [/^\p{Extended_Pictographic}/u, '<EMOJI>'],
  [/^[\p{Nd}.,_']+$/u, '<NUM>'],
]

const typeOf = (token: string): string => TYPES.find(([pattern]) => pattern.test(token))?.[1] ?? '<ALPHANUM>'
