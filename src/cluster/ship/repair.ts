import type { Visible } from '../../engine/shipping/shipped-ranges.ts'
import type { Indices } from '../indices/indices.ts'
import { aliasIn, type WantedIndex } from '../indices/lost-indices.ts'
import { aliasOf } from '../indices/names.ts'
import type { IndexComparison } from './compare-index.ts'
import type { ShipContext } from './context.ts'

/** Finds lost indices, and ships their documents again. */
export const createRepair = (ship: ShipContext, indices: Indices, restoring: IndexComparison) => {
  const { network, naming, visible, shelf, known, publishing, log } = ship
  const { persist, note } = ship.session
  /** Whether new indices exist whose identities are not recorded yet. */
  let isUnknown = false
  let isLacking = false
  /** Marks its documents for shipping again; false if the store does not have all of them. */
  const shipAgain = (index: string, blocks: Visible['ranges']): boolean => {
    // All tokens are in one index.
    const isToken = aliasIn(index) === aliasOf(naming, network, 'token')
    const isHeld = shelf.lose(isToken ? undefined : blocks)
    if (isHeld) shelf.renew(index)
    return isHeld
  }
  /** Recreates indices before documents do: those that the cluster creates itself count as lost. */
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
    /** Whether indices are new or have to be recreated, which should not wait. */
    isDue: () => isUnknown || shelf.toRenew().length > 0,
    /** Whether indices were lost at the last check. */
    isLacking: () => isLacking,
    /** Creates the indices of a block. */
    ensure(block: number | undefined): Promise<void> | undefined {
      const made = indices.ensure(block)
      if (made !== undefined) isUnknown = true
      return made
    },
    /**
     * Ships documents of lost indices again, as far as the store has them. Searches that need the
     * rest fail with the reason, until an index is back or the store forgets its blocks: see
     * `forgetting.ts`.
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
