import { type ChainsieveError, retry } from '../../lib/errors.ts'
import type { Run, SearchRequest } from '../../query/request.ts'
import { type Alteration, readAltered, type Why } from '../alterations.ts'
import type { Reader } from '../reader.ts'
import { runsOf } from './chain-snapshot.ts'

/**
 * The state of a store that a long answer is of, while its parts are read one after the other. Blocks that come later are left out. Where blocks that are
 * still to be read are altered, the answer cannot go on.
 */
export interface Snapshot {
  runs: readonly Run[]
  /** Of the latest alteration. */
  serial: number
  /** How many hits there are; undefined where they were not counted. */
  hits: number | undefined
}

/** Of the state that the reader sees. */
export const takeSnapshot = (reader: Reader, hits: number | undefined): Snapshot => ({
  ...{ runs: runsOf(reader.segments()), serial: readAltered(reader.db).serial, hits },
})

/** Alterations since of documents that are asked for. */
export const alteredSince = (
  { serial, runs }: Snapshot,
  { parts }: Pick<SearchRequest, 'parts'>,
  reader: Reader,
): Alteration[] =>
  readAltered(reader.db).alterations.filter(
    one =>
      one.serial > serial &&
      runs.some(([from, to]) => one.from <= to && one.to >= from) &&
      (!one.kinds || parts.some(({ kind }) => one.kinds!.includes(kind))),
  )

/** The request for what the snapshot holds: what another one asks for but for blocks that came since. */
export const inSnapshot = (request: SearchRequest, { runs }: Snapshot, reader: Reader): SearchRequest => {
  const now = runsOf(reader.segments())
  if (isSameRuns(now, runs)) return request
  return { ...request, within: request.within ? overlap(request.within, runs) : runs }
}

const isSameRuns = (a: readonly Run[], b: readonly Run[]): boolean =>
  a.length === b.length && a.every(([from, to], i) => from === b[i]![0] && to === b[i]![1])

/** Both lists ascend. */
const overlap = (a: readonly Run[], b: readonly Run[]): Run[] => {
  const both: Run[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [from, to] = [Math.max(a[i]![0], b[j]![0]), Math.min(a[i]![1], b[j]![1])]
    if (from <= to) both.push([from, to])
    if (a[i]![1] < b[j]![1]) i++
    else j++
  }
  return both
}

const CODE = 'search_phase_execution_exception'
const REST = 'while the answer was read, so that its rest would be of another state of the chain: search again'

export const altered = ({ why, from, to }: Pick<Alteration, 'why' | 'from' | 'to'>): ChainsieveError => {
  const blocks = to === Number.MAX_SAFE_INTEGER ? `from block ${from} on` : `in blocks ${from} to ${to}`
  return retry(CODE, `${TOLD[why]} ${blocks} ${REST}.`)
}

const TOLD: Record<Why, string> = {
  reorganised: 'the chain was reorganised',
  pruned: 'documents were pruned',
  replaced: 'documents were indexed anew',
  decoded: 'documents were decoded anew',
}

/** Refuses to end an answer that has another number of hits than it told in its head. */
export const checkHits = (hits: number, expected: number | undefined): void => {
  if (expected === undefined || hits === expected) return
  throw retry(
    CODE,
    `the chain was reorganised, or documents changed, ${REST}. There were ${expected} hits, of which ${hits} were found.`,
  )
}
