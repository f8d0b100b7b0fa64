import type { ShipRequests } from '../../cluster/ship/requests.ts'
import type { ShelfWriter } from '../../engine/shelf-writer.ts'
import type { Batches } from './batches.ts'
import type { Telling } from './telling.ts'
import type { Tenure } from './tenure.ts'

export interface SweepingOptions {
  shelf: Pick<ShelfWriter, 'sweeps' | 'swept'>
  batches: Pick<Batches, 'settled'>
  requests: Pick<ShipRequests, 'remove'>
  tenure: Pick<Tenure, 'persist' | 'note'>
  telling: Pick<Telling, 'tell'>
}

/** Removes what counts for nothing, if anything is due; whether there was. */
export const createSweeping =
  ({ shelf, batches, requests, tenure, telling }: SweepingOptions) =>
  async (): Promise<boolean> => {
    const [due] = shelf.sweeps()
    if (!due) return false
    // What comes after it would stay until the second time.
    await batches.settled()
    // Whoever takes over, and whoever searches there, must not count on what is removed.
    await telling.tell()
    const begun = Date.now()
    await tenure.persist(() => requests.remove(due))
    await tenure.note(() => shelf.swept(due, begun))
    return true
  }
