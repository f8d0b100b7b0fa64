import { fullType } from '../../../decode/signature.ts'
import { rememberedBy } from '../../../lib/caches.ts'
import type { FieldPath, Kind } from '../../../mapping/index.ts'
import type { QueryValue } from '../../../query/ast.ts'
import type { BlockRun, SearchRequest } from '../../../query/request.ts'
import type { Statistics } from '../../../query/statistics.ts'
import { argumentOf, argumentTerms, fieldOfTerm, logTerms, signatureOfLogField, TOO_LONG } from '../../index/terms.ts'
import type { Posting, Segment, StoreReader } from '../../reader.ts'
import { type NumberedKind, ordinalsWithin } from '../fields/ordinals.ts'
import { planNested, termRanges } from '../plan/nested.ts'
/** Number of documents of a kind per signature. */
export const countsBySignature = (kind: Kind, reader: StoreReader, coverage: Coverage): ReadonlyMap<number, number> => {
  const of = kind === 'call' ? 'call' : 'log'
  return rememberedOfState(reader, `signatures ${of} ${coverage.text}`, () => {
    const sums = new Map<number, number>()
    const add = (id: number, count: number) => {
      if (reader.signature(id).of === of) sums.set(id, (sums.get(id) ?? 0) + count)
    }
    const known = perSegment<{ ids: Uint32Array; counts: Uint32Array }>(reader, 'signatures')
    for (const segment of reader.segments()) {
      const covered = coverage.of(segment)
      if (covered === 'all') {
        const { ids, counts } = known(segment, () => countSignatures(segment, reader))
        for (const [i, id] of ids.entries()) add(id, counts[i]!)
      }
      if (covered !== 'some') continue
      const runs = coverage.ordinals(segment, of)
      for (const posting of signaturesIn(segment, reader))
        add(signatureOfLogField(fieldOfTerm(posting.term)), countWithin(reader.ordinals(posting), runs))
    }
    return sums
  })
}

/** Signatures of a segment with the number of documents of each. */
const countSignatures = (segment: Segment, reader: StoreReader) => {
  const terms = signaturesIn(segment, reader)
  return {
    ids: Uint32Array.from(terms, ({ term }) => signatureOfLogField(fieldOfTerm(term))),
    counts: Uint32Array.from(terms, ({ n }) => n),
  }
}

const signaturesIn = ({ id }: Segment, reader: StoreReader) => {
  const [first, last] = logTerms(0)
  return reader.termsBetween(id, first, last)
}

/** Statistics of arguments, each of which counts as a document. */
export const elementStatistics = (
  kind: Kind,
  reader: StoreReader,
  coverage: Coverage,
): Pick<Statistics, 'documents' | 'frequency'> => {
  const of = kind === 'call' ? 'call' : 'log'
  const inputsOf = (id: number) => {
    const { event, error } = reader.signature(id)
    return error === null ? (event?.inputs ?? []) : []
  }
  const countWhere = (test: (input: ReturnType<typeof inputsOf>[number]) => boolean): number => {
    let sum = 0
    for (const [id, count] of countsBySignature(kind, reader, coverage)) sum += count * inputsOf(id).filter(test).length
    return sum
  }
  const covered = (posting: Posting): number => {
    if (coverage.blocks === undefined) return posting.n
    const segment = reader.segments().find(({ id }) => id === posting.segment)
    const how = segment === undefined ? 'none' : coverage.of(segment)
    if (how !== 'some') return how === 'all' ? posting.n : 0
    return countWithin(reader.ordinals(posting), coverage.ordinals(segment!, of))
  }
  /** Arguments that match a term of the index. */
  const countPostings = (first: number, last: number, fingerprint: number | undefined): number =>
    reader.postingsBetween(first, last).reduce((sum, posting) => {
      if (fingerprint !== undefined && posting.fingerprint !== fingerprint) return sum
      const { signature } = argumentOf(fieldOfTerm(posting.term))
      const { of: own, event, error } = reader.signature(signature)
      return own === of && event !== null && error === null ? sum + covered(posting) : sum
    }, 0)
  return {
    documents(field) {
      if (field.field !== 'args.value.hex') return countWhere(() => true)
      return countWhere(() => true) - countPostings(...argumentTerms(TOO_LONG), undefined)
    },
    frequency(field: FieldPath, value: QueryValue) {
      switch (field.field) {
        case 'args.name':
          return countWhere(({ name }) => name === value)
        case 'args.value.type':
          return countWhere(input => fullType(input) === value)
        case 'args.value.hex':
          return termRanges(planNested({ op: 'all' }, reader, of).keysOf(String(value))).reduce(
            (sum, { first, last, fingerprint }) => sum + countPostings(first, last, fingerprint),
            0,
          )
        default:
          return undefined
      }
    },
  }
}

