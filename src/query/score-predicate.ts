import { compileNode, type Document, joinsAmong, type Relatives, readerOf } from './predicate.ts'
import type { Score, Scored, ScoreMode } from './score.ts'
import { bm25, expandBeginning, expandNear, type Statistics, weightOf, weightOfPhrase } from './statistics.ts'
import { phraseFrequency } from './text/phrase.ts'

/** Counts how well a document that matches fits. `source` is the document's, or an element of one of its lists. */
export type Scorer = (source: Record<string, unknown>, document: Document) => number

export const compileScore = (
  score: Score | undefined,
  known: Statistics,
  list?: string,
  relatives?: Relatives,
): Scorer => {
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
      const read = readerOf(field, list)
      return source => {
        const words = read(source)
        const times = words.reduce<number>((sum, word) => sum + (word === value ? 1 : 0), 0)
        return times === 0 ? 0 : bm25(weight, times, words.length, average)
      }
    }
    case 'fuzzy':
      return compileScore(expandNear(score, known), known, list, relatives)
    case 'phrase': {
      const { field, words, prefix, boost } = score
      if (words.length === 1 && prefix)
        return compileScore(expandBeginning(field, words[0]!, boost, known), known, list, relatives)
      const weight = weightOfPhrase(score, known)
      const read = readerOf(field, list)
      const average = known.averageLength(field)
      return source => {
        const found = read(source) as string[]
        const times = phraseFrequency(found, score)
        return times === 0 ? 0 : bm25(weight, times, found.length, average)
      }
    }
    case 'sum':
      return added(score.of, known, list, relatives)
    case 'best': {
      const parts = score.of.map(part => gated(part, known, list, relatives))
      const { tie } = score
      return (source, document) => {
        const scores = parts.map(part => part(source, document) ?? 0)
        const most = Math.max(...scores)
        return most + tie * (scores.reduce((sum, one) => sum + one, 0) - most)
      }
    }
    case 'lowered': {
      const of = compileScore(score.of, known, list, relatives)
      const test = compileNode(score.where, list, relatives && joinsAmong(relatives))
      return (source, document) => of(source, document) * (test(source, document) ? score.factor : 1)
    }
    case 'nested': {
      const part = gated(score.of, known, score.path, relatives)
      return (source, document) => {
        const elements = source[score.path]
        if (!Array.isArray(elements)) return 0
        return together(
          score.mode,
          elements.map(element => part(element, document)).filter(one => one !== undefined),
        )
      }
    }
    case 'child': {
      const part = gated(score.of, known, undefined, relatives)
      return (_, document) => {
        const children = relatives?.childrenOf(document, score.kind) ?? []
        const scores = children.map(child => part(child._source, child)).filter(one => one !== undefined)
        return score.boost * together(score.mode, scores)
      }
    }
    case 'parent': {
      const part = gated(score.of, known, undefined, relatives)
      return (_, document) => {
        const parent = relatives?.parentOf(document, score.kind)
        return parent === undefined ? 0 : score.boost * (part(parent._source, parent) ?? 0)
      }
    }
  }
}

/** The score of a part; undefined where it does not match. */
const gated = (
  { node, score }: Scored,
  known: Statistics,
  list: string | undefined,
  relatives: Relatives | undefined,
) => {
  const test = compileNode(node, list, relatives && joinsAmong(relatives))
  const count = compileScore(score, known, list, relatives)
  return (source: Record<string, unknown>, document: Document): number | undefined =>
    test(source, document) ? count(source, document) : undefined
}

const added = (
  of: readonly Scored[],
  known: Statistics,
  list: string | undefined,
  relatives: Relatives | undefined,
): Scorer => {
  const parts = of.map(part => gated(part, known, list, relatives))
  return (source, document) => parts.reduce((sum, part) => sum + (part(source, document) ?? 0), 0)
}

/** What the scores of several make together; of none, 0. */
export const together = (mode: ScoreMode, scores: readonly number[]): number => {
  if (scores.length === 0) return 0
  switch (mode) {
    case 'max':
      return scores.reduce((a, b) => Math.max(a, b))
    case 'min':
      return scores.reduce((a, b) => Math.min(a, b))
    default: {
      const sum = scores.reduce((a, b) => a + b)
      return mode === 'sum' ? sum : sum / scores.length
    }
  }
}
