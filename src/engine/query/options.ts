import { retry } from '../../lib/errors.ts'
import type { HitCursor } from './pages.ts'

export interface SearchControl {
  /** Time in milliseconds (as of `performance.now`) after which the search is given up. */
  deadline: number
  /** Asked now and then: true gives the search up. */
  cancelled?(): boolean
  /** Asked likewise: true gives it up to be begun anew later, by throwing a `Yielded`. */
  yields?(): boolean
  /** Told the last hit of a page before it is written: others may go on behind it meanwhile. Not of each page. */
  reached?(at: HitCursor): void
}

/** A search has made room for others, and is to be asked anew. */
export class Yielded extends Error {}

/** Throws where a search is to be given up. */
export const checkDeadline = ({ deadline, cancelled, yields }: SearchControl) => {
  if (yields?.()) throw new Yielded('a search made room for others')
  if ((deadline !== Number.POSITIVE_INFINITY && performance.now() > deadline) || cancelled?.())
    throw retry('search_timeout_exception', 'the search passed its deadline: narrow it, or raise query-deadline')
}
