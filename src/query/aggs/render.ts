import { DEFAULT_LIMITS, type Limits, overLimit } from '../../limits/index.ts'
import { cut, type Json, textOfJson } from '../json.ts'
import { javaDouble } from '../numbers.ts'
import type { Bucket, Member, Result, Results, Value } from './result.ts'

interface RenderOptions {
  /** Each name stands behind its type, as in `sterms#name`. */
  typedKeys: boolean
  limits?: Pick<Limits, 'answer'> | undefined
  /** Called now and then: throws where it is to be given up. */
  check?: (() => void) | undefined
}

/** What `aggregations` holds, as JSON text. Each text counts before it is written: what would be too long is refused by the name that makes it so. */
export const renderResults = (
  results: Results,
  { typedKeys, limits = DEFAULT_LIMITS, check = () => {} }: RenderOptions,
): string => {
  let left = limits.answer
  let written = 0
  const spend = (length: number) => {
    left -= length
    if (left < 0) throw overLimit('answer', { ...DEFAULT_LIMITS, ...limits }, tooMuchOf(results))
    if (++written % CHECK_EVERY === 0) check()
  }

  const text = (value: string): string => {
    spend(value.length + QUOTES)
    return JSON.stringify(value)
  }

  const metas = new Map<Json, string>()
  const renderMeta = (meta: Json): string => {
    const known = metas.get(meta) ?? textOfJson(meta)
    metas.set(meta, known)
    spend(known.length)
    return known
  }

  const renderAll = (results: Results): string => {
    const members: string[] = []
    for (const [name, result] of results)
      members.push(`${text(typedKeys ? `${result.type}#${name}` : name)}:{${renderResult(result)}}`)
    return `{${members.join()}}`
  }

  const renderResult = (result: Result): string => {
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
    spend(COUNT)
    return results.size === 0 ? `"doc_count":${docCount}` : `"doc_count":${docCount},${renderAll(results).slice(1, -1)}`
  }

  const renderMember = ([name, value]: Member): string => `${text(name)}:${renderValue(value)}`

  /** A number is a double and a bigint an integer, since JSON written by Java tells them apart; a map is an object. */
  const renderValue = (value: Value): string => {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'object' && value !== null) return renderTree(value)
    const written =
      typeof value === 'number' ? (Number.isFinite(value) ? javaDouble(value) : `"${value}"`) : String(value)
    spend(written.length)
    return written
  }

  const renderTree = (value: readonly Value[] | ReadonlyMap<string, Value>): string =>
    value instanceof Map
      ? `{${Array.from(value as ReadonlyMap<string, Value>, renderMember).join()}}`
      : `[${Array.from(value as readonly Value[], renderValue).join()}]`

  return renderAll(results)
}

/** Texts that take little time together. */
const CHECK_EVERY = 256
/** Characters around a text: quotes, and a colon or comma. */
const QUOTES = 3
/** About those of the braces and the count of a bucket. */
const COUNT = 18

/** What takes most of an answer that is too long, with its place in the request. */
const tooMuchOf = (results: Results): string => {
  const found = new Map<string, { what: string; length: number; times: number }>()
  const add = (what: string, text: string) => {
    const one = found.get(`${what} ${text}`)
    if (one) one.times++
    else found.set(`${what} ${text}`, { what: `${what} [${cut(text)}]`, length: text.length, times: 1 })
  }
  let left = MOST_LOOKED_AT
  const look = (results: Results) => {
    for (const [name, result] of results) {
      if (--left < 0) return
      add('the aggregation name', name)
      if (result.meta !== undefined) add(`the meta of [${cut(name)}]`, textOfJson(result.meta))
      if (result.is === 'bucket') look(result.results)
      if (result.is !== 'buckets') continue
      for (const bucket of result.buckets) {
        if (bucket.name !== undefined) add(`of [${cut(name)}] the key`, bucket.name)
        for (const [member, value] of bucket.key) {
          add(`of [${cut(name)}] the name`, member)
          if (typeof value === 'string') add(`of [${cut(name)}] the key`, value)
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
