import { asBigint, readDocument } from '../../documents/show.ts'
/** What a cluster answered to an aggregation or in a bucket. All names in it are ours. */
export type Answered = Readonly<Record<string, unknown>>

/**
 * Integers that a double does not hold are bigints. What stands under a member `hits` stays text, since documents go to whoever asked as
 * they are stored.
 */
export const readAnswer = (text: string): Answered => readDocument(withTextOfHits(text), asBigint) as Answered

const withTextOfHits = (text: string): string => {
  let parts = ''
  let done = 0
  for (let at = text.indexOf(HITS); at >= 0; at = text.indexOf(HITS, done)) {
    const from = at + HITS.length
    const to = endOfObject(text, from)
    parts += `${text.slice(done, from)}${JSON.stringify(text.slice(from, to))}`
    done = to
  }
  return parts + text.slice(done)
}

/** Within a string its quotes would be escaped. */
const HITS = '"hits":'

const endOfObject = (text: string, from: number): number => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === OPEN) depth++
    else if (code === CLOSE && --depth === 0) return at + 1
  }
  throw new Error('the cluster sent hits without an end')
}

/** Where its last quote stands. */
const endOfString = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from + 1); at > 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  throw new Error('the cluster sent a text without an end')
}

const [QUOTE, OPEN, CLOSE, BACKSLASH] = [0x22, 0x7b, 0x7d, 0x5c]

/** A number, null where none is; what is not finite comes as text. */
export const numberIn = (value: unknown): number | null =>
  value === null || value === undefined ? null : typeof value === 'number' ? value : Number(value)

export const countIn = (found: Answered | undefined, name = 'doc_count'): number => numberIn(found?.[name]) ?? 0

export const objectIn = (found: Answered | undefined, name: string): Answered | undefined =>
  found?.[name] as Answered | undefined

export const listIn = (found: Answered | undefined, name: string): readonly Answered[] =>
  (found?.[name] as readonly Answered[] | undefined) ?? []
