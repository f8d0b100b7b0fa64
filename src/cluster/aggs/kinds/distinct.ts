import type { Values } from '../../../query/aggs/ast.ts'
import type { Totals } from '../../../query/aggs/metrics/moments.ts'
import { type Answered, countIn, listIn, numberIn } from '../answer.ts'
import { inMilliseconds, sourceOf } from '../fields.ts'
import type { Asking, Reading } from '../kind.ts'
import { askMore, type KnownMost, mostOf, refuseMore } from '../most.ts'

/** Different values, each with how many documents have it. */
export interface Distinct {
  size: number
  keys: readonly unknown[]
  counts: readonly number[]
}

/** Where one answer cannot hold all values, they are asked for in so many parts, one after the other. */
interface KnownParts extends KnownMost {
  parts: number
  at: number
  /** What was found, by bucket above and part. */
  found: Map<string, Distinct[]>
}

const PARTS = [4, 24] as const

const partsIn = (known: unknown): KnownParts | undefined =>
  known !== undefined && 'parts' in (known as object) ? (known as KnownParts) : undefined

/** What the cluster would estimate is told exactly by all values. */
export const askDistinct = (values: Values, asking: Pick<Asking, 'known' | 'most'>): object => {
  const most = mostOf(asking)
  const { parts, at } = partsIn(asking.known) ?? {}
  const source = { ...sourceOf(values), ...inMilliseconds(values) }
  const include = parts !== undefined && { include: { partition: at, num_partitions: parts } }
  return { terms: { ...source, ...include, size: most, shard_size: most, order: { _key: 'asc' } } }
}

/** `keeps`: whether it matters which ones they are. `tooMany` is called where they are more than can be asked for. */
export const distinctIn = (
  found: Answered | undefined,
  reading: Reading,
  { keeps = true, tooMany = () => refuseMore(reading) }: { keeps?: boolean; tooMany?: () => void } = {},
): Distinct => {
  if (!found) return NONE
  const { known, most, owner, again, learnt } = reading
  const before = partsIn(known)
  if (countIn(found, 'sum_other_doc_count') > 0) {
    const parts = PARTS.find(parts => parts > (before?.parts ?? 0))
    if (mostOf(reading) < most.many) askMore(reading)
    else if (parts === undefined) tooMany()
    else again({ most: most.many, parts, at: 0, found: new Map() } satisfies KnownParts)
    return NONE
  }
  const buckets = listIn(found, 'buckets')
  const part: Distinct = {
    size: buckets.length,
    keys: keeps ? buckets.map(({ key }) => key) : [],
    counts: keeps ? buckets.map(bucket => countIn(bucket)) : [],
  }
  if (!before) return part
  const { parts, at } = before
  const all = before.found.get(owner) ?? []
  all[at] = part
  before.found.set(owner, all)
  if (at + 1 === parts) return joined(all)
  learnt((): KnownParts => ({ ...before, at: at + 1 }))
  again()
  return NONE
}

const NONE: Distinct = { size: 0, keys: [], counts: [] }

const joined = (parts: readonly (Distinct | undefined)[]): Distinct => {
  const there = parts.filter(part => part !== undefined)
  return {
    size: there.reduce((sum, { size }) => sum + size, 0),
    keys: there.flatMap(({ keys }) => keys),
    counts: there.flatMap(({ counts }) => counts),
  }
}

/** The numbers, and how many there are of each. */
export const numbersIn = ({ keys, counts }: Distinct) => ({
  values: Float64Array.from(keys, key => numberIn(key)!),
  counts: Float64Array.from(counts),
})

/** Whether documents may have a number twice, which the store counts once. */
export const mayRepeat = ({ fields }: Values): boolean =>
  Object.values(fields).some(({ kind, es, list }) => kind === 'integers' || (list && !list.nested && es !== 'keyword'))

export const totalsOf = ({ values, counts }: ReturnType<typeof numbersIn>): Totals => {
  const totals = { count: 0, sum: 0, sumOfSquares: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
  for (const [i, value] of values.entries()) {
    totals.count += counts[i]!
    totals.sum += counts[i]! * value
    totals.sumOfSquares += counts[i]! * value * value
    totals.min = Math.min(totals.min, value)
    totals.max = Math.max(totals.max, value)
  }
  return totals
}
