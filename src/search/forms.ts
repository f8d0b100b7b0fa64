import type { Searcher } from '../engine/query/execute.ts'
import { check } from '../engine/query/options.ts'
import { createByteWriter } from '../lib/bytes.ts'
import { ChainsieveError, refuse } from '../lib/errors.ts'
import { didYouMean } from '../lib/nearest.ts'
import { DEFAULT_LIMITS } from '../limits/index.ts'
import { KINDS, type Kind } from '../mapping/index.ts'
import { parseJson } from '../query/json.ts'
import { isObject, named } from '../query/json-node.ts'
import { canonicalId } from '../query/meta.ts'
import { parseSearch } from '../query/parse.ts'
import type { SearchRequest } from '../query/request.ts'
import { and, ids } from '../query/simplify.ts'
import { type AnswerOptions, answerSearch, filtered, type Reply } from './answer.ts'
import type { ScrollState } from './cursors/state.ts'
import { NATIVE } from './dialect.ts'
import type { Form, Searching } from './service.ts'

/** A search as it is asked for, but for its body, which is text here. */
export type Asked = Omit<Searching, 'body' | 'scroll'> & { index: string; scroll?: ScrollState | undefined }

/** Answers a search in the form in which it was asked for. */
export const answerForm = (
  searcher: Searcher,
  { index, entities, form, parameters, dialect, isNamed, format, scroll }: Asked,
  body: string | undefined,
  given: AnswerOptions,
): Reply => {
  // The same object, since its deadline begins anew with each part of a long answer.
  const options = Object.assign(given, { parameters, dialect, isNamed, format, scroll })
  if (!form) return answerSearch(searcher, index, entities, body, options)
  return filtered(
    FORMS[form.tell](searcher, { index, entities, body, form: form as never }, options),
    dialect ?? NATIVE,
  )
}

interface QueryAlone<F extends Form = Form> {
  index: string
  entities: string
  body: string | undefined
  form: F
}

type Answerer<F extends Form> = (searcher: Searcher, asked: QueryAlone<F>, options: AnswerOptions) => Reply

const count: Answerer<Form> = (searcher, { index, entities, body }, options) => {
  const request = { ...readQuery(body, entities, options), size: 0, trackTotal: true }
  const { total } = searcher.write(request, options, { index, out: createByteWriter(64) })
  return json(200, { count: total, _shards: SHARDS })
}

const validity: Answerer<Extract<Form, { tell: 'validity' }>> = (_, { index, entities, body, form }, options) => {
  const { total, successful, failed } = SHARDS
  const told = { _shards: { total, successful, failed } }
  try {
    readQuery(body, entities, options)
  } catch (error) {
    if (!(error instanceof ChainsieveError && error.next === 'refuse')) throw error
    return json(200, { ...told, valid: false, ...(form.why && { error: `${error.code}: ${error.message}` }) })
  }
  const explanation = body === undefined || body.trim() === '' ? '*:*' : body.trim()
  const explanations = entities.split(',').map(kind => ({ index: `${index}-${kind}`, valid: true, explanation }))
  return json(200, { ...told, valid: true, ...(form.why && { explanations }) })
}

/** A document matches where it is found among those of the query. */
const match: Answerer<Extract<Form, { tell: 'match' }>> = (searcher, { index, body, form: { kind, id } }, options) => {
  const told = { _index: `${index}-${kind}`, _type: kind, _id: id }
  const only = ids([canonicalId(id)])
  const request = readQuery(body, kind, options)
  const among = (parts: SearchRequest['parts']): number | undefined => {
    const out = createByteWriter(1024)
    const found = searcher.write({ ...request, parts, source: false, size: 1 }, options, { index, out })
    if (found.hits === 0) return undefined
    return (JSON.parse(out.view().toString()) as { _score: number })._score
  }
  if (among([{ kind, query: only }]) === undefined) return json(404, { ...told, matched: false })
  const value = among(request.parts.map(part => ({ kind, query: and([only, part.query]) })))
  const description = value === undefined ? 'no match' : 'the score of the document, without its parts'
  return json(200, {
    ...told,
    matched: value !== undefined,
    explanation: { value: value ?? 0, description, details: [] },
  })
}

const FORMS = { count, validity, match } satisfies { [T in Form['tell']]: Answerer<Extract<Form, { tell: T }>> } as {
  [T in Form['tell']]: Answerer<never>
}

/** A body that holds a query and nothing else. */
const readQuery = (body: string | undefined, entities: string, options: AnswerOptions): SearchRequest => {
  const { limits = DEFAULT_LIMITS, now = Date.now(), parameters } = options
  const given = body === undefined || body.trim() === '' ? new Map() : parseJson(body, limits)
  if (isObject(given))
    for (const name of given.keys())
      if (name !== 'query')
        throw refuse(
          'parsing_exception',
          `request does not support ${named(name)}.${didYouMean(name, ['query'])} Its body holds a [query] alone.`,
        )
  const kinds = entities.split(',') as Kind[]
  return parseSearch(
    body,
    KINDS.filter(kind => kinds.includes(kind)),
    now,
    {
      ...{ limits, parameters },
      check: () => check(options),
    },
  )
}

const SHARDS = { total: 1, successful: 1, skipped: 0, failed: 0 }

const json = (status: number, value: unknown): Reply => ({
  status,
  body: new TextEncoder().encode(JSON.stringify(value)),
})
