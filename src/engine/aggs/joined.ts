import type { JoinedAggregating } from './aggregations.ts'

/** Aggregations over several stores as JSON text: what is found in each is added to what the first one's aggregators have. */
export const renderJoined = (each: readonly JoinedAggregating[], typedKeys: boolean): string => {
  const made: unknown[] = []
  const [first, ...others] = each.map(begin => {
    // All ask for the same, in the same order.
    let asked = 0
    return begin(<T>(make: () => T): T => {
      const place = asked++
      made[place] ??= make()
      return made[place] as T
    })
  })
  first!.collect()
  for (const other of others) other.collect(first!.inner)
  return first!.text(typedKeys)
}
