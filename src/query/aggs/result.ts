import { DEFAULT_LIMITS, type Limits, overLimit } from '../../limits/index.ts'
import { type JsonValue, shortenText, textOfJson } from '../json.ts'
import { javaDouble } from '../numbers.ts'
/** Results by name, in the order of the request. */
export type AggregationResults = Map<string, AggregationResult>

export type AggregationResult = Buckets | SingleBucket | Metric | TopHits

/** As JSON, numbers are doubles in Java's format (`1.0E10`), bigints integers, maps objects. */
export type ResultValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ResultValue[]
  | ReadonlyMap<string, ResultValue>
export type ResultMember = [name: string, value: ResultValue]

export interface Buckets {
  is: 'buckets'
  /** Prefix for `typed_keys`, such as `sterms`. */
  type: string
  /** Members before `buckets`, in Elasticsearch's order. */
  members: ResultMember[]
  /** Members after `buckets`. */
  after?: ResultMember[]
  /** Whether buckets are an object by name. */
  keyed: boolean
  buckets: Bucket[]
  meta?: JsonValue
}

export interface Bucket {
  /** For keyed buckets only. */
  name?: string
  /** Key members in Elasticsearch's order: `key_as_string`, `key`, `from`, `to`. */
  key: ResultMember[]
  /** The numeric key, which gives the width of histogram buckets. */
  number?: number
  docCount: number
  results: AggregationResults
}

export interface SingleBucket {
  is: 'bucket'
  type: string
  docCount: number
  results: AggregationResults
  meta?: JsonValue
}

export interface Metric {
  is: 'metric'
  type: string
  /** All members, in Elasticsearch's order. */
  body: ResultMember[]
  /**
   * Number at the rest of a path, e.g. `1.avg`; its own without one. Null: no value.
   * Undefined: no such number.
   */
  number(rest: string | undefined): number | null | undefined
  meta?: JsonValue
}

export interface TopHits {
  is: 'hits'
  type: 'top_hits'
  /** The value of `hits`, as JSON text. */
  hits: string
  meta?: JsonValue
}

/** Approximate memory of a result, without results of its buckets. */
export const bytesOfResult = (result: AggregationResult): number => {
  switch (result.is) {
    case 'buckets':
      return SOME_BYTES * (result.buckets.length + 1)
    case 'bucket':
      return SOME_BYTES
    case 'hits':
      return SOME_BYTES + 2 * result.hits.length
    case 'metric':
      return result.body.reduce((sum, [, value]) => sum + MEMBER_BYTES * valueSize(value), SOME_BYTES)
  }
}

const SOME_BYTES = 200
const MEMBER_BYTES = 60

const valueSize = (value: ResultValue): number =>
  value instanceof Map ? value.size : Array.isArray(value) ? 4 * value.length : 1

