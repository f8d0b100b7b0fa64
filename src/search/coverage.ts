import { createCoverageReader } from '../engine/coverage.ts'
import { readingIn, type StoreReader, wholeRanges } from '../engine/reader.ts'
import { publishedCoverage } from '../engine/shipping/replica.ts'
import { perVersion } from '../engine/store-version.ts'
import type { Range } from '../lib/ranges.ts'
import { filterOf } from '../scopes/filter.ts'
import { isOfTransactions } from '../scopes/questions.ts'

/** Logs that are looked for, for the status. */
export interface ShownFilter {
  /** Contracts whose logs were looked for; none: any. Of many, the first ones. */
  addresses: string[]
  /** Total number; `addresses` lists only the first ones. */
  addressCount: number
  /** First topics of events that were looked for; none: any. Of many, the first ones. */
  topics: string[]
  /** Set if the filter covers all transactions from and to the addresses instead of logs. */
  transactions?: true
  topicCount: number
}

/** A filter of partial blocks, with the blocks it was applied to. */
export interface ScopeCoverage extends ShownFilter {
  /** Blocks that were looked at. */
  ranges: Range[]
}

/** Addresses and topics that are shown. */
const MAX_SHOWN_TERMS = 20
/** Ranges in the header. */
const MAX_HEADER_RANGES = 5

/** Coverage in the state that a reader sees; empty if all blocks are stored whole. */
export const coverageIn = ({ db }: Pick<StoreReader, 'db'>): ScopeCoverage[] =>
  (publishedCoverage(db) as ScopeCoverage[] | undefined) ??
  [...createCoverageReader(db).covered()].map(([text, ranges]) => ({
    ...shownFilter(filterOf(text)),
    ranges: [...ranges],
  }))

export const shownFilter = (filter: ReturnType<typeof filterOf>): ShownFilter => {
  const { addresses } = filter
  const isSent = isOfTransactions(filter)
  const topics = isSent ? [] : filter.topics
  return {
    addresses: addresses.slice(0, MAX_SHOWN_TERMS),
    addressCount: addresses.length,
    topics: topics.slice(0, MAX_SHOWN_TERMS),
    topicCount: topics.length,
    ...(isSent && { transactions: true }),
  }
}

/** Range from the first block examined by any filter to the last one. */
export const coverageSpan = (coverage: readonly ScopeCoverage[]): Range => {
  const span = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY }
  for (const { ranges } of coverage)
    for (const { from, to } of ranges) {
      span.from = Math.min(span.from, from)
      span.to = Math.max(span.to, to)
    }
  return span
}

/** The coverage of a store with partial blocks. */
export const scopedIn = (reader: StoreReader): { coverage?: ScopeCoverage[]; looked?: number } => {
  const coverage = coverageIn(reader)
  return coverage.length > 0 ? { coverage, looked: coverageSpan(coverage).to } : {}
}

/** Value of the header `Chainsieve-Coverage`; undefined if all blocks are stored whole. */
export const coverageHeader = (reader: StoreReader): string | undefined => {
  const coverage = coverageIn(reader)
  if (coverage.length === 0) return undefined
  const { from, to } = coverageSpan(coverage)
  const sent = coverage.filter(({ transactions }) => transactions).length
  const ofTransactions = sent > 0 ? `; transactions=${sent}` : ''
  return `partial; whole=${headerRanges(wholeRanges(reader.segments()))}; filters=${coverage.length}${ofTransactions}; looked=${from}-${to}`
}

/** The header, read again where the store has changed. */
export const createCoverageHeader = (reader: StoreReader): (() => string | undefined) => {
  const read = readingIn(reader)
  return perVersion(reader.db, () => read(() => coverageHeader(reader)))
}

const headerRanges = (ranges: readonly Range[]): string => {
  if (ranges.length === 0) return 'none'
  const shown = ranges.slice(-MAX_HEADER_RANGES).map(({ from, to }) => `${from}-${to}`)
  return `${ranges.length > MAX_HEADER_RANGES ? '...,' : ''}${shown.join()}`
}
