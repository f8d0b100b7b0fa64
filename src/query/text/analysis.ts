import { lazy } from '../../lib/caches.ts'

/**
 * Elasticsearch's standard analyzer: tokens by Unicode's annex 29, in lower case, without stemming
 * and stopwords.
 */
export const analyzeText = (text: string): string[] => {
  if (ONE_WORD.test(text)) return cutLongWord(text.toLowerCase())
  return (text.match(wordPattern()) ?? [])
    .filter(word => !noWord().test(word))
    .flatMap(word => cutLongWord(lowerCaseLetters(word)))
}

export interface TextToken {
  word: string
  start: number
  end: number
}

/** As `analyze`, with the places of the words. */
export const textTokens = (text: string): TextToken[] =>
  Array.from(text.matchAll(wordPattern())).flatMap(({ 0: written, index }) => {
    if (noWord().test(written)) return []
    if (written.length <= LONGEST_TOKEN)
      return [{ word: lowerCaseLetters(written), start: index, end: index + written.length }]
    return cutLongWord(written).map((piece, i) => {
      const start = index + i * LONGEST_TOKEN
      return { word: lowerCaseLetters(piece), start, end: start + piece.length }
    })
  })

/** The common case, quickly: an address, or the name of an event. */
const ONE_WORD = /^[a-zA-Z0-9]+$/

/** Longer words are cut into pieces of this many characters. */
export const LONGEST_TOKEN = 255

const cutLongWord = (word: string): string[] => {
  if (word.length <= LONGEST_TOKEN) return [word]
  const pieces: string[] = []
  for (let i = 0; i < word.length; i += LONGEST_TOKEN) pieces.push(word.slice(i, i + LONGEST_TOKEN))
  return pieces
}

/** Lower-cases each code point alone; of a lower case with two characters, keeps the first. */
const lowerCaseLetters = (word: string): string =>
  Array.from(word, it => String.fromCodePoint(it.toLowerCase().codePointAt(0)!)).join('')

const raw = String.raw
/** Marks and format characters belong to the character before them. */
const JOINING = raw`[\p{M}\p{Cf}]*`
const HAN = raw`\p{Script=Han}`
const HIRAGANA = raw`\p{Script=Hiragana}`
const KATAKANA = raw`[\p{Script=Katakana}\u30fc\uff70\u3031-\u3035\u309b\u309c]`
const SOUTHEAST_ASIAN = raw`[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`
/** Letters that make up words with their neighbours: all but those of the scripts above. */
const LETTER = raw`(?!\p{Ideographic}|${HIRAGANA}|${KATAKANA}|${SOUTHEAST_ASIAN}|\p{M})\p{Alphabetic}`
const DECIMAL_DIGIT = raw`\p{Nd}`
/** Join two letters, or two digits. */
const BETWEEN_LETTERS = raw`[.':\u00b7\u0387\u2018\u2019\u2024\u2027\ufe52\uff07\uff0e\uff1a]`
const BETWEEN_DIGITS = raw`[.',;\u037e\u2018\u2019\u2024\u2044\ufe52\uff07\uff0c\uff0e\uff1b]`
/** Underscores join anything, also themselves. */
const UNDERSCORE = raw`[\p{Pc}\u202f]`

const WORD_RUN = raw`(?:${KATAKANA}${JOINING})+|(?:${LETTER}${JOINING}|${DECIMAL_DIGIT}${JOINING}|(?<=${LETTER}${JOINING})${BETWEEN_LETTERS}${JOINING}(?=${LETTER})|(?<=${DECIMAL_DIGIT}${JOINING})${BETWEEN_DIGITS}${JOINING}(?=${DECIMAL_DIGIT}))+`
const JOINED = raw`(?:${UNDERSCORE}${JOINING})*(?:${WORD_RUN})(?:(?:${UNDERSCORE}${JOINING})+(?:${WORD_RUN}))*(?:${UNDERSCORE}${JOINING})*`
const EMOJI = raw`\p{Regional_Indicator}{2}|\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier}|\u200d\p{Extended_Pictographic})*${JOINING}`
/** Matches a run of underscores, which is no word, in one piece: the cost stays linear. */
const wordPattern = lazy(
  () =>
    new RegExp(
      raw`${HAN}${JOINING}|${HIRAGANA}${JOINING}|(?:${SOUTHEAST_ASIAN}${JOINING})+|${JOINED}|${EMOJI}|(?:${UNDERSCORE}${JOINING})+`,
      'gu',
    ),
)

const noWord = lazy(() => new RegExp(raw`^(?:${UNDERSCORE}${JOINING})+$`, 'u'))
