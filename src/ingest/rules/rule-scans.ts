import { OF_STATE, type Scan } from '../../alerts/alert-store.ts'
import type { Range } from '../../lib/ranges.ts'
import type { StoredRule } from '../../rules/rule.ts'

/** Which blocks rules still look at: history that is searched for them, or state that they read. */
export const createRuleScans = (scans: Map<number, Scan>, changed: (scan: Scan) => void) => {
  /** Rules of the target `State`, of which the matcher knows nothing. */
  const states = new Map<number, StoredRule>()
  return {
    /** Matches blocks from here on; searches stored ones if the rule wants it, but reads no state of them. */
    begin({ id, startBlock, input }: StoredRule, held: readonly Range[], resumed = false) {
      if (startBlock === null) return
      const before = scans.get(id)
      // Their windows are filled from history otherwise.
      const last = input.config.when ? -1 : (held.at(-1)?.to ?? -1)
      const isState = states.has(id)
      if (before?.start === startBlock && (before.last === OF_STATE) === isState && !(isState && resumed)) return
      const scan = isState
        ? { rule: id, start: startBlock, next: Math.max(last + 1, startBlock), last: OF_STATE }
        : { rule: id, start: startBlock, next: startBlock, last: Math.max(last, startBlock - 1) }
      scans.set(id, scan)
      changed(scan)
    },
    /** Whether the rule reads state. */
    take(rule: StoredRule): boolean {
      const isState = rule.input.config.targetType === 'State'
      if (isState) states.set(rule.id, rule)
      else states.delete(rule.id)
      return isState
    },
    remove(id: number) {
      states.delete(id)
      scans.delete(id)
    },
    ofState: (): StoredRule[] =>
      [...states.values()].filter(({ enabled, startBlock }) => enabled && startBlock !== null),
    /** After a reorganisation to this block: what the store does in the same transaction. */
    rollback(to: number) {
      for (const [id, scan] of scans)
        if (scan.last === OF_STATE && scan.next > to + 1) scans.set(id, { ...scan, next: to + 1 })
    },
  }
}
