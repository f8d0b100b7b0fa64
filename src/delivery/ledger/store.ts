import { DEFAULT_LIMITS, type Limits } from '../../limits/index.ts'
import { createFanOut } from './fan-out.ts'
import { connect } from './file.ts'
import { createListing } from './listing.ts'
import { createOutcomes } from './outcomes.ts'
import { createQueue } from './queue.ts'
import { createRecords } from './records.ts'
import { createRetention } from './retention.ts'
import { createSilencing } from './silencing.ts'

/** `<data>/deliveries.sqlite`: what is to be delivered and what became of it. */
export type DeliveryStore = ReturnType<typeof openDeliveries>

interface Options {
  native?: string | undefined
  now?: () => number
  limits?: Limits
}

/** Several processes may open it; only one sends. */
export const openDeliveries = (data: string, { native, now = Date.now, limits = DEFAULT_LIMITS }: Options = {}) => {
  const db = connect(data, native)
  const records = createRecords(db, now, limits)
  return {
    ...createFanOut(db),
    ...createQueue(db),
    ...createOutcomes(db),
    ...records,
    ...createRetention(db),
    ...createSilencing(db),
    ...createListing(db, records.attemptsOf),
    close: () => void db.close(),
  }
}
