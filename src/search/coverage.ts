import { createCoverageReader } from '../engine/coverage.ts'
import { type Reader, wholeRanges } from '../engine/reader.ts'
import type { Range } from '../lib/ranges.ts'
import { filterOf } from '../scopes/filter.ts'

/** What was looked for in blocks that are not stored whole. */
export interface ScopeCoverage {
  /** Contracts whose logs were looked for; none: any. Of many, the first ones. */
  addresses: string[]
  /** How many there are. */
  addressCount: number
  /** First topics of events that were looked for; none: any. Of many, the first ones. */
  topics: string[]
  /** Blocks that were looked at. */
  ranges: Range[]
}

/** Addresses and topics that are shown. */
const SHOWN = 20
/** Ranges in the header. */
const LISTED = 5

/** By the state of the store that a reader sees; empty where all blocks are stored whole. */
export const coverageIn = (reader: Reader): ScopeCoverage[] =>
  [...createCoverageReader(reader.db).covered()].map(([text, ranges]) => {
    const { addresses, topics } = filterOf(text)
    return {
      addresses: addresses.slice(0, SHOWN),
      addressCount: addresses.length,
      topics: topics.slice(0, SHOWN),
      ranges: [...ranges],
    }
  })

/** From the first block that was looked at for anything to the last one. */
export const spanOf = (coverage: readonly ScopeCoverage[]): Range => {
  const span = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY }
  for (const { ranges } of coverage)
    for (const { from, to } of ranges) {
      span.from = Math.min(span.from, from)
      span.to = Math.max(span.to, to)
    }
  return span
}

/** The value of the header `Chainsieve-Coverage`; undefined where all blocks are stored whole. */
export const coverageHeader = (reader: Reader): string | undefined => {
  const coverage = coverageIn(reader)
  if (coverage.length === 0) return undefined
  const { from, to } = spanOf(coverage)
  return `partial; whole=${listed(wholeRanges(reader.segments()))}; filters=${coverage.length}; looked=${from}-${to}`
}

const listed = (ranges: readonly Range[]): string => {
  if (ranges.length === 0) return 'none'
  const shown = ranges.slice(-LISTED).map(({ from, to }) => `${from}-${to}`)
  return `${ranges.length > LISTED ? '...,' : ''}${shown.join()}`
}
