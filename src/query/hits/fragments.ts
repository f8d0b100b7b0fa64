import { lazy } from '../../lib/caches.ts'
import type { HighlightField } from '../request.ts'
import type { TextToken } from '../text/analysis.ts'

export interface Fragments {
  marked: { text: string; score: number }[]
  unmarked: string | undefined
}

type FragmentOptions = Pick<HighlightField, 'before' | 'after' | 'fragments' | 'fragmentSize' | 'noMatchSize' | 'html'>

/** Adds the marked fragments of a text: sentences, or parts of them that end between words. */
export const fragmentsOf = (
  text: string,
  marks: readonly TextToken[],
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
  const frequency = Map.groupBy(marks, ({ word }) => word)
  const fragmentAt = fragments === 0 ? () => [0, text.length] as const : createFragmentScanner(text, fragmentSize)
  for (let next = 0; next < marks.length; ) {
    const [start, end] = fragmentAt(marks[next]!.start)
    const first = next
    while (next < marks.length && marks[next]!.start < end) next++
    const own = marks.slice(first, next)
    const score = fragmentScore([start, end], own, word => frequency.get(word)!.length, text.length)
    const shown = mark(text, fragments === 0 ? [start, end] : trimmed(text, start, end), own, options)
    found.marked.push({ text: shown, score })
  }
}

/** As Lucene scores passages: by rare words, many of them, in a short passage near the beginning. */
const fragmentScore = (
  [start, end]: readonly [number, number],
  marks: readonly TextToken[],
  frequencyOf: (word: string) => number,
  length: number,
): number => {
  let score = 0
  const norm = 1.2 * (0.25 + (0.75 * (end - start)) / PIVOT)
  for (const [word, { length: count }] of Map.groupBy(marks, ({ word }) => word)) {
    const weight = 2.2 * Math.log(1 + (1 + length / PIVOT + 0.5) / (frequencyOf(word) + 0.5))
    score += (weight * count) / (count + norm)
  }
  return score * (1 + 1 / Math.log(PIVOT + start))
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
 * a longer sentence, whole words on both sides of the place.
 */
const createFragmentScanner = (text: string, size: number): ((at: number) => readonly [number, number]) => {
  const most = size === 0 ? Number.POSITIVE_INFINITY : size
  const numbers = new Set(Array.from(text.matchAll(NUMBER_AFTER_PERIOD), ({ index }) => index))
  const sentences = boundariesOf(text, SENTENCE_BOUNDARIES()).filter(place => !numbers.has(place))
  const words = lazy(() => boundariesOf(text, WORD_BOUNDARIES()))
  let [windowStart, windowEnd, last] = [0, 0, 0]
  return at => {
    let start = last
    if (at < windowStart || at >= windowEnd) {
      const sentence = sentences.findLastIndex(place => place <= at)
      start = windowStart = sentences[sentence]!
      let next = sentence + 1
      while (next + 1 < sentences.length && sentences[next + 1]! - start <= most) next++
      windowEnd = sentences[next]!
    }
    last = windowEnd
    if (last - start > most) {
      if (at - most > start) start = Math.max(start, words().findLast(place => place < at + 1 - most) ?? 0)
      const rest = Math.max(0, most - (at + 1 - start))
      if (at + 1 + rest < windowEnd) last = Math.min(windowEnd, words().find(place => place > at + 1 + rest)!)
    }
    return [start, last]
  }
}

/** Where Java, unlike Unicode, begins no sentence. */
const NUMBER_AFTER_PERIOD = /(?<=\.\s{1,9})\d/g

const boundariesOf = (text: string, by: Intl.Segmenter): number[] => [
  ...Array.from(by.segment(text), ({ index }) => index),
  text.length,
]

const SENTENCE_BOUNDARIES = lazy(() => new Intl.Segmenter('en', { granularity: 'sentence' }))
const WORD_BOUNDARIES = lazy(() => new Intl.Segmenter('en', { granularity: 'word' }))

const trimmed = (text: string, start: number, end: number): readonly [number, number] => {
  while (start < end && text[start] === ' ') start++
  while (end > start && text[end - 1] === ' ') end--
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
