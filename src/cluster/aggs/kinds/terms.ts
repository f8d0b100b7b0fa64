import type { GivenTerms, SpecOf } from '../../../query/aggs/ast.ts'
import { TERMS_TYPES, termKey } from '../../../query/aggs/buckets/terms.ts'
import type { Buckets } from '../../../query/aggs/result.ts'
import type { Value } from '../../../query/ast.ts'
import { type Answered, countIn, listIn, numberIn } from '../answer.ts'
import { fieldOf, inMilliseconds, plain, sourceOf, valueFrom } from '../fields.ts'
import { type ClusterAggregation, INNER, type Reading } from '../kind.ts'
import { askMore, type KnownMost, mostOf } from '../most.ts'
import { type Ranked, rankedBy } from '../order.ts'

type Spec = SpecOf<'terms'>

/**
 * A cluster counts in each shard the terms that lead there, so that counts may be too low. What it says of that tells whether they are: then
 * all terms that may be among the first are counted once more, by their names.
 */
interface Candidates extends KnownMost {
  values: Set<Value>
  owners: Map<string, Owner>
}

/** What is known of all terms in a bucket above. */
interface Owner {
  /** Documents, once for each of their terms. */
  total: number
  /** No term that is not among the candidates has more. */
  others: number
}

export const terms: ClusterAggregation<'terms'> = {
  ask(spec, asking) {
    const { order, shardSize, minDocCount } = spec
    const { known } = asking
    const most = mostOf(asking)
    if (minDocCount === 0) asking.beside(everyTerm(spec, most))
    const candidates = candidatesIn(known)
    const size = Math.min(Math.max(shardSize, most, candidates?.values.size ?? 0), GREATEST)
    return {
      terms: {
        ...(candidates
          ? { ...chosen(spec), exclude: undefined, include: Array.from(candidates.values, plain) }
          : chosen(spec)),
        ...{ size, shard_size: size, min_doc_count: 1 },
        // What is ordered by numbers inside is ordered here: the cluster would leave out terms that lead in one shard alone.
        ...(isPlain(spec) && { order: orderOf(order) }),
      },
    }
  },
  read(spec, found, reading) {
    const { minDocCount } = spec
    const buckets = listIn(found, 'buckets').filter(isWanted(spec))
    const owner = found && ownerOf(spec, found, buckets, reading)
    // Of what is not known well, nothing inside can be.
    if (found && !owner) return shown(spec, [], 0, reading)
    const all = buckets.map(bucket => rankedFrom(bucket, spec, reading))
    if (minDocCount === 0 && found) all.push(...without(all, spec, reading))
    return shown(spec, all, owner?.total ?? 0, reading)
  },
}

const shown = (spec: Spec, all: readonly Ranked[], total: number, reading: Reading): Buckets => {
  const { values, size, shardSize, minDocCount, order } = spec
  const shard = rankedBy(order, all).slice(0, shardSize)
  const enough = shard.filter(({ docCount }) => docCount >= minDocCount)
  const shown = enough.slice(0, size)
  reading.count(shown.length)
  return {
    is: 'buckets',
    type: TERMS_TYPES[values.type],
    members: [
      ['doc_count_error_upper_bound', 0n],
      ['sum_other_doc_count', BigInt(total - sumOf(shard) + sumOf(enough) - sumOf(shown))],
    ],
    keyed: false,
    buckets: shown.map(({ value, docCount, results }) => ({
      key: termKey(value, spec),
      ...(values.type !== 'keyword' && { number: Number(value) }),
      ...{ docCount, results },
    })),
  }
}

/** The cluster takes integers of 32 bits. */
const GREATEST = 2 ** 31 - 1

const sumOf = (buckets: readonly Pick<Ranked, 'docCount'>[]): number =>
  buckets.reduce((sum, { docCount }) => sum + docCount, 0)

const candidatesIn = (known: unknown): Candidates | undefined =>
  known !== undefined && 'values' in (known as object) ? (known as Candidates) : undefined

/** Whether the cluster can order its terms as well. */
const isPlain = ({ order }: Spec): boolean => order.every(({ by }) => by === '_key' || by === '_count')

const orderOf = (order: Spec['order']): object[] =>
  order.map(({ by, ascending }) => ({ [by]: ascending ? 'asc' : 'desc' }))