interface RenderOptions {
  /** Whether names have type prefixes, as in `sterms#name`. */
  typedKeys: boolean
  limits?: Pick<Limits, 'answer'> | undefined
  /** Throws if the search is cancelled. */
  check?: (() => void) | undefined
}
/** Renders JSON; counts each text first, which lets errors name the excess. */
export const renderResults = (
  results: AggregationResults,
  { typedKeys, limits = DEFAULT_LIMITS, check = () => {} }: RenderOptions,
): string => {
  let left = limits.answer
  let written = 0
  const spend = (length: number) => {
    left -= length
    if (left < 0) throw overLimit('answer', { ...DEFAULT_LIMITS, ...limits }, tooMuchOf(results))
    if (++written % TEXTS_PER_CHECK === 0) check()
  }

  const text = (value: string): string => {
    spend(value.length + QUOTES)
    return JSON.stringify(value)
  }

  const metas = new Map<JsonValue, string>()
  const renderMeta = (meta: JsonValue): string => {
    const known = metas.get(meta) ?? textOfJson(meta)
    metas.set(meta, known)
    spend(known.length)
    return known
  }

  const renderAll = (results: AggregationResults): string => {
    const members: string[] = []
    for (const [name, result] of results)
      members.push(`${text(typedKeys ? `${result.type}#${name}` : name)}:{${renderResult(result)}}`)
    return `{${members.join()}}`
  }

  const renderResult = (result: AggregationResult): string => {
    const members = result.meta === undefined ? [] : [`"meta":${renderMeta(result.meta)}`]
    switch (result.is) {
      case 'buckets': {
        for (const member of result.members) members.push(renderMember(member))
        const buckets = result.buckets.map(renderBucket)
        members.push(
          result.keyed
            ? `"buckets":{${buckets.map((bucket, i) => `${text(result.buckets[i]!.name!)}:${bucket}`).join()}}`
            : `"buckets":[${buckets.join()}]`,
        )
        for (const member of result.after ?? []) members.push(renderMember(member))
        break
      }
      case 'bucket':
        members.push(renderContents(result))
        break
      case 'metric':
        for (const member of result.body) members.push(renderMember(member))
        break
      case 'hits':
        spend(result.hits.length)
        members.push(`"hits":${result.hits}`)
    }
    return members.join()
  }

  const renderBucket = (bucket: Bucket): string => {
    let key = ''
    for (const member of bucket.key) key += `${renderMember(member)},`
    return `{${key}${renderContents(bucket)}}`
  }

  const renderContents = ({ docCount, results }: Pick<Bucket, 'docCount' | 'results'>): string => {
    spend(COUNT_LENGTH)
    return results.size === 0 ? `"doc_count":${docCount}` : `"doc_count":${docCount},${renderAll(results).slice(1, -1)}`
  }

  const renderMember = ([name, value]: ResultMember): string => `${text(name)}:${renderValue(value)}`

  /** Doubles are numbers and integers are bigints, since Java writes them differently. */
  const renderValue = (value: ResultValue): string => {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'object' && value !== null) return renderTree(value)
    const written =
      typeof value === 'number' ? (Number.isFinite(value) ? javaDouble(value) : `"${value}"`) : String(value)
    spend(written.length)
    return written
  }

  const renderTree = (value: readonly ResultValue[] | ReadonlyMap<string, ResultValue>): string =>
    value instanceof Map
      ? `{${Array.from(value as ReadonlyMap<string, ResultValue>, renderMember).join()}}`
      : `[${Array.from(value as readonly ResultValue[], renderValue).join()}]`

  return renderAll(results)
}
const TEXTS_PER_CHECK = 256
/** Quotes, and a colon or comma. */
const QUOTES = 3
/** Approximate braces and count of a bucket. */
const COUNT_LENGTH = 18
/** The largest part of an excessive answer. */
const tooMuchOf = (results: AggregationResults): string => {
  const found = new Map<string, { what: string; length: number; times: number }>()
  const add = (what: string, text: string) => {
    const one = found.get(`${what} ${text}`)
    if (one) one.times++
    else found.set(`${what} ${text}`, { what: `${what} [${shortenText(text)}]`, length: text.length, times: 1 })
  }
  let left = MOST_LOOKED_AT
  const look = (results: AggregationResults) => {
    for (const [name, result] of results) {
      if (--left < 0) return
      add('the aggregation name', name)
      if (result.meta !== undefined) add(`the meta of [${shortenText(name)}]`, textOfJson(result.meta))
      if (result.is === 'bucket') look(result.results)
      if (result.is !== 'buckets') continue
      for (const bucket of result.buckets) {
        if (bucket.name !== undefined) add(`of [${shortenText(name)}] the key`, bucket.name)
        for (const [member, value] of bucket.key) {
          add(`of [${shortenText(name)}] the name`, member)
          if (typeof value === 'string') add(`of [${shortenText(name)}] the key`, value)
        }
        look(bucket.results)
      }
    }
  }
  look(results)
  const [worst] = [...found.values()].sort((a, b) => b.length * b.times - a.length * a.times)
  const isWhole = left >= 0
  return worst === undefined
    ? 'The answer'
    : `The answer, in which ${worst.what} of ${worst.length} characters stands ${worst.times} times${isWhole ? '' : ' and more'},`
}
const MOST_LOOKED_AT = 50_000
