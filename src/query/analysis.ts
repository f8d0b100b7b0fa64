/**
 * Elasticsearch's standard analysis: words by the rules of Unicode's annex 29, in lower case. Exact for ASCII, which names
 * of events and addresses are; beyond it, letters and digits of other scripts make up words, and each ideograph and Hiragana
 * letter is a word.
 */
export const analyze = (text: string): string[] => {
  if (ONE_WORD.test(text)) return text.length <= LONGEST_TOKEN ? [text.toLowerCase()] : cut(text.toLowerCase())
  return (text.match(WORD) ?? []).flatMap(word => (/[^_]/.test(word) ? cut(word.toLowerCase()) : []))
}

/** Longer words are cut into pieces. */
const LONGEST_TOKEN = 255

const cut = (word: string): string[] => {
  const pieces: string[] = []
  for (let i = 0; i < word.length; i += LONGEST_TOKEN) pieces.push(word.slice(i, i + LONGEST_TOKEN))
  return pieces
}

/** The common case, quickly: an address, or the name of an event. */
const ONE_WORD = /^[a-zA-Z0-9]+$/

/**
 * Letters, digits and underscores, joined by . and ' between two letters or two digits, by : between letters and by , and ;
 * between digits.
 */
const LETTER = String.raw`[^\P{L}\p{Ideographic}\p{Script=Hiragana}\p{Script=Thai}]`
const MARKS = String.raw`\p{M}*`
const WORD = new RegExp(
  String.raw`\p{Ideographic}${MARKS}|\p{Script=Hiragana}${MARKS}|` +
    `(?:${LETTER}${MARKS}|\\p{Nd}|_|(?<=${LETTER}${MARKS})[.':\u00b7\u2019](?=${LETTER})|(?<=\\p{Nd})[.',;\u2019](?=\\p{Nd}))+`,
  'gu',
)
