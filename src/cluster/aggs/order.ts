import type { Order } from '../../query/aggs/ast.ts'
import { pathOf } from '../../query/aggs/options.ts'
import type { Bucket, Result } from '../../query/aggs/result.ts'
import { compareValues, type Value } from '../../query/ast.ts'

/** A bucket, and the value that it is of. */
export interface Ranked {
  value: Value
  docCount: number
  results: Bucket['results']
}

/** Buckets in the order that an aggregation names: what is equal goes by its key. */
export const rankedBy = <T extends Ranked>(orders: readonly Order[], buckets: readonly T[]): T[] => {
  const byKey = (a: T, b: T) => compareValues(a.value, b.value)
  const parts = orders.map(({ by, ascending }) => {
    if (by === '_key') return ascending ? byKey : (a: T, b: T) => -byKey(a, b)
    const numbers = new Map(buckets.map(one => [one, by === '_count' ? one.docCount : numberAt(one, by)]))
    return (a: T, b: T) => compareNumbers(numbers.get(a)!, numbers.get(b)!, ascending)
  })
  if (!orders.some(({ by }) => by === '_key')) parts.push(byKey)
  return buckets.toSorted((a, b) => {
    for (const part of parts) {
      const difference = part(a, b)
      if (difference !== 0) return difference
    }
    return 0
  })
}

/** What has no number comes last in either order. */
const compareNumbers = (a: number, b: number, ascending: boolean): number => {
  const [left, right] = [Number.isNaN(a), Number.isNaN(b)]
  if (left || right) return left && right ? 0 : left ? 1 : -1
  return ascending ? a - b : b - a
}

const numberAt = ({ results }: Ranked, path: string): number => {
  const { steps, rest } = pathOf(path)
  return numberIn(results, steps, rest) ?? Number.NaN
}

const numberIn = (
  results: ReadonlyMap<string, Result>,
  [step, ...more]: readonly string[],
  rest: string | undefined,
): number | null => {
  const found = results.get(step!)
  if (found?.is === 'metric') return found.number(rest) ?? null
  if (found?.is !== 'bucket') return null
  if (more.length === 0 || (more.length === 1 && more[0] === '_count')) return found.docCount
  return numberIn(found.results, more, rest)
}
