import { hash } from 'node:crypto'
import type { BodySearch } from './store.ts'

/**
 * Request cache: whole answers for repeated requests, such as dashboards that refresh. Any commit of the
 * writer invalidates all of them, merges included: `version` is `PRAGMA data_version`.
 */
export interface AnswerCache {
  /** Undefined on a miss; `took` is in milliseconds. */
  get(key: string, version: number, took: number): Uint8Array<ArrayBuffer> | undefined
  /** Stores the answer if the key was requested before. */
  offer(key: string, version: number, body: Uint8Array): void
}

/** Keys remembered after their first request. */
const MAX_QUESTIONS = 2_000
/** Bytes of an entry's overhead, without its answer and key. */
const ANSWER_OVERHEAD = 200
/** An answer takes at most this fraction (1/n) of the cache. */
const CACHE_PARTS = 8

/** `capacity` is in bytes. */
export const createAnswerCache = (capacity: number): AnswerCache => {
  /** The entry used last stands last. */
  const answers = new Map<string, Uint8Array>()
  const asked = new Set<string>()
  let bytes = 0
  let seen: number | undefined

  const invalidateOlder = (version: number) => {
    if (version === seen) return
    seen = version
    answers.clear()
    asked.clear()
    bytes = 0
  }
  const sizeOf = (key: string, { length }: Uint8Array) => length + key.length + ANSWER_OVERHEAD
  const remove = (key: string, rest: Uint8Array) => {
    answers.delete(key)
    bytes -= sizeOf(key, rest)
  }

  return {
    get(key, version, took) {
      invalidateOlder(version)
      const rest = answers.get(key)
      if (!rest) return undefined
      answers.delete(key)
      answers.set(key, rest)
      const head = `${TOOK_HEAD}${took}`
      const body = new Uint8Array(head.length + rest.length)
      for (let i = 0; i < head.length; i++) body[i] = head.charCodeAt(i)
      body.set(rest, head.length)
      return body
    },
    offer(key, version, body) {
      invalidateOlder(version)
      if (!asked.has(key)) {
        if (asked.size >= MAX_QUESTIONS) asked.clear()
        asked.add(key)
        return
      }
      const start = endOfTook(body)
      if (start === undefined || answers.has(key)) return
      const rest = body.slice(start)
      const size = sizeOf(key, rest)
      if (size * CACHE_PARTS > capacity) return
      bytes += size
      for (const [oldest, its] of answers) {
        if (bytes <= capacity) break
        remove(oldest, its)
      }
      answers.set(key, rest)
    },
  }
}

const TOOK_HEAD = '{"took":'
const TOOK_HEAD_BYTES = Buffer.from(TOOK_HEAD)
const COMMA_BYTE = 0x2c
/** Digits of it, at most. */
const MAX_TOOK_DIGITS = 12

/** Undefined where an answer begins otherwise: that of a cursor names the cursor. */
const endOfTook = (body: Uint8Array): number | undefined => {
  if (TOOK_HEAD_BYTES.some((byte, i) => body[i] !== byte)) return undefined
  const end = body.subarray(0, TOOK_HEAD.length + MAX_TOOK_DIGITS).indexOf(COMMA_BYTE)
  return end < 0 ? undefined : end
}

/** The key of an answer within one state of the store; undefined for a page of a scroll. */
export const keyOfSearch = (
  { entities, index, parameters, dialect, form, isNamed, format, scroll }: BodySearch & { index: string },
  text: string,
): string | undefined => {
  if (scroll !== undefined) return undefined
  const key = `${index} ${entities} ${JSON.stringify([parameters, dialect, form, isNamed, format])} ${text}`
  return key.length > MAX_PLAIN_KEY ? hash('sha256', key, 'base64') : key
}

/** Letters of a key. */
const MAX_PLAIN_KEY = 1_000
