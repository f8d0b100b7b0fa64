import type { Bulk } from '../../cluster/bulk.ts'
import type { ShipRequests } from '../../cluster/ship/requests.ts'
import type { Telling } from './telling.ts'
import type { Tenure } from './tenure.ts'

/**
 * The end of a batch whose documents were put: the cluster has acknowledged them, searches of these indices see them, the store notes `change`, and others
 * have to be told.
 */
export type Finish = <T>(touched: ReadonlySet<string>, change: () => T, also?: Also) => Promise<T>

interface Also {
  /** Resolves when the cluster has acknowledged all; without it, what was put until now is flushed. */
  flushed?: Promise<void>
  /** What has to be done in the cluster before the store notes anything. */
  before?(): Promise<void>
}

export interface FinishingOptions {
  bulk(): Pick<Bulk, 'flush'>
  requests: Pick<ShipRequests, 'refresh'>
  tenure: Pick<Tenure, 'persist' | 'note'>
  telling: Pick<Telling, 'changed'>
}

export const createFinish =
  ({ bulk, requests, tenure, telling }: FinishingOptions): Finish =>
  async (touched, change, { flushed = bulk().flush(), before } = {}) => {
    await flushed
    await tenure.persist(() => requests.refresh(touched))
    if (before) await tenure.persist(before)
    const done = await tenure.note(change)
    telling.changed()
    return done
  }
