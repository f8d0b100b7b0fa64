import type { Indices } from '../../cluster/indices.ts'
import { aliasOf } from '../../cluster/names.ts'
import type { ClusterOptions } from '../../cluster/options.ts'
import type { Shelf } from '../../engine/shelf.ts'
import type { ShelfWriter } from '../../engine/shelf-writer.ts'
import type { Log } from '../../lib/log.ts'
import type { Telling } from './telling.ts'
import type { Tenure } from './tenure.ts'

export interface MendingOptions {
  network: string
  naming: ClusterOptions
  indices: Pick<Indices, 'lost' | 'renew' | 'forsake'>
  visible(): Shelf
  shelf: Pick<ShelfWriter, 'lose' | 'renew' | 'toRenew' | 'renewed'>
  tenure: Pick<Tenure, 'persist' | 'note'>
  telling: Pick<Telling, 'changed'>
  log: Log
}

/** Looks for lost indices, and has them hold documents again. */
export interface Mending {
  /** Whether some begin anew, which should not wait. */
  isDue(): boolean
  /**
   * What indices lost is shipped again, as far as the store has it. Searches that need the rest fail, and tell why, until an index is back or the store
   * forgets its blocks: see `forgetting.ts`.
   */
  mend(): Promise<void>
}

export const createMending = ({
  network,
  naming,
  indices,
  visible,
  shelf,
  tenure,
  telling,
  log,
}: MendingOptions): Mending => {
  const { persist, note } = tenure
  /** Notes that what it held is shipped again; false where the store does not have all of it. */
  const ship = (index: string, blocks: Shelf['ranges']): boolean => {
    // Tokens lie in one index, wherever they were first seen.
    const isToken = index.startsWith(`${aliasOf(naming, network, 'token')}-`)
    const isHeld = shelf.lose(isToken ? undefined : blocks)
    if (isHeld) shelf.renew(index)
    return isHeld
  }
  /** Before the next document goes into one of them: one that the cluster created by itself would count as lost with all that comes into it. */
  const renewAll = async () => {
    for (const index of shelf.toRenew()) {
      await persist(() => indices.renew(index))
      await note(() => shelf.renewed(index))
      telling.changed()
      log.warn('Ships again what an index of the cluster lost', { index })
    }
  }
  return {
    isDue: () => shelf.toRenew().length > 0,
    async mend() {
      await renewAll()
      for (const { index, blocks } of await persist(() => indices.lost(visible().ranges)))
        if (!(await note(() => ship(index, blocks)))) indices.forsake(index)
      await renewAll()
    },
  }
}
