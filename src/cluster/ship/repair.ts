import type { Visible } from '../../engine/shipping/shipped-ranges.ts'
import type { Indices } from '../indices/indices.ts'
import { aliasIn, type WantedIndex } from '../indices/lost-indices.ts'
import { aliasOf } from '../indices/names.ts'
import type { IndexComparison } from './compare-index.ts'
import type { ShipContext } from './context.ts'

/** Looks for lost indices, and has them hold documents again. */
export const createRepair = (ship: ShipContext, indices: Indices, restoring: IndexComparison) => {
  const { network, naming, visible, shelf, known, publishing, log } = ship
  const { persist, note } = ship.session
  /** What indices are known by is to be noted: those that were just made. */
  let isUnknown = false
  let isLacking = false
  /** Notes that what it held is shipped again; false where the store does not have all of it. */
  const shipAgain = (index: string, blocks: Visible['ranges']): boolean => {
    // Tokens lie in one index, wherever they were first seen.
    const isToken = aliasIn(index) === aliasOf(naming, network, 'token')
    const isHeld = shelf.lose(isToken ? undefined : blocks)
    if (isHeld) shelf.renew(index)
    return isHeld
  }
  /** Before the next document goes into one of them: one that the cluster created by itself would count as lost with all that comes into it. */
  const renewAll = async () => {
    for (const index of shelf.toRenew()) {
      await persist(() => indices.renew(index))
      await note(() => {
        shelf.renewed(index)
        known.forget(index)
      })
      isUnknown = true
      publishing.changed()
      log.warn('Ships again what an index of the cluster lost', { index })
    }
  }
  const mendOne = async (lost: WantedIndex) => {
    const { index, blocks, instead } = lost
    if (instead !== undefined) await restoring.compare({ index, blocks, instead })
    else if (!(await note(() => shipAgain(index, blocks)))) indices.forsake(index)
  }
  const learn = async (found: ReadonlyMap<string, string | undefined>) => {
    const fresh = new Map<string, string>()
    for (const [index, is] of found) if (is !== undefined && known.of(index) === undefined) fresh.set(index, is)
    if (fresh.size === 0) return
    await note(() => known.learn(fresh))
    publishing.changed()
  }
  return {
    /** Whether some are new, or begin anew, which should not wait. */
    isDue: () => isUnknown || shelf.toRenew().length > 0,
    /** Whether some were lost when it was looked last. */
    isLacking: () => isLacking,
    /** Creates the indices of a block. */
    ensure(block: number | undefined): Promise<void> | undefined {
      const made = indices.ensure(block)
      if (made !== undefined) isUnknown = true
      return made
    },
    /**
     * What indices lost is shipped again, as far as the store has it. Searches that need the rest fail, and tell why, until an index is back or the store
     * forgets its blocks: see `forgetting.ts`.
     */
    async mend() {
      await renewAll()
      isUnknown = false
      const { lost, found } = await persist(() => indices.look(visible().ranges))
      isLacking = lost.length > 0
      for (const one of lost) await mendOne(one)
      await learn(found)
      await renewAll()
    },
  }
}
