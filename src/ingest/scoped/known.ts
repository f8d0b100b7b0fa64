import type { Child, Looked } from '../../engine/coverage.ts'
import type { Lookups } from '../../engine/port.ts'
import { merged, type Range } from '../../lib/ranges.ts'
import type { Lane, ScopedChange } from '../pipeline.ts'

/** What was looked at, as it is stored and on its way to be. */
export interface Known {
  /** By the text of the filter. */
  covered(): ReadonlyMap<string, readonly Range[]>
  looked(number: number): Looked | undefined
  newest(): Looked | undefined
  /** Addresses that events of a factory name, in the order of these events. */
  children(factory: string): Child[]
  keep(lane: Lane, change: ScopedChange): Promise<void>
  rollback(to: number): void
}

/** Headers beyond what is committed. */
export const createKnown = ({ coverage }: Pick<Lookups, 'coverage'>): Known => {
  let covered = coverage.covered()
  let children = coverage.children()
  return {
    covered: () => covered,
    looked: coverage.looked,
    newest: coverage.newest,
    children: factory => children.filter(child => child.factory === factory),
    async keep(lane, change) {
      await lane.addScoped(change)
      const { notes } = change
      for (const { filter, from, to } of notes.covered)
        covered.set(filter, merged([...(covered.get(filter) ?? []), { from, to }]))
      if (notes.children.length > 0) children = coverage.children()
    },
    rollback() {
      covered = coverage.covered()
      children = coverage.children()
    },
  }
}
