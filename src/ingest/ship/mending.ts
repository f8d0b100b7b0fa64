import type { Indices } from '../../cluster/indices.ts'
import { aliasOf } from '../../cluster/names.ts'
import type { ClusterOptions } from '../../cluster/options.ts'
import type { Shelf } from '../../engine/shelf.ts'
import type { ShelfWriter } from '../../engine/shelf-writer.ts'
import { stop } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Telling } from './telling.ts'
import type { Tenure } from './tenure.ts'

export interface MendingOptions {
  network: string
  naming: ClusterOptions
  indices: Pick<Indices, 'lost' | 'renew' | 'forsake'>
  visible(): Shelf
  shelf: Pick<ShelfWriter, 'lose'>
  tenure: Pick<Tenure, 'persist' | 'note'>
  telling: Pick<Telling, 'changed'>
  log: Log
}

/** What indices lost is shipped again, as far as the store has it. `mayStop`: where it has not, nothing goes on. */
export const createMending =
  ({ network, naming, indices, visible, shelf, tenure, telling, log }: MendingOptions) =>
  async (mayStop: boolean): Promise<void> => {
    const { persist, note } = tenure
    for (const one of await persist(() => indices.lost(visible().ranges))) {
      const { index, blocks } = one
      // Tokens lie in one index, wherever they were first seen.
      const isToken = index.startsWith(`${aliasOf(naming, network, 'token')}-`)
      const isHeld = await note(() => shelf.lose(isToken ? undefined : blocks))
      if (!isHeld && !mayStop) {
        indices.forsake(one)
        continue
      }
      if (!isHeld)
        throw stop(
          'cluster_lost',
          `the cluster has no index ${index}, and its documents are in no store any more: restore a snapshot of the cluster, or remove the blocks with chainsieve prune --before ${blocks.at(-1)!.to + 1} and index them again`,
        )
      telling.changed()
      await persist(() => indices.renew(one))
      log.warn('Ships again what an index of the cluster lost', { index })
    }
  }
