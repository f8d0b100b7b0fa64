import { DEFAULT_LIMITS, type Limits, overLimit } from '../../limits/index.ts'
import { type JsonValue, shortenText, textOfJson } from '../json.ts'
import { javaDouble } from '../numbers.ts'
/** What aggregations found, before it is written as JSON: by the names of the request, in its order. */
export type AggregationResults = Map<string, AggregationResult>

export type AggregationResult = Buckets | SingleBucket | Metric | TopHits

/**
 * What members hold (`[name, value]`): a number is a double, written as Java does (`1.0`, `1.0E10`); a bigint is an integer of any
 * size; a `Map` is an object. Lists, texts, booleans and null are themselves.
 */
export type ResultValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ResultValue[]
  | ReadonlyMap<string, ResultValue>
export type ResultMember = [name: string, value: ResultValue]

/** Of aggregations with several buckets: terms, histograms, ranges, filters, composite. */
export interface Buckets {
  is: 'buckets'
  /** What `typed_keys` puts before the name: `sterms`. */
  type: string
  /** Members beside `buckets`, in the order in which Elasticsearch writes them. */
  members: ResultMember[]
  /** Members behind them. */
  after?: ResultMember[]
  /** Whether the buckets are written as an object, by their names. */
  keyed: boolean
  buckets: Bucket[]
  meta?: JsonValue
}

export interface Bucket {
  /** Only of keyed ones. */
  name?: string
  /** Members that say which bucket it is, in Elasticsearch's order: `key_as_string`, `key`, `from`, `to`. */
  key: ResultMember[]
  /** The key as a number, where it is one: the width of a bucket follows from two neighbours. */
  number?: number
  docCount: number
  results: AggregationResults
}

/** Of filter, missing, global, nested, reverse_nested. */
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
   * The number that a path such as `1`, `1.avg` or `1[95.0]` names; `undefined` as the path's rest stands for the aggregation's own
   * value. Null where there is none, undefined where the metric has no such number.
   */
  number(rest: string | undefined): number | null | undefined
  meta?: JsonValue
}

export interface TopHits {
  is: 'hits'
  type: 'top_hits'
  /** What stands under `hits`, as JSON text. */
  hits: string
  meta?: JsonValue
}

/** About the memory that a result takes until it is written, without the buckets inside of its own. */
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
  /** Each name stands behind its type, as in `sterms#name`. */
  typedKeys: boolean
  limits?: Pick<Limits, 'answer'> | undefined
  /** Called now and then: throws where it is to be given up. */
  check?: (() => void) | undefined
}
/** What `aggregations` holds, as JSON text. Each text counts before it is written: what would be too long is refused by the name that makes it so. */
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

  /** A number is a double and a bigint an integer, since JSON written by Java tells them apart; a map is an object. */
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
/** Texts that take little time together. */
const TEXTS_PER_CHECK = 256
/** Characters around a text: quotes, and a colon or comma. */
const QUOTES = 3
/** About those of the braces and the count of a bucket. */
const COUNT_LENGTH = 18
/** What takes most of an answer that is too long, with its place in the request. */
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
/** Results that are looked at for an error. */
const MOST_LOOKED_AT = 50_000
