import { refuse } from '../../lib/errors.ts'
import { NONE_NODE } from '../ast.ts'
import { parseExactJson } from '../json.ts'
import { bodyNode, elements, type JsonNode, toBoolean, toText, unexpected, where } from '../json-node.ts'
import { itself, neededKey, nodeKey, optionalKey, SCHEMAS } from '../keys.ts'
import { readDouble } from '../numbers.ts'
import { best, constantScored, onlyFilters, SCORED_ALL, SCORED_NONE, type ScoredQuery, sumOfSome } from '../score.ts'
import { andNode, atLeastNode, notNode, orNode } from '../simplify.ts'
import { minimumOf } from '../text/match.ts'
import { objectClause } from './clause.ts'

const neededQuery = neededKey(itself, SCHEMAS.query)
const queries = optionalKey(itself, SCHEMAS.queries)

export const boolClause = objectClause({
  doc: 'Combines clauses, each an object or a list: all of filter and must match, none of must_not, and of should at least one if there is neither filter nor must, or as many as minimum_should_match says. Without clauses it matches everything. The scores of must and should are added.',
  example: { filter: [{ term: { event: 'transfer' } }], must_not: { term: { 'blockNumber.num': 1 } } },
  keys: {
    ...{ filter: queries, must: queries, must_not: queries, should: queries },
    ...{ minimum_should_match: nodeKey, adjust_pure_negative: nodeKey },
  },
  lower(keys, { scope, inner }) {
    const read = (at: JsonNode | undefined, within = scope): ScoredQuery[] =>
      at === undefined || at.value === null ? [] : elements(at).map(clause => inner(clause, within))
    const must = read(keys.must)
    const required = [...must, ...read(keys.filter).map(({ node }) => onlyFilters(node))]
    // Excluded documents have no inner hits and no marks.
    const forbidden = read(keys.must_not, { ...scope, innerHits: undefined, marks: undefined })
    const optional = read(keys.should)
    const spec = keys.minimum_should_match
    const clauses = required.length + forbidden.length + optional.length
    const needed = spec === undefined || spec.value === null ? 0 : minimumOf(spec, optional.length)
    const purelyNegative = forbidden.length === clauses

    if (clauses === 0) return SCORED_ALL
    if (purelyNegative && keys.adjust_pure_negative && !toBoolean(keys.adjust_pure_negative))
      return onlyFilters(NONE_NODE)
    // Without required clauses, Elasticsearch wants one should clause even if the minimum is 0.
    const least = purelyNegative ? 0 : required.length === 0 ? Math.max(needed, 1) : needed
    const nodes = optional.map(({ node }) => node)
    const node = andNode([
      ...required.map(({ node }) => node),
      ...forbidden.map(({ node }) => notNode(node)),
      atLeastNode(least, nodes),
    ])
    const scores = must.map(({ score }) => score)
    return { node, score: sumOfSome(scores, least, optional) }
  },
})

const lowering = (place: JsonNode): number => {
  const factor = readDouble(place)
  if (factor >= 0) return factor
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: [boosting] query requires 'negative_boost' to be set to be a positive value.`,
  )
}

export const boostingClause = objectClause({
  doc: 'Matches what positive matches. If negative matches too, the score is multiplied by negative_boost.',
  example: {
    positive: { match: { event: 'transfer approval' } },
    negative: { term: { event: 'approval' } },
    negative_boost: 0.5,
  },
  expected: 'an object such as {"positive": {…}, "negative": {…}, "negative_boost": 0.5}',
  keys: { positive: neededQuery, negative: neededQuery, negative_boost: neededKey(lowering, SCHEMAS.number) },
  lower({ positive, negative, negative_boost: factor }, { scope, inner }) {
    const { node, score } = inner(positive, scope)
    const { node: unwanted } = inner(negative, { ...scope, marks: undefined })
    if (score === undefined || unwanted.op === 'none') return { node, score }
    return { node, score: Object.freeze({ by: 'lowered', of: score, where: unwanted, factor }) }
  },
})

export const constantScoreClause = objectClause({
  doc: 'Matches what its filter matches, all with the same score (boost, 1 by default).',
  example: { filter: { term: { event: 'transfer' } } },
  expected: 'an object such as {"filter": {…}}',
  keys: { filter: neededQuery },
  lower: ({ filter }, { scope, inner }) => constantScored(inner(filter, scope).node),
})

export const disMaxClause = objectClause({
  doc: 'Matches what any of its queries matches. The score is the best one, plus tie_breaker times each of the others.',
  example: { queries: [{ term: { event: 'transfer' } }, { term: { event: 'approval' } }] },
  expected: 'an object such as {"queries": […]}',
  keys: { queries: neededKey(itself, SCHEMAS.queries), tie_breaker: optionalKey(readDouble, SCHEMAS.number) },
  lower({ queries, tie_breaker = 0 }, { scope, inner }) {
    const list = elements(queries)
    if (list.length === 0) throw unexpected(queries, 'a list of at least one clause')
    const parts = list.map(clause => inner(clause, scope))
    return { node: orNode(parts.map(({ node }) => node)), score: best(parts, tie_breaker) }
  },
})

export const matchAllClause = objectClause({
  doc: 'Matches everything.',
  example: {},
  expected: 'an empty object',
  keys: {},
  lower: () => SCORED_ALL,
})

export const matchNoneClause = objectClause({
  doc: 'Matches nothing.',
  example: {},
  expected: 'an empty object',
  keys: {},
  lower: () => SCORED_NONE,
})

export const wrapperClause = objectClause({
  doc: 'A clause as JSON in Base64.',
  example: { query: 'eyJ0ZXJtIjp7ImV2ZW50IjoidHJhbnNmZXIifX0=' },
  expected: 'an object with [query]',
  keys: { query: neededKey(itself, SCHEMAS.text, ', a clause in Base64') },
  lower({ query }, { scope, inner }) {
    const text = scope.budget.text(toText(query, 'a clause in Base64'), query)
    if (!BASE64.test(text))
      throw refuse('illegal_argument_exception', `${where(query)}: [wrapper] expected JSON in Base64.`)
    const { value } = bodyNode(parseExactJson(Buffer.from(text, 'base64').toString(), scope.budget.limits))
    return inner({ path: query.path, value }, scope)
  },
})

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
