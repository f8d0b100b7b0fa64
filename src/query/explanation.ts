import type { Node } from './ast.ts'
import { textOfNode } from './node-text.ts'
import { asFloat, B, inverseFrequency, K1, stored } from './similarity.ts'

/** How a score comes about, as `_explanation` shows it. */
export interface Explanation {
  readonly value: number
  readonly description: string
  readonly details: readonly Explanation[]
}

export const told = (value: number, description: string, details: readonly Explanation[] = []): Explanation => ({
  value: asFloat(value),
  description,
  details,
})

/** A score that follows from those of relatives. */
export const joined = (value: number, id: string): Explanation => told(value, `A match, join value ${id}`)

/** A score that does not depend on the document. */
export const constantly = (value: number, query: Node): Explanation => {
  const text = textOfNode(query)
  const boost = value === 1 ? '' : `^${javaFloat(value)}`
  return told(value, `${isConstant(query) ? text : `ConstantScore(${text})`}${boost}`)
}

/** Queries that Lucene has no other score for: those on points, and on the shapes of texts. */
const isConstant = (query: Node): boolean =>
  query.op === 'range' ||
  query.op === 'pattern' ||
  (query.op === 'in' && query.values.length === 1 && typeof query.values[0] !== 'string')

/** What BM25 counts with. */
export interface Counted {
  boost: number
  /** Documents with the field, and of them those with each word; without, nobody can tell how rare it is. */
  documents: number
  frequencies: readonly (number | undefined)[]
  times: number
  length: number
  average: number
}

/** As Lucene 8 explains BM25. `query` is what was looked for. */
export const weighed = (query: string, score: number, counted: Counted): Explanation => {
  const { boost, documents, frequencies, times, length, average } = counted
  const parts = frequencies.map(frequency => rarity(documents, frequency))
  const [only] = parts
  const rare =
    parts.length === 1
      ? only!
      : told(
          parts.reduce((sum, { value }) => sum + value, 0),
          'idf, sum of:',
          parts,
        )
  const norm = K1 * (1 - B + (B * stored(length)) / average)
  const isPhrase = frequencies.length > 1
  return told(score, `weight(${query}) [PerFieldSimilarity], result of:`, [
    told(score, `score(freq=${javaFloat(times)}), computed as boost * idf * tf from:`, [
      told(boost * (1 + K1), 'boost'),
      rare,
      told(times / (times + norm), 'tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:', [
        told(times, isPhrase ? `phraseFreq=${javaFloat(times)}` : 'freq, occurrences of term within document'),
        told(K1, 'k1, term saturation parameter'),
        told(B, 'b, length normalization parameter'),
        told(stored(length), stored(length) === length ? 'dl, length of field' : 'dl, length of field (approximate)'),
        told(average, 'avgdl, average length of field'),
      ]),
    ]),
  ])
}

const rarity = (documents: number, frequency: number | undefined): Explanation =>
  frequency === undefined || frequency === 0
    ? told(1, 'idf, taken as 1, because the field is not indexed')
    : told(inverseFrequency(documents, frequency), 'idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:', [
        told(frequency, 'n, number of documents containing term'),
        told(Math.max(documents, frequency), 'N, total number of documents with field'),
      ])

/** As Java writes a float: with a digit behind the point at least. */
export const javaFloat = (value: number): string => {
  const float = asFloat(value)
  return Number.isInteger(float) ? `${float}.0` : `${float}`
}
