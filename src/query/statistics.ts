import { editDistance } from '../lib/name-matching.ts'
import type { FieldPath } from '../mapping/index.ts'
import type { QueryValue } from './ast.ts'
import type { Score, ScoredQuery } from './score.ts'
import { inNode } from './simplify.ts'

/** Statistics for scores. Elements of a nested list count as documents. */
export interface Statistics {
  documents(field: FieldPath): number
  /** Documents with the value; undefined if counting would take too long. */
  frequency(field: FieldPath, value: QueryValue): number | undefined
  /** Average number of words of a text field; of other fields, of distinct values. */
  averageLength(field: FieldPath): number
  /** Values of the field that pass a test; undefined if values are not listed. */
  values(field: FieldPath, test: (value: string) => boolean): readonly string[] | undefined
}

/** Weight of a value; 1 if its frequency is unknown. */
export const weightOf = (
  { field, value, boost, frequency }: Extract<Score, { by: 'term' }>,
  known: Statistics,
): number => {
  const found = frequency ?? known.frequency(field, value)
  // A value without documents needs no document count, which may take long.
  return found ? boost * inverseFrequency(known.documents(field), found) : boost
}

/**
 * Sums near values: all are as rare as the most frequent one, and weigh less with distance.
 * All count 1 if the near values are unknown.
 */
export const expandNear = ({ field, near, boost }: Extract<Score, { by: 'fuzzy' }>, known: Statistics): Score => {
  const asked = Array.from(near.text)
  const editsOf = (value: string) =>
    editDistance(asked, Array.from(value), { most: near.edits, transpositions: near.transpositions })
  const start = asked.slice(0, near.prefix).join('')
  const values = known.values(field, value => value.startsWith(start) && editsOf(value) <= near.edits)
  if (values === undefined) return { by: 'same', value: boost }
  const frequency = values.reduce((most, value) => Math.max(most, known.frequency(field, value) ?? 0), 0)
  const of = values.map((value): ScoredQuery => {
    const shorter = Math.min(asked.length, Array.from(value).length)
    const likeness = shorter === 0 ? 1 : Math.fround(1 - editsOf(value) / shorter)
    return { node: inNode(field, [value]), score: { by: 'term', field, value, boost: boost * likeness, frequency } }
  })
  return { by: 'sum', of }
}

/** Sums the scores of all values with the prefix. */
export const expandBeginning = (field: FieldPath, start: string, boost: number, known: Statistics): Score => {
  const values = known.values(field, value => value.startsWith(start))
  if (values === undefined) return { by: 'same', value: boost }
  return {
    by: 'sum',
    of: values.map(value => ({ node: inNode(field, [value]), score: { by: 'term', field, value, boost } })),
  }
}

export const weightOfPhrase = (
  { field, words, prefix, boost }: Extract<Score, { by: 'phrase' }>,
  known: Statistics,
): number => {
  const last = prefix ? words.at(-1)! : undefined
  const whole = prefix ? words.slice(0, -1) : words
  const all = last === undefined ? whole : [...whole, ...(known.values(field, value => value.startsWith(last)) ?? [])]
  const documents = known.documents(field)
  return all.reduce(
    (weight, word) => weight + boost * inverseFrequency(documents, known.frequency(field, word) ?? documents),
    0,
  )
}

/** Okapi BM25 as Lucene 8 counts it for Elasticsearch 7.17, with its defaults. */

const K1 = 1.2
const B = 0.75

/** Inverse document frequency, among documents that have the field. */
const inverseFrequency = (documents: number, frequency: number): number =>
  Math.fround(Math.log(1 + (Math.max(documents, frequency) - frequency + 0.5) / (frequency + 0.5)))

/**
 * `weight`: inverse frequency times boost; `times`: term frequency; `length`: the field's terms;
 * `average`: mean of `length`. Each term of a keyword counts once, with length 1.
 */
export const bm25 = (weight: number, times: number, length: number, average: number): number => {
  const norm = K1 * (1 - B + (B * stored(length)) / average)
  return (weight * (1 + K1) * times) / (times + norm)
}

/** Lucene stores lengths in a byte, so long ones lose their last bits. */
export const stored = (length: number): number => {
  if (length < 40) return length
  const rest = length - 24
  const bits = 32 - Math.clz32(rest)
  return bits < 4 ? length : 24 + ((rest >>> (bits - 4)) << (bits - 4))
}

/** Shortest decimal of a single-precision number, as Elasticsearch writes scores. */
export const asFloat = (value: number): number => {
  const float = Math.fround(value)
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(float.toPrecision(digits))
    if (Math.fround(short) === float) return short
  }
  return Number(float.toPrecision(9))
}
