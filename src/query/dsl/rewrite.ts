import { type JsonNode, scalar, unexpected } from '../json-node.ts'

/** How Lucene would carry out a pattern: it changes nothing about what matches, and the score is 1 in either way that is usual. */
export const checkRewrite = (place: JsonNode | undefined): void => {
  if (place === undefined || place.value === null) return
  const name = scalar(place, EXPECTED)
  if (!NAMES.includes(name)) throw unexpected(place, EXPECTED)
}

const NAMES = ['constant_score', 'constant_score_boolean', 'constant_score_auto']
const EXPECTED =
  '"constant_score", "constant_score_boolean" or "constant_score_auto": other ways to score a pattern are not supported'

/** Near values score by how near they are, unless they are to count alike. */
export const isConstantRewrite = (place: JsonNode | undefined): boolean => {
  if (place === undefined || place.value === null) return false
  const name = scalar(place, EXPECTED)
  if (/^top_terms_blended_freqs_\d{1,9}$/.test(name)) return false
  if (!NAMES.includes(name)) throw unexpected(place, `${EXPECTED}, but for "top_terms_blended_freqs_50"`)
  return true
}
