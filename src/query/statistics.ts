import { editDistance } from '../lib/edit-distance.ts'
import type { FieldPath } from '../mapping/index.ts'
import type { QueryValue } from './ast.ts'
import type { Score, ScoredQuery } from './score.ts'
import { inNode } from './simplify.ts'

/** What scores are counted from. Of members of a nested list, elements count as documents. */
export interface Statistics {
  /** How many documents have the field. */
  documents(field: FieldPath): number
  /** How many documents have the value; undefined where that would take too long to tell. */
  frequency(field: FieldPath, value: QueryValue): number | undefined
  /** How many words a text field has on the average; of other fields how many different values. */
  averageLength(field: FieldPath): number
  /** All values of the field that pass a test; undefined where there is no list of them. */
  values(field: FieldPath, test: (value: string) => boolean): readonly string[] | undefined
}

/** What one value counts where it occurs: where nobody can tell how rare it is, 1. */
export const weightOf = (
  { field, value, boost, frequency }: Extract<Score, { by: 'term' }>,
  known: Statistics,
): number => {
  const found = frequency ?? known.frequency(field, value)
  // What no document has is never counted: in how many there is some other value may take long to tell.
  return found ? boost * inverseFrequency(known.documents(field), found) : boost
}

/**
 * Near values as the sum of each: all are as rare as the most frequent one, and count the less the further away they are. Where nobody can
 * tell which ones there are, all count 1.
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

/** All values that begin so, as the sum of each. */
export const expandBeginning = (field: FieldPath, start: string, boost: number, known: Statistics): Score => {
  const values = known.values(field, value => value.startsWith(start))
  if (values === undefined) return { by: 'same', value: boost }
  return {
    by: 'sum',
    of: values.map(value => ({ node: inNode(field, [value]), score: { by: 'term', field, value, boost } })),
  }
}

/** How rare the words of a phrase are together. */
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

/** How telling a term is that so many of so many documents have. Both are those that have the field at all. */
const inverseFrequency = (documents: number, frequency: number): number =>
  Math.fround(Math.log(1 + (Math.max(documents, frequency) - frequency + 0.5) / (frequency + 0.5)))

/**
 * `weight` is the inverse frequency times the boost; `times` how often the field has the term, `length` its number of terms and `average`
 * that of all documents. Of a keyword's terms each counts once, and its length as 1.
 */
export const bm25 = (weight: number, times: number, length: number, average: number): number => {
  const norm = K1 * (1 - B + (B * stored(length)) / average)
  return (weight * (1 + K1) * times) / (times + norm)
}

/** Lengths are stored in a byte: from 40 on the last bits of them are lost. */
export const stored = (length: number): number => {
  if (length < 40) return length
  const rest = length - 24
  const bits = 32 - Math.clz32(rest)
  return bits < 4 ? length : 24 + ((rest >>> (bits - 4)) << (bits - 4))
}

/** A number of single precision with no more digits than tell it apart, as Elasticsearch writes scores. */
export const asFloat = (value: number): number => {
  const float = Math.fround(value)
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(float.toPrecision(digits))
    if (Math.fround(short) === float) return short
  }
  return Number(float.toPrecision(9))
}
