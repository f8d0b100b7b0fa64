import type { Kind } from '../../../mapping/index.ts'
import type { SpecOf } from '../../../query/aggs/ast.ts'
import { META_FIELDS } from '../../meta.ts'
import { notInCluster } from '../../refused.ts'
import { type Answered, countIn, listIn, numberIn, objectIn } from '../answer.ts'
import { sourceOf } from '../fields.ts'
import { type ClusterAggregation, INNER } from '../kind.ts'
import { askMore, mostOf } from '../most.ts'
import { kindIs } from '../queries.ts'

/** The places of those in the sample of each kind; `upTo`: of all up to one. Without any it holds all. */
type Sample = { upTo: number | undefined } | { places: readonly number[] }

interface KnownSamples {
  samples: ReadonlyMap<Kind, Sample>
}

const samplesIn = (known: unknown): KnownSamples | undefined =>
  known !== undefined && 'samples' in (known as object) ? (known as KnownSamples) : undefined

/** The oldest documents: their last place is asked for at first. Of so many of each value, all places are. */
export const sampler: ClusterAggregation<'sampler'> = {
  ask(spec, asking) {
    const { kinds, request, known } = asking
    if (request.parts.some(({ score }) => score))
      throw notInCluster(
        'a [sampler] of a query with scores',
        'put the query into [filter], or take hits by their scores',
      )
    const samples = samplesIn(known)?.samples
    if (samples) return { filter: { bool: { should: Array.from(samples, one => inSample(...one)) } } }
    const aggs = placesBy(spec, mostOf(asking))
    const ofKinds = kinds.map((kind): [string, object] => [kind, { filter: kindIs(kind), aggs }])
    return { filter: { match_all: {} }, aggs: Object.fromEntries(ofKinds) }
  },
  read(spec, found, reading) {
    const shown = (bucket: Answered | undefined) => ({
      ...({ is: 'bucket', type: 'sampler', docCount: countIn(bucket) } as const),
      results: reading.inner(bucket, INNER),
    })
    const { known, request, learnt, again } = reading
    if (samplesIn(known) || !found) {
      reading.count(1)
      return shown(found)
    }
    const samples = new Map<Kind, Sample>()
    for (const { kind } of request.parts) {
      const sample = sampleIn(spec, objectIn(found, kind))
      if (!sample) {
        askMore(reading)
        return shown(undefined)
      }
      samples.set(kind, sample)
    }
    learnt((): KnownSamples => ({ samples }))
    again()
    return shown(undefined)
  },
}

const { position } = META_FIELDS

const inSample = (kind: Kind, sample: Sample): object => {
  const places =
    'places' in sample
      ? [{ terms: { [position]: sample.places } }]
      : sample.upTo === undefined
        ? []
        : [{ range: { [position]: { lte: sample.upTo } } }]
  return { bool: { filter: [kindIs(kind), ...places] } }
}

const oldest = (most: number): object => ({
  terms: { field: position, size: most, shard_size: most, order: { _key: 'asc' } },
})

type Spec = SpecOf<'sampler'>

const placesBy = ({ size, diversity }: Spec, most: number): Record<string, object> => {
  if (!diversity) return { first: oldest(Math.min(size, most)) }
  const { values } = diversity
  const { field } = sourceOf(values)
  const first = oldest(Math.min(diversity.most, size))
  // Values that come first later than so many others are in no sample, and each shard tells those that are.
  const groups = isCut(diversity) ? most : Math.min(size, most)
  const terms = { field, size: groups, shard_size: groups, order: { begin: 'asc' } }
  return {
    groups: { terms, aggs: { begin: { min: { field: position } }, first } },
    without: { missing: { field }, aggs: { first } },
  }
}

/** Numbers are told apart without their fractions. */
const isCut = ({ values }: NonNullable<Spec['diversity']>): boolean => values.type === 'double'

/** Undefined where too little was told. */
const sampleIn = ({ size, diversity }: Spec, found: Answered | undefined): Sample | undefined => {
  if (diversity) return diverseIn({ size, diversity }, found)
  const first = objectIn(found, 'first')
  const places = listIn(first, 'buckets')
  const isWhole = countIn(first, 'sum_other_doc_count') === 0
  if (places.length < size && !isWhole) return undefined
  return { upTo: places.length < size ? undefined : numberIn(places.at(-1)!.key)! }
}

const diverseIn = (
  { size, diversity }: { size: number; diversity: NonNullable<Spec['diversity']> },
  found: Answered | undefined,
): Sample | undefined => {
  const groups = objectIn(found, 'groups')
  const all = listIn(groups, 'buckets')
  const isWhole = countIn(groups, 'sum_other_doc_count') === 0
  if (!isWhole && (isCut(diversity) || all.length < size)) return undefined
  const byKey = new Map<unknown, number[]>()
  const add = (key: unknown, bucket: Answered | undefined) =>
    byKey.set(key, [...(byKey.get(key) ?? []), ...placesIn(bucket)])
  const isText = diversity.values.type === 'keyword'
  for (const bucket of all) {
    const { key } = bucket
    add(isText ? key : isCut(diversity) ? Math.trunc(numberIn(key)!) + 0 : String(key), bucket)
  }
  // As in Elasticsearch, numbers without a value count as 0.
  add(isText ? NO_TEXT : isCut(diversity) ? 0 : '0', objectIn(found, 'without'))
  const places = [...byKey.values()].flatMap(some => ascending(some).slice(0, diversity.most))
  const sample = ascending(places).slice(0, size)
  if (sample.length > MOST_PLACES)
    throw notInCluster(
      `a [diversified_sampler] of more than ${MOST_PLACES} documents`,
      'ask for a smaller [shard_size]',
    )
  return { places: sample }
}

const NO_TEXT = Symbol('no text')
/** Values that a condition may list. */
const MOST_PLACES = 65_536

const placesIn = (bucket: Answered | undefined): number[] =>
  listIn(objectIn(bucket, 'first'), 'buckets').map(({ key }) => numberIn(key)!)

const ascending = (places: readonly number[]): number[] => places.toSorted((a, b) => a - b)
