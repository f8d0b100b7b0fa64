import { textOfJson } from '../json-text.ts'
import { javaDouble } from './java-double.ts'
import type { Bucket, Result, Results, Value } from './result.ts'

/** What `aggregations` holds, as JSON text. `typedKeys`: each name stands behind its type, as in `sterms#name`. */
export const renderResults = (results: Results, typedKeys: boolean): string => {
  const members: string[] = []
  for (const [name, result] of results) {
    members.push(`${JSON.stringify(typedKeys ? `${result.type}#${name}` : name)}:{${renderResult(result, typedKeys)}}`)
  }
  return `{${members.join()}}`
}

const renderResult = (result: Result, typedKeys: boolean): string => {
  const members = result.meta === undefined ? [] : [`"meta":${textOfJson(result.meta)}`]
  switch (result.is) {
    case 'buckets': {
      for (const [name, value] of result.members) members.push(`${JSON.stringify(name)}:${renderValue(value)}`)
      const buckets = result.buckets.map(bucket => renderBucket(bucket, typedKeys))
      members.push(
        result.keyed
          ? `"buckets":{${buckets.map((bucket, i) => `${JSON.stringify(result.buckets[i]!.name)}:${bucket}`).join()}}`
          : `"buckets":[${buckets.join()}]`,
      )
      for (const [name, value] of result.after ?? []) members.push(`${JSON.stringify(name)}:${renderValue(value)}`)
      break
    }
    case 'bucket':
      members.push(renderContents(result, typedKeys))
      break
    case 'metric':
      for (const [name, value] of result.body) members.push(`${JSON.stringify(name)}:${renderValue(value)}`)
      break
    case 'hits':
      members.push(`"hits":${result.hits}`)
  }
  return members.join()
}

const renderBucket = (bucket: Bucket, typedKeys: boolean): string => {
  let key = ''
  for (const [name, value] of bucket.key) key += `${JSON.stringify(name)}:${renderValue(value)},`
  return `{${key}${renderContents(bucket, typedKeys)}}`
}

const renderContents = ({ docCount, results }: Pick<Bucket, 'docCount' | 'results'>, typedKeys: boolean): string =>
  results.size === 0
    ? `"doc_count":${docCount}`
    : `"doc_count":${docCount},${renderResults(results, typedKeys).slice(1, -1)}`

/** A number is a double and a bigint an integer, since JSON written by Java tells them apart; a map is an object. */
const renderValue = (value: Value): string => {
  if (typeof value === 'number') return Number.isFinite(value) ? javaDouble(value) : `"${value}"`
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'object' && value !== null) return renderTree(value, renderValue)
  return JSON.stringify(value)
}

const renderTree = <T>(value: readonly T[] | ReadonlyMap<string, T>, renderInner: (value: T) => string): string => {
  if (!(value instanceof Map)) return `[${Array.from(value as readonly T[], renderInner).join()}]`
  const members: string[] = []
  for (const [name, inner] of value) members.push(`${JSON.stringify(name)}:${renderInner(inner)}`)
  return `{${members.join()}}`
}
