import { lazy } from '../../lib/caches.ts'
import type { HighlightField } from '../request.ts'
import type { TextToken } from '../text/analysis.ts'

interface Fragments {
  marked: { text: string; score: number }[]
  unmarked: string | undefined
}

export interface MarkedWord extends TextToken {
  /** The word; words that a pattern finds share its number. */
  term: string | number
}

/** One value of a field. */
export interface MarkedText {
  text: string
  /** In their order in the text. */
  marks: readonly MarkedWord[]
}

type FragmentOptions = Pick<HighlightField, 'before' | 'after' | 'fragments' | 'fragmentSize' | 'noMatchSize' | 'html'>

/** The marked fragments of texts: sentences, or parts of them that end between words. */
export const fragmentsOf = (texts: readonly MarkedText[], options: FragmentOptions): Fragments => {
  const found: Fragments = { marked: [], unmarked: undefined }
  const length = texts.reduce((sum, { text }) => sum + text.length + 1, -1)
  const byTerm = Map.groupBy(
    texts.flatMap(({ marks }) => marks),
    ({ term }) => term,
  )
  const frequencyOf = (term: MarkedWord['term']) => byTerm.get(term)!.length
  let before = 0
  for (const text of texts) {
    addFragments(text, { before, length, frequencyOf }, options, found)
    before += text.text.length + 1
  }
  return found
}

interface AllValues {
  /** Characters of the values before a text, and of all values, with one between two of them. */
  before: number
  length: number
  /** Marks of a term in all values. */
  frequencyOf(term: MarkedWord['term']): number
}

const addFragments = (
  { text, marks }: MarkedText,
  { before, length, frequencyOf }: AllValues,
  options: FragmentOptions,
  found: Fragments,
): void => {
  const { fragments, fragmentSize, noMatchSize } = options
  if (marks.length === 0) {
    if (noMatchSize > 0) {
      const end = boundariesOf(text, WORD_BOUNDARIES()).find(place => place > noMatchSize)
      found.unmarked ??= encodeText(text.slice(...trimmed(text, 0, end ?? text.length)), options)
    }
    return
  }
  const fragmentAt = fragments === 0 ? () => [0, text.length] as const : createFragmentScanner(text, fragmentSize)
  for (let next = 0; next < marks.length; ) {
    const [start, end] = fragmentAt(marks[next]!.start)
    const first = next
    while (next < marks.length && marks[next]!.start < end) next++
    const own = marks.slice(first, next)
    const score = fragmentScore([before + start, before + end], own, frequencyOf, length)
    const shown = mark(text, fragments === 0 ? [start, end] : trimmed(text, start, end), own, options)
    found.marked.push({ text: shown, score })
  }
}

/** As Lucene scores passages: by rare words, many of them, in a short passage near the beginning. */
const fragmentScore = (
  [start, end]: readonly [number, number],
  marks: readonly MarkedWord[],
  frequencyOf: AllValues['frequencyOf'],
  length: number,
): number => {
  let score = 0
  const norm = 1.2 * (0.25 + (0.75 * (end - start)) / PIVOT)
  for (const [term, { length: count }] of Map.groupBy(marks, ({ term }) => term)) {
    const weight = 2.2 * Math.log(1 + (1 + length / PIVOT + 0.5) / (frequencyOf(term) + 0.5))
    score += (weight * count) / (count + norm)
  }
  return Math.fround(score * (1 + 1 / Math.log(PIVOT + start)))
}

/** Characters of an average passage. */
const PIVOT = 87

const mark = (
  text: string,
  [start, end]: readonly [number, number],
  marks: readonly TextToken[],
  options: FragmentOptions,
): string => {
  let shown = ''
  let at = start
  for (const { start: from, end: to } of marks) {
    if (to <= at) continue
    shown +=
      encodeText(text.slice(at, from), options) +
      options.before +
      encodeText(text.slice(from, to), options) +
      options.after
    at = to
  }
  return shown + encodeText(text.slice(at, Math.max(at, end)), options)
}

/**
 * The fragment around a place behind the last fragment, as Elasticsearch has it: whole sentences up to the size, or of
 * a longer sentence, whole words on both sides of the place; without a size, its sentence.
 */
const createFragmentScanner = (text: string, size: number): ((at: number) => readonly [number, number]) => {
  const numbers = new Set(Array.from(text.matchAll(NUMBER_AFTER_PERIOD), ({ index }) => index))
  const sentences = boundariesOf(text.replace(/[\n\r]/g, ' '), SENTENCE_BOUNDARIES()).filter(
    place => !numbers.has(place),
  )
  const words = lazy(() => boundariesOf(text, WORD_BOUNDARIES()))
  let [windowStart, windowEnd, last] = [0, 0, 0]
  return at => {
    let start = last
    if (at < windowStart || at >= windowEnd) {
      const sentence = sentences.findLastIndex(place => place <= at)
      start = windowStart = sentences[sentence]!
      let next = sentence + 1
      while (next + 1 < sentences.length && sentences[next + 1]! - start <= size) next++
      windowEnd = sentences[next]!
    }
    last = windowEnd
    if (size > 0 && last - start > size) {
      if (at - size > start) start = Math.max(start, words().findLast(place => place < at + 1 - size) ?? 0)
      const rest = Math.max(0, size - (at + 1 - start))
      if (at + 1 + rest < windowEnd) last = Math.min(windowEnd, words().find(place => place > at + 1 + rest)!)
    }
    return [start, last]
  }
}

/** Where Java, unlike Unicode, begins no sentence; it takes ends of lines for spaces, too. */
const NUMBER_AFTER_PERIOD = /(?<=\.\s{1,9})\d/g

const boundariesOf = (text: string, by: Intl.Segmenter): number[] => [
  ...Array.from(by.segment(text), ({ index }) => index),
  text.length,
]

const SENTENCE_BOUNDARIES = lazy(() => new Intl.Segmenter('en', { granularity: 'sentence' }))
const WORD_BOUNDARIES = lazy(() => new Intl.Segmenter('en', { granularity: 'word' }))

const trimmed = (text: string, start: number, end: number): readonly [number, number] => {
  while (start < end && text[start]! <= ' ') start++
  while (end > start && text[end - 1]! <= ' ') end--
  return [start, end]
}

const encodeText = (text: string, { html }: FragmentOptions): string =>
  html ? text.replace(/[&<>"'/]/g, it => HTML_ENTITIES.get(it)!) : text

const HTML_ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#x27;'],
  ['/', '&#x2F;'],
])
