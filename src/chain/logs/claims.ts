import type { Endpoint } from '../endpoint.ts'
import { areSameLogs, type BlockLogs } from './check-logs.ts'

/** What a node said of a block's logs. */
export interface Claim extends BlockLogs {
  by: Endpoint
}

/** A block that has to be read. */
export interface Found {
  number: number
  /** What nodes said of its logs; none where they could not say. Where there is not exactly one, the block itself has to tell. */
  claims: Claim[]
  /** The same though there is one. */
  isDoubted?: true
}

/** Blocks of which two nodes say the same have one claim, others two, be it that there is nothing. */
export function* compare(
  ours: readonly Found[],
  by: Endpoint,
  theirs: readonly Found[],
  other: Endpoint,
): Generator<Found> {
  const left = new Map(theirs.map(it => [it.number, it]))
  for (const { number, claims } of ours) {
    const [mine] = claims
    const yours = left.get(number)?.claims
    left.delete(number)
    // One of them could not say.
    if (mine === undefined || yours?.length === 0) yield { number, claims: [] }
    else if (yours === undefined) yield { number, claims: [mine, { ...mine, logs: [], by: other }] }
    else {
      const isSame = mine.hash === yours[0]!.hash && areSameLogs(mine.logs, yours[0]!.logs)
      yield { number, claims: isSame ? claims : [mine, yours[0]!] }
    }
  }
  for (const { number, claims } of left.values())
    yield { number, claims: claims.flatMap(it => [it, { ...it, logs: [], by }]) }
}
