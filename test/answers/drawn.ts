import { type FieldPath, KINDS, type Kind } from '../../src/mapping/index.ts'
import { compareValues, type QueryValue } from '../../src/query/ast.ts'
import { indexedValuesOf, type TestedDocument } from '../../src/query/predicate.ts'
import { parseLossless } from '../support/scenarios.ts'
import type { Answer, Ask } from './ask.ts'

/** What a store holds by its own answers, for requests to be drawn from. */
export type Drawn = Record<Kind, TestedDocument[]>

export const drawnFrom = (answerTo: (ask: Ask) => Answer): Drawn =>
  Object.fromEntries(
    KINDS.map(kind => {
      const { text } = answerTo({ op: 'search', entities: kind, body: '{"size":-1,"sort":"_doc"}' })
      return [kind, (parseLossless(text) as { hits: { hits: TestedDocument[] } }).hits.hits]
    }),
  ) as Drawn

/** So many of them, evenly. */
export const some = <T>(all: readonly T[], count: number): T[] =>
  all.length <= count ? [...all] : Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]!)

/** Distinct values of a field: the least, the greatest, and some in between. */
export const valuesIn = (documents: readonly TestedDocument[], field: FieldPath, count: number): QueryValue[] => {
  const distinct = [...new Set(documents.flatMap(({ _source }) => indexedValuesOf(field, _source)))].sort(compareValues)
  return distinct.length <= count ? distinct : [...some(distinct, count - 1), distinct.at(-1)!]
}