/** What is known of all terms of the bucket above; undefined where that is not enough, and the cluster is to be asked once more. */
const ownerOf = (spec: Spec, found: Answered, buckets: readonly Answered[], reading: Reading): Owner | undefined => {
  const { known, owner } = reading
  const counts = buckets.map(bucket => ({ docCount: countIn(bucket) }))
  const candidates = candidatesIn(known)
  const before = candidates?.owners.get(owner)
  if (before) {
    const last = rankedCounts(counts)[spec.shardSize - 1]
    if (last !== undefined && last > before.others) return before
    if (before.others === 0) return before
  }
  if (candidates) {
    askMore(reading)
    return undefined
  }
  const others = countIn(found, 'sum_other_doc_count')
  const error = numberIn(found.doc_count_error_upper_bound) ?? 0
  const total = sumOf(counts) + others
  const isComplete = others === 0 && error === 0
  const byCount = spec.order[0]!.by === '_count' && !spec.order[0]!.ascending && isPlain(spec)
  if (byCount) learn(spec, { buckets, total, error, isComplete }, reading)
  if (isComplete) return { total, others: 0 }
  if (isPlain(spec) && error === 0 && isSentAsGiven(spec)) return { total, others: 0 }
  if (!byCount || !isSentAsGiven(spec)) askMore(reading)
  else reading.again()
  return undefined
}

const rankedCounts = (buckets: readonly { docCount: number }[]): number[] =>
  buckets.map(({ docCount }) => docCount).sort((a, b) => b - a)

interface Told {
  buckets: readonly Answered[]
  total: number
  error: number
  isComplete: boolean
}

/** A term of which the cluster told nothing has at most the error; one that it left out at the end, that of the last one besides. */
const learn = (spec: Spec, { buckets, total, error, isComplete }: Told, reading: Reading) => {
  const { owner, learnt } = reading
  const next = learnt((): Candidates => ({ most: mostOf(reading), values: new Set(), owners: new Map() }))
  const counts = rankedCounts(buckets.map(bucket => ({ docCount: countIn(bucket) })))
  const leading = counts[spec.shardSize - 1] ?? 0
  next.owners.set(owner, { total, others: isComplete ? 0 : error + counts.at(-1)! })
  for (const bucket of buckets)
    if (countIn(bucket) + error >= leading) next.values.add(valueFrom(bucket.key, spec.values))
}

/** The values, and which of them are wanted. */
export const chosen = (spec: Pick<Spec, 'values' | 'terms'>): Record<string, unknown> => {
  const { values } = spec
  const { partition } = spec.terms
  if (values.meta !== undefined && values.meta !== '_id') return { field: fieldOf(values) }
  const { include, exclude } = isSentAsGiven(spec) ? spec.terms.given : { include: undefined, exclude: undefined }
  return {
    ...sourceOf(values),
    ...inMilliseconds(values),
    ...(include && { include: asGiven(include) }),
    ...(exclude && { exclude: asGiven(exclude) }),
    ...(partition && { include: { partition: partition.partition, num_partitions: partition.of } }),
  }
}

const asGiven = (given: NonNullable<GivenTerms>): string | readonly string[] =>
  'regexp' in given ? given.regexp : given

/** Names of kinds are told here, and clusters know neither complements nor lists beside expressions. Then all terms are asked for, and chosen from here. */
export const isSentAsGiven = ({ values, terms: { given } }: Pick<Spec, 'values' | 'terms'>): boolean => {
  const { include, exclude } = given
  const isOdd = (terms: GivenTerms) => terms !== undefined && 'regexp' in terms && terms.regexp.includes('~')
  const isList = (terms: GivenTerms) => terms !== undefined && !('regexp' in terms)
  if (values.meta !== undefined) return !include && !exclude
  if (include && exclude && isList(include) !== isList(exclude)) return false
  return !isOdd(include) && !isOdd(exclude)
}

export const isWanted = (spec: Pick<Spec, 'values' | 'terms'>): ((bucket: Answered) => boolean) => {
  const { include, exclude } = spec.terms
  if (isSentAsGiven(spec)) return () => true
  return ({ key }) => {
    const text = String(valueFrom(key, spec.values))
    return (include?.(text) ?? true) && !(exclude?.(text) ?? false)
  }
}

const rankedFrom = (bucket: Answered, { values }: Pick<Spec, 'values'>, reading: Reading): Ranked => ({
  value: valueFrom(bucket.key, values),
  docCount: countIn(bucket),
  results: reading.inner(bucket, String(bucket.key)),
})

/** Terms that only other documents have. */
const everyTerm = (spec: Spec, most: number): object => {
  const body = { terms: { ...chosen(spec), size: most, shard_size: most, order: { _key: 'asc' } } }
  const path = Object.values(spec.values.fields).find(({ list }) => list?.nested)?.list?.name
  return path === undefined ? body : { nested: { path }, aggs: { [INNER]: body } }
}

const without = (known: readonly Ranked[], spec: Spec, reading: Reading): Ranked[] => {
  const { beside } = reading
  const all = (beside?.[INNER] ?? beside) as Answered | undefined
  if (countIn(all, 'sum_other_doc_count') > 0) askMore(reading)
  const have = new Set<Value>(known.map(({ value }) => value))
  return listIn(all, 'buckets')
    .filter(isWanted(spec))
    .map(({ key }) => valueFrom(key, spec.values))
    .filter(value => !have.has(value))
    .map(value => ({ value, docCount: 0, results: reading.inner({}, String(value)) }))
}
