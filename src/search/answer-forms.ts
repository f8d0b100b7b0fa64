import type { StoreSearcher } from '../engine/query/searcher.ts'
import { createByteWriter } from '../lib/bytes.ts'
import { ChainsieveError, refuse } from '../lib/errors.ts'
import { didYouMean } from '../lib/name-matching.ts'
import { type Eventually, whenThere } from '../lib/scheduling/event-loop.ts'
import { DEFAULT_LIMITS, overLimit } from '../limits/index.ts'
import { NO_HIT_OPTIONS } from '../query/hits/hit-options.ts'
import { parseExactJson } from '../query/json.ts'
import { bracketName, isJsonMap } from '../query/json-node.ts'
import type { SearchRequest } from '../query/request.ts'
import { canonicalId } from '../query/scope.ts'
import { type Explanation, explanation as explained } from '../query/score.ts'
import { andNode, idsNode } from '../query/simplify.ts'
import {
  type AnswerOptions,
  answering,
  answerSearch,
  filterReply,
  jsonReply,
  type Reply,
  readSearch,
} from './answer.ts'
import type { ScrollState } from './cursors/state.ts'
import { networksIn } from './index-names.ts'
import { type AnswerForm, NATIVE_DIALECT, type SearchParams } from './service.ts'

/** A search as it is asked for, but for its body, which is text here. */
export type FormSearch = Omit<SearchParams, 'body' | 'scroll'> & { index: string; scroll?: ScrollState | undefined }

/** Answers a search in the form in which it was asked for. */
export const answerForm = answering((searcher, asked: FormSearch, body: string | undefined, given: AnswerOptions) => {
  const { index, entities, form, parameters, dialect, isNamed, format, scroll } = asked
  const read: AnswerOptions['read'] = {}
  // The same object, since its deadline restarts with each part of a long answer.
  const options = Object.assign(given, { parameters, dialect, isNamed, format, scroll, read })
  const reply = form
    ? whenThere(inForm(form)(searcher, { index, entities, body }, options), reply =>
        filterReply(reply, dialect ?? NATIVE_DIALECT, options),
      )
    : answerSearch(searcher, index, entities, body, options)
  return whenThere(reply, reply => (read.request?.readsNow ? { ...reply, readsNow: true } : reply))
})

/** Answers a search whose body is a query alone. */
type Answerer = (
  searcher: StoreSearcher,
  asked: { index: string; entities: string; body: string | undefined },
  options: AnswerOptions,
) => Eventually<Reply>

const inForm = (form: AnswerForm): Answerer => {
  switch (form.tell) {
    case 'count':
      return answerCount
    case 'validity':
      return answerValidity(form.why)
    case 'match':
      return answerMatch(form)
  }
}

const answerCount: Answerer = (searcher, { index, entities, body }, options) => {
  const request = { ...readQueryBody(body, { index, entities }, options), size: 0, trackTotal: true }
  return whenThere(searcher.write(request, options, { index, out: createByteWriter(64) }), ({ total }) =>
    jsonReply(200, { count: total, _shards: SEARCHED_SHARD }),
  )
}

const answerValidity =
  (why: boolean): Answerer =>
  (_, { index, entities, body }, options) => {
    const { limits = DEFAULT_LIMITS } = options
    const { total, successful, failed } = SEARCHED_SHARD
    const envelope = { _shards: { total, successful, failed } }
    try {
      readQueryBody(body, { index, entities }, options)
    } catch (error) {
      if (!(error instanceof ChainsieveError && error.next === 'refuse')) throw error
      return jsonReply(200, { ...envelope, valid: false, ...(why && { error: `${error.code}: ${error.message}` }) })
    }
    const explanation = body === undefined || body.trim() === '' ? '*:*' : body.trim()
    const times = networksIn(index).length * entityNames(entities).length
    if (why && explanation.length * times > limits.answer)
      throw overLimit(
        'answer',
        limits,
        `The answer, in which the query of ${explanation.length} characters stands ${times} times,`,
      )
    const explanations = networksIn(index).flatMap(one =>
      entityNames(entities).map(kind => ({ index: `${one}-${kind}`, valid: true, explanation })),
    )
    return jsonReply(200, { ...envelope, valid: true, ...(why && { explanations }) })
  }

/** A document matches where it is found among those of the query. */
const answerMatch =
  ({ kind, id, source }: Extract<AnswerForm, { tell: 'match' }>): Answerer =>
  (searcher, { index, body }, options) => {
    const envelope = { _index: `${index}-${kind}`, _type: kind, _id: id }
    const request = readQueryBody(body, { index, entities: kind }, options)
    const out = createByteWriter(1024)
    const showing = { source: source ?? false, bare: true }
    return whenThere(searcher.writeDocument(kind, id, { index, out }, showing), isThere => {
      if (!isThere) return jsonReply(404, { ...envelope, matched: false })
      const document = out.view().toString()
      out.clear()
      const only = idsNode([canonicalId(id)])
      const parts = request.parts.map(({ query, ...part }) => ({ ...part, query: andNode([only, query]) }))
      const shown = { ...NO_HIT_OPTIONS, explain: true }
      const asked = { ...request, parts, shown, source: false, size: 1 }
      return whenThere(searcher.write(asked, options, { index, out }), ({ hits }) => {
        const matched = hits > 0
        const explanation = matched
          ? (JSON.parse(out.view().toString()) as { _explanation: Explanation })._explanation
          : explained(0, 'no matching clause')
        const text = JSON.stringify({ ...envelope, matched, explanation })
        // Numbers of a document may be greater than a double holds: it stays as it is written.
        const get =
          source === undefined ? '' : `,"get":{"found":true${document === '' ? '' : `,"_source":${document}`}}`
        return { status: 200, body: new TextEncoder().encode(`${text.slice(0, -1)}${get}}`) }
      })
    })
  }

/** A body that holds a query and nothing else. */
const readQueryBody = (
  body: string | undefined,
  on: { index: string; entities: string },
  options: AnswerOptions,
): SearchRequest => {
  const { limits = DEFAULT_LIMITS } = options
  const given = body === undefined || body.trim() === '' ? new Map() : parseExactJson(body, limits)
  if (isJsonMap(given))
    for (const name of given.keys())
      if (name !== 'query')
        throw refuse(
          'parsing_exception',
          `request does not support ${bracketName(name)}.${didYouMean(name, ['query'])} Its body has only a [query].`,
        )
  return readSearch(body, on, options)
}

const entityNames = (entities: string): string[] => (entities === '' ? [] : entities.split(','))

const SEARCHED_SHARD = { total: 1, successful: 1, skipped: 0, failed: 0 }

/** The body of a search as text. */
export const searchText = (body: Uint8Array | undefined): string | undefined =>
  body && Buffer.from(body.buffer, body.byteOffset, body.length).toString()
