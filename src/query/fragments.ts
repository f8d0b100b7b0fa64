import type { Token } from './analysis.ts'
import type { HighlightField } from './request.ts'

/** Fragments of the values of a field. */
export interface Fragments {
  marked: { text: string; marks: number }[]
  /** The beginning of the first value, where nothing is marked. */
  unmarked: string | undefined
}

type Options = Pick<HighlightField, 'before' | 'after' | 'fragments' | 'fragmentSize' | 'noMatchSize' | 'html'>

/** Adds the fragments of a text that have marks: whole sentences, or parts of them that end between two words. */
export const fragmentsOf = (text: string, marks: readonly Token[], options: Options, found: Fragments): void => {
  const { fragments, fragmentSize, noMatchSize } = options
  if (marks.length === 0) {
    if (noMatchSize > 0) found.unmarked ??= encode(text.slice(0, endOfWord(text, noMatchSize)), options)
    return
  }
  let next = 0
  for (const [start, end] of fragments === 0 ? [[0, text.length] as const] : partsOf(text, fragmentSize)) {
    const own: Token[] = []
    while (next < marks.length && marks[next]!.start < end) own.push(marks[next++]!)
    if (own.length === 0) continue
    found.marked.push({
      text: mark(text, fragments === 0 ? [start, end] : trimmed(text, start, end), own, options),
      marks: own.length,
    })
  }
}

const mark = (
  text: string,
  [start, end]: readonly [number, number],
  marks: readonly Token[],
  options: Options,
): string => {
  let shown = ''
  let at = start
  for (const { start: from, end: to } of marks) {
    shown +=
      encode(text.slice(at, from), options) + options.before + encode(text.slice(from, to), options) + options.after
    at = to
  }
  return shown + encode(text.slice(at, Math.max(at, end)), options)
}

/** Sentences, those that are too long in parts, which end with the word that reaches that length. */
function* partsOf(text: string, size: number): Generator<readonly [number, number]> {
  const most = size === 0 ? Number.POSITIVE_INFINITY : size
  let start = 0
  for (const { index } of text.matchAll(SENTENCE_END)) {
    yield* cut(text, start, index + 1, most)
    start = index + 1
  }
  yield* cut(text, start, text.length, most)
}

const SENTENCE_END = /[.!?](?=\s)|\n/g

function* cut(text: string, start: number, end: number, most: number): Generator<readonly [number, number]> {
  let at = start
  while (at < end) {
    while (text[at] === ' ' && at < end) at++
    const to = Math.min(endOfWord(text, at + most), end)
    yield [at, to]
    at = to
  }
}

/** Where the word ends that a place lies in. */
const endOfWord = (text: string, at: number): number => {
  const space = text.indexOf(' ', Math.max(0, at))
  return at >= text.length || space < 0 ? text.length : space
}

const trimmed = (text: string, start: number, end: number): readonly [number, number] => {
  while (start < end && text[start] === ' ') start++
  while (end > start && text[end - 1] === ' ') end--
  return [start, end]
}

const encode = (text: string, { html }: Options): string =>
  html ? text.replace(/[&<>"'/]/g, it => ENTITIES.get(it)!) : text

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#x27;'],
  ['/', '&#x2F;'],
])
