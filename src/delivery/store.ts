import { DEFAULT_LIMITS, type Limits } from '../limits/index.ts'
import { createExpander, type Expander } from './expand.ts'
import { connect } from './file.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { createListing, type Listing } from './listing.ts'
import { createQueue, type Queue } from './queue.ts'

/** `<data>/deliveries.sqlite`: what is to be delivered and what became of it. */
export interface DeliveryStore extends Expander, Queue, Ledger, Listing {
  close(): void
}

/** Several processes may open it; only one may send. `native` is the path of SQLite's binding. */
export const openDeliveries = (
  data: string,
  {
    native,
    now = Date.now,
    limits = DEFAULT_LIMITS,
  }: { native?: string | undefined; now?: () => number; limits?: Limits } = {},
): DeliveryStore => {
  const db = connect(data, native)
  return {
    ...createExpander(db),
    ...createQueue(db),
    ...createLedger(db, now, limits),
    ...createListing(db),
    close: () => void db.close(),
  }
}
