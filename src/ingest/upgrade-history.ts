import type { StoredUpgrade } from '../engine/port.ts'

/** Upgrades of one contract in the order of the chain. */
export interface UpgradeHistory {
  add(upgrade: StoredUpgrade): void
  /** The last one before a position that tells whose code it is. */
  named(at: number): StoredUpgrade | undefined
  /** The last one before a position that does not. */
  unnamed(at: number): StoredUpgrade | undefined
  /** Whose code it is in a range, as far as it is told there. */
  within(from: number, to: number): string[]
  forget(from: number): void
}

export const createUpgradeHistory = (stored: readonly StoredUpgrade[]): UpgradeHistory => {
  const named: StoredUpgrade[] = []
  const unnamed: StoredUpgrade[] = []
  const listOf = ({ implementation }: StoredUpgrade) => (implementation === null ? unnamed : named)
  /** Those of a list that stand before a position. */
  const before = (list: readonly StoredUpgrade[], at: number): number => {
    let [low, high] = [0, list.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (list[middle]!.position < at) low = middle + 1
      else high = middle
    }
    return low
  }
  const history: UpgradeHistory = {
    add(upgrade) {
      const list = listOf(upgrade)
      const place = before(list, upgrade.position)
      if (list[place]?.position !== upgrade.position) list.splice(place, 0, upgrade)
    },
    named: at => named[before(named, at) - 1],
    unnamed: at => unnamed[before(unnamed, at) - 1],
    within: (from, to) =>
      named.slice(before(named, from), before(named, to)).map(({ implementation }) => implementation!),
    forget(from) {
      for (const list of [named, unnamed]) list.length = before(list, from)
    },
  }
  for (const upgrade of stored) history.add(upgrade)
  return history
}
