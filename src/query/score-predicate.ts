import { compileNodeTest, joinsAmong, type Relatives, type TestedDocument, valueReaderOf } from './predicate.ts'
import type { Score, ScoredQuery, ScoreMode } from './score.ts'
import { bm25, expandBeginning, expandNear, type Statistics, weightOf, weightOfPhrase } from './statistics.ts'
import { phraseFrequency } from './text/phrase.ts'

/** Scores a matching document; `source` is its own, or an element of one of its lists. */
export type DocumentScorer = (source: Record<string, unknown>, document: TestedDocument) => number

export const compileDocumentScore = (
  score: Score | undefined,
  known: Statistics,
  list?: string,
  relatives?: Relatives,
): DocumentScorer => {
  const compileInner = (inner: Score | undefined) => compileDocumentScore(inner, known, list, relatives)
  const join = relatives && joinsAmong(relatives)
  const gated = ({ node, score }: ScoredQuery, path: string | undefined) => {
    const test = compileNodeTest(node, path, join)
    const count = compileDocumentScore(score, known, path, relatives)
    return (source: Record<string, unknown>, document: TestedDocument): number | undefined =>
      test(source, document) ? count(source, document) : undefined
  }
  switch (score?.by) {
    case undefined:
      return () => 0
    case 'same': {
      const { value } = score
      return () => value
    }
    case 'term': {
      const weight = weightOf(score, known)
      const { field, value } = score
      const average = known.averageLength(field)
      if (field.compare !== 'token') {
        const score = bm25(weight, 1, 1, average)
        return () => score
      }
      const read = valueReaderOf(field, list)
      return source => {
        const words = read(source)
        const times = words.filter(word => word === value).length
        return times === 0 ? 0 : bm25(weight, times, words.length, average)
      }
    }
    case 'fuzzy':
      return compileInner(expandNear(score, known))
    case 'phrase': {
      const { field, words, prefix, boost } = score
      if (words.length === 1 && prefix) return compileInner(expandBeginning(field, words[0]!, boost, known))
      const weight = weightOfPhrase(score, known)
      const read = valueReaderOf(field, list)
      const average = known.averageLength(field)
      return source => {
        const found = read(source) as string[]
        const times = phraseFrequency(found, score)
        return times === 0 ? 0 : bm25(weight, times, found.length, average)
      }
    }
    case 'sum': {
      const parts = score.of.map(part => gated(part, list))
      return (source, document) => parts.reduce((sum, part) => sum + (part(source, document) ?? 0), 0)
    }
    case 'best': {
      const parts = score.of.map(part => gated(part, list))
      const { tie } = score
      return (source, document) => {
        const scores = parts.map(part => part(source, document) ?? 0)
        const most = Math.max(...scores)
        return most + tie * (scores.reduce((sum, one) => sum + one, 0) - most)
      }
    }
    case 'lowered': {
      const of = compileInner(score.of)
      const test = compileNodeTest(score.where, list, join)
      return (source, document) => of(source, document) * (test(source, document) ? score.factor : 1)
    }
    case 'nested': {
      const part = gated(score.of, score.path)
      return (source, document) => {
        const elements = source[score.path]
        if (!Array.isArray(elements)) return 0
        const scores = elements.map(element => part(element, document)).filter(one => one !== undefined)
        return together(score.mode, scores)
      }
    }
    case 'child': {
      const part = gated(score.of, undefined)
      return (_, document) => {
        const children = relatives?.childrenOf(document, score.kind) ?? []
        const scores = children.map(child => part(child._source, child)).filter(one => one !== undefined)
        return score.boost * together(score.mode, scores)
      }
    }
    case 'parent': {
      const part = gated(score.of, undefined)
      return (_, document) => {
        const parent = relatives?.parentOf(document, score.kind)
        return parent === undefined ? 0 : score.boost * (part(parent._source, parent) ?? 0)
      }
    }
  }
}

/** Combines the scores of several elements or relatives; of none it is 0. */
export const together = (mode: ScoreMode, scores: readonly number[]): number => {
  if (scores.length === 0) return 0
  if (mode === 'max' || mode === 'min') return scores.reduce((a, b) => Math[mode](a, b))
  const sum = scores.reduce((a, b) => a + b)
  return mode === 'sum' ? sum : sum / scores.length
}
