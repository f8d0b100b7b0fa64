/** Okapi BM25 as Lucene 8 counts it for Elasticsearch 7.17, with its defaults. */

export const K1 = 1.2
export const B = 0.75

/** How telling a term is that so many of so many documents have. Both are those that have the field at all. */
export const inverseFrequency = (documents: number, frequency: number): number =>
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
