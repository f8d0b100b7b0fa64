import { CLOSE, CLOSE_LIST, COMMA, OPEN, OPEN_LIST, QUOTE } from '../../engine/forms/json.ts'
import type { Explanation } from '../../query/score.ts'

/** A search answer, read without parsing documents. The cluster writes JSON without spaces. */
export interface ScannedAnswer {
  /** Undefined if not counted. */
  total: number | undefined
  maxScore: number | null
  hits: ScannedHit[]
  /** JSON text. */
  aggregations: string | undefined
}

export interface ScannedHit {
  id: string
  score: number | null
  /** Explanation of the score, if requested. */
  explanation?: Explanation
  /** A JSON list. */
  sort: Buffer | undefined
  /** JSON, with our metadata as the last member. */
  source: Buffer
  /** Offset in `source` of the value of the last member. */
  last: number
}

export const scanAnswer = (bytes: Buffer): ScannedAnswer => {
  const found: ScannedAnswer = {
    ...{ total: undefined, maxScore: null, hits: [], aggregations: undefined },
  }
  eachMember(bytes, 0, (from, name) => {
    if (isName(bytes, name, from, 'hits')) return scanHits(bytes, from, found)
    const to = endOfValue(bytes, from)
    if (isName(bytes, name, from, 'aggregations')) found.aggregations = bytes.toString('utf8', from, to)
    return to
  })
  return found
}

/** `bytes` is a list of hits. */
export const scanList = (bytes: Buffer): ScannedHit[] => {
  const hits: ScannedHit[] = []
  eachElement(bytes, 0, start => scanHit(bytes, start, hits))
  return hits
}

const scanHits = (bytes: Buffer, at: number, found: ScannedAnswer): number =>
  eachMember(bytes, at, (from, name) => {
    if (isName(bytes, name, from, 'hits')) return eachElement(bytes, from, start => scanHit(bytes, start, found.hits))
    const to = endOfValue(bytes, from)
    if (isName(bytes, name, from, 'total')) found.total = (parseSlice(bytes, from, to) as { value: number }).value
    else if (isName(bytes, name, from, 'max_score')) found.maxScore = parseSlice(bytes, from, to) as number | null
    return to
  })

const scanHit = (bytes: Buffer, at: number, hits: ScannedHit[]): number => {
  const hit: ScannedHit = { id: '', score: null, sort: undefined, source: NO_BYTES, last: 0 }
  const end = eachMember(bytes, at, (from, name) => {
    if (isName(bytes, name, from, '_source')) {
      const to = eachMember(bytes, from, start => {
        hit.last = start - from
        return endOfValue(bytes, start)
      })
      hit.source = bytes.subarray(from, to)
      return to
    }
    const to = endOfValue(bytes, from)
    if (isName(bytes, name, from, '_id')) hit.id = parseSlice(bytes, from, to) as string
    else if (isName(bytes, name, from, '_score')) hit.score = parseSlice(bytes, from, to) as number | null
    else if (isName(bytes, name, from, '_explanation')) hit.explanation = parseSlice(bytes, from, to) as Explanation
    else if (isName(bytes, name, from, 'sort')) hit.sort = bytes.subarray(from, to)
    return to
  })
  hits.push(hit)
  return end
}

const NO_BYTES = Buffer.alloc(0)

const parseSlice = (bytes: Buffer, from: number, to: number): unknown => JSON.parse(bytes.toString('utf8', from, to))

/** Whether a member has that name. `at`: start of its name, `value`: start of its value. */
const isName = (bytes: Buffer, at: number, value: number, name: string): boolean => {
  if (value - at !== name.length + BETWEEN) return false
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name.charCodeAt(i)) return false
  return true
}

/** Length of the quote and colon between a name and its value. */
const BETWEEN = 2

export const nameAt = (bytes: Buffer, at: number, value: number): string => bytes.toString('utf8', at, value - BETWEEN)

/**
 * Iterates over members of the object at `at`; returns its end. `take` gets the offsets of a value
 * and its name, and returns the value's end.
 */
export const eachMember = (bytes: Buffer, at: number, take: (from: number, name: number) => number): number => {
  if (bytes[at] !== OPEN) throw noAnswer(bytes, at)
  if (bytes[at + 1] === CLOSE) return at + 2
  for (let next = at + 1; ; next++) {
    const end = endOfJsonString(bytes, next)
    next = take(end + 1, next + 1)
    const code = bytes[next]
    if (code === CLOSE) return next + 1
    if (code !== COMMA) throw noAnswer(bytes, next)
  }
}

const eachElement = (bytes: Buffer, at: number, take: (from: number) => number): number => {
  if (bytes[at] !== OPEN_LIST) throw noAnswer(bytes, at)
  if (bytes[at + 1] === CLOSE_LIST) return at + 2
  for (let next = at + 1; ; next++) {
    next = take(next)
    const code = bytes[next]
    if (code === CLOSE_LIST) return next + 1
    if (code !== COMMA) throw noAnswer(bytes, next)
  }
}

export const endOfValue = (bytes: Buffer, at: number): number => {
  if (bytes[at] === QUOTE) return endOfJsonString(bytes, at)
  let depth = 0
  for (let next = at; next < bytes.length; next++) {
    const code = bytes[next]
    if (code === QUOTE) next = endOfJsonString(bytes, next) - 1
    else if (code === OPEN || code === OPEN_LIST) depth++
    else if (code === CLOSE || code === CLOSE_LIST) {
      // End of the enclosing object or list.
      if (depth === 0) return next
      if (--depth === 0) return next + 1
    } else if (code === COMMA && depth === 0) return next
  }
  throw noAnswer(bytes, bytes.length)
}

const endOfJsonString = (bytes: Buffer, at: number): number => {
  if (bytes[at] !== QUOTE) throw noAnswer(bytes, at)
  for (let next = at + 1; next < bytes.length; next++) {
    const code = bytes[next]
    if (code === QUOTE) return next + 1
    if (code === BACKSLASH) next++
  }
  throw noAnswer(bytes, bytes.length)
}

const noAnswer = (bytes: Buffer, at: number) =>
  new Error(
    `the cluster sent what is not an answer to a search, at ${at}: ${bytes.toString('utf8', Math.max(0, at - 40), at + 40)}`,
  )

const BACKSLASH = '\\'.charCodeAt(0)
