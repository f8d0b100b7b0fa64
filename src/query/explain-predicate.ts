import { constantly, type Explanation, javaFloat, joined, told, weighed } from './explanation.ts'
import { phraseText, termText, textOfNode } from './node-text.ts'
import { phraseFrequency } from './phrase.ts'
import { type CompileJoin, compileNode, type Document, readerOf } from './predicate.ts'
import type { RelativeScore, Score, Scored } from './score.ts'
import { together } from './score-predicate.ts'
import { bm25 } from './similarity.ts'
import { type Statistics, weightOf, weightOfPhrase } from './statistics.ts'

type Source = Record<string, unknown>

/** How the score of a document that matches comes about. `source` is the document's, or an element of one of its lists. */
export type Explainer = (source: Source, document: Document) => Explanation

/** What scores are counted from. */
export interface Explaining extends Statistics {
  /** Where conditions on relatives, and their scores, are to be explained. */
  relatives?: {
    join: CompileJoin
    scoreOf(score: RelativeScore): (document: Document) => number
  }
}

/** Near values and beginnings are spelt out already. */
export const compileExplanation = ({ node, score }: Scored, known: Explaining, list?: string): Explainer => {
  switch (score?.by) {
    case 'term':
      return ofTerm(score, known, list)
    case 'phrase':
      return ofPhrase(score, known, list)
    case 'sum': {
      const parts = score.of.map(part => gated(part, known, list))
      return (source, document) => {
        const details = parts.flatMap(part => part(source, document) ?? [])
        return sumOf(details)
      }
    }
    case 'best': {
      const { tie } = score
      const parts = score.of.map(part => gated(part, known, list))
      return (source, document) =>
        bestOf(
          parts.flatMap(part => part(source, document) ?? []),
          tie,
        )
    }
    case 'lowered': {
      const of = compileExplanation({ node, score: score.of }, known, list)
      const isLowered = compileNode(score.where, list, known.relatives?.join)
      return (source, document) => {
        const full = of(source, document)
        return isLowered(source, document) ? loweredTo(full, score) : full
      }
    }
    case 'nested':
      return ofElements(score, known)
    case 'same': {
      const one = constantly(score.value, node)
      return () => one
    }
    case 'child':
    case 'parent': {
      const scoreOf = known.relatives?.scoreOf(score)
      if (scoreOf) return (_, document) => joined(scoreOf(document), document._id)
      return () => constantly(0, node)
    }
    default:
      return () => constantly(0, node)
  }
}

const gated = (part: Scored, known: Explaining, list: string | undefined) => {
  const test = compileNode(part.node, list, known.relatives?.join)
  const explain = compileExplanation(part, known, list)
  return (source: Source, document: Document): Explanation | undefined =>
    test(source, document) ? explain(source, document) : undefined
}

export const sumOf = (details: Explanation[]): Explanation =>
  told(
    details.reduce((sum, { value }) => sum + value, 0),
    'sum of:',
    details,
  )

export const bestOf = (details: readonly Explanation[], tie: number): Explanation => {
  const most = Math.max(0, ...details.map(({ value }) => value))
  const all = details.reduce((sum, { value }) => sum + value, 0)
  return told(most + tie * (all - most), tie === 0 ? 'max of:' : `max plus ${javaFloat(tie)} times others of:`, details)
}

export const loweredTo = (full: Explanation, { where, factor }: Extract<Score, { by: 'lowered' }>): Explanation =>
  told(full.value * factor, 'product of:', [full, told(factor, `Matched boosting query score(${textOfNode(where)})`)])

const ofTerm = (score: Extract<Score, { by: 'term' }>, known: Statistics, list: string | undefined): Explainer => {
  const { field, value, boost } = score
  const frequency = score.frequency ?? known.frequency(field, value)
  const average = known.averageLength(field)
  const weight = weightOf(score, known)
  const read = readerOf(field, list)
  return source => {
    const words = field.compare === 'token' ? read(source) : [value]
    const times = words.filter(word => word === value).length
    return weighed(`${termText(field, value)}`, bm25(weight, times, words.length, average), {
      ...{ boost, frequencies: [frequency], times, length: words.length, average },
      documents: frequency ? known.documents(field) : 0,
    })
  }
}

const ofPhrase = (score: Extract<Score, { by: 'phrase' }>, known: Statistics, list: string | undefined): Explainer => {
  const { field, words, prefix, boost } = score
  const weight = weightOfPhrase(score, known)
  const last = words.at(-1)!
  const asked = prefix
    ? [...words.slice(0, -1), ...(known.values(field, value => value.startsWith(last)) ?? [])]
    : words
  const documents = known.documents(field)
  const frequencies = asked.map(word => known.frequency(field, word) ?? documents)
  const average = known.averageLength(field)
  const read = readerOf(field, list)
  return source => {
    const found = read(source) as string[]
    const times = phraseFrequency(found, score)
    return weighed(phraseText(score), bm25(weight, times, found.length, average), {
      ...{ boost, documents, frequencies, times, length: found.length, average },
    })
  }
}

/** As Lucene, which shows the best element. */
const ofElements = ({ path, mode, of }: Extract<Score, { by: 'nested' }>, known: Explaining): Explainer => {
  const part = gated(of, known, path)
  return (source, document) => {
    const elements = source[path]
    const list: Source[] = Array.isArray(elements) ? elements : []
    const found = list.flatMap(element => part(element, document) ?? [])
    const best = found.reduce<Explanation | undefined>((a, b) => (a && a.value >= b.value ? a : b), undefined)
    const value = together(
      mode,
      found.map(({ value }) => value),
    )
    const text = `Score based on ${found.length} child docs in range from 0 to ${list.length - 1}, best match:`
    return told(value, text, best ? [best] : [])
  }
}
