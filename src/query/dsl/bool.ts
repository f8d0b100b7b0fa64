import { NONE } from '../ast.ts'
import { boolean, elements, type JsonNode, known } from '../json-node.ts'
import { minimumOf } from '../minimum.ts'
import { EVERY, onlyFilters, type Scored, sumOfSome } from '../score.ts'
import { and, atLeast, not } from '../simplify.ts'
import type { Clause } from './clause.ts'

export const bool: Clause = {
  doc: 'Combines clauses, each an object or a list: all of filter and must match, none of must_not, and of should at least one if there is neither filter nor must, or as many as minimum_should_match says. Without clauses it matches everything. The scores of must and should are added.',
  example: { filter: [{ term: { event: 'transfer' } }], must_not: { term: { 'blockNumber.num': 1 } } },
  lower(place, scope, inner) {
    const keys = known(place, 'an object', KEYS)
    const read = (at: JsonNode | undefined, within = scope): Scored[] =>
      at === undefined || at.value === null ? [] : elements(at).map(clause => inner(clause, within))
    const must = read(keys.must)
    const required = [...must, ...read(keys.filter).map(({ node }) => onlyFilters(node))]
    // What must not be found is neither shown nor marked.
    const forbidden = read(keys.must_not, { ...scope, innerHits: undefined, marks: undefined })
    const optional = read(keys.should)
    const spec = keys.minimum_should_match
    const clauses = required.length + forbidden.length + optional.length
    const needed = spec === undefined || spec.value === null ? 0 : minimumOf(spec, optional.length)
    const purelyNegative = forbidden.length === clauses

    if (clauses === 0) return EVERY
    if (purelyNegative && keys.adjust_pure_negative && !boolean(keys.adjust_pure_negative)) return onlyFilters(NONE)
    // With nothing else that must hold, Elasticsearch wants one of should even where the minimum is 0.
    const least = purelyNegative ? 0 : required.length === 0 ? Math.max(needed, 1) : needed
    const node = and([
      ...required.map(({ node }) => node),
      ...forbidden.map(({ node }) => not(node)),
      atLeast(
        least,
        optional.map(({ node }) => node),
      ),
    ])
    const scores = must.map(({ score }) => score)
    return { node, score: sumOfSome(scores, least, optional) }
  },
}

const KEYS = ['filter', 'must', 'must_not', 'should', 'minimum_should_match', 'adjust_pure_negative'] as const