/** Documents that statistics are counted over: those of all blocks, or of some. */
export interface Coverage {
  /** Cache key: equal for equal blocks. */
  text: string
  of(segment: Segment): 'all' | 'none' | 'some'
  /** For `some`: half-open runs of ordinals. */
  ordinals(segment: Segment, numbered: NumberedKind): BlockRun[]
  /** Numbers of blocks; undefined: all. */
  blocks: readonly BlockRun[] | undefined
}
export const coverageOf = (within: SearchRequest['within'], reader: StoreReader): Coverage => {
  if (within === undefined) return EVERY_BLOCK
  const runsIn = ({ first, last }: Segment) => within.filter(([from, to]) => from <= last && to >= first)
  return {
    text: within.map(run => run.join('-')).join(),
    blocks: within,
    of(segment) {
      const runs = runsIn(segment)
      if (runs.length === 0) return 'none'
      return runs.some(([from, to]) => from <= segment.first && to >= segment.last) ? 'all' : 'some'
    },
    ordinals(segment, numbered) {
      const header = reader.header(segment)
      return runsIn(segment).map((one): BlockRun => [...ordinalsWithin(header, numbered, one)])
    },
  }
}
const EVERY_BLOCK: Coverage = { text: '', blocks: undefined, of: () => 'all', ordinals: () => [] }
/** Number of ordinals within the runs. */
export const countWithin = (ordinals: Uint32Array, runs: readonly BlockRun[]): number => {
  let count = 0
  for (const ordinal of ordinals) for (const [from, to] of runs) if (ordinal >= from && ordinal < to) count++
  return count
}

/** Caches values until the store changes. */
export const rememberedOfState = <T>(reader: StoreReader, key: string, find: () => T): T => {
  const known = stateValues(reader)
  const version = reader.version()
  if (known.version !== version || known.values.size >= MAX_STATE_VALUES) {
    known.version = version
    known.values.clear()
  }
  const { values } = known
  if (!values.has(key)) values.set(key, find())
  return values.get(key) as T
}
const stateValues = rememberedBy((reader: StoreReader) => ({
  version: reader.version(),
  values: new Map<string, unknown>(),
}))
const MAX_STATE_VALUES = 2_000

/** Computes a value per segment, once until the segment changes. */
export const perSegment = <T>(reader: StoreReader, key: string): ((segment: Segment, find: () => T) => T) => {
  const ofReader = segmentValues(reader)
  if (ofReader.size >= MAX_KEYS && !ofReader.has(key)) ofReader.clear()
  const values = (ofReader.get(key) ?? new Map()) as Map<string, T>
  ofReader.set(key, values)
  if (values.size > 2 * reader.segments().length) {
    const present = new Set(reader.segments().map(segmentKey))
    for (const place of values.keys()) if (!present.has(place)) values.delete(place)
  }
  return (segment, find) => {
    const place = segmentKey(segment)
    if (!values.has(place)) {
      reader.check()
      values.set(place, find())
    }
    return values.get(place)!
  }
}
const segmentValues = rememberedBy((_: StoreReader) => new Map<string, Map<string, unknown>>())
const MAX_KEYS = 200

const segmentKey = ({ id, revised }: Segment): string => `${id} ${revised}`
