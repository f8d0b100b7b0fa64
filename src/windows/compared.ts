import type { WindowEntry } from './entries.ts'
import { createKeyStates, emptyKeyState, type KeyState } from './key-states.ts'
import { type WindowMeasure, type WindowSpan, type WindowSpec, windowsLong } from './spec.ts'
import type { WindowBlock, WindowLimits } from './window.ts'

export const isOutOf =
  ({ blocks, seconds }: WindowSpan) =>
  (row: WindowBlock, now: WindowBlock): boolean =>
    blocks !== undefined ? row.number <= now.number - blocks : row.time <= now.time - seconds!

/** Whether all of a span up to a block has been seen, from `since` on. */
export const isSeen = (since: WindowBlock | undefined, { blocks, seconds }: WindowSpan, now: WindowBlock): boolean => {
  if (since === undefined) return false
  if (since.number === 0) return true
  return blocks !== undefined ? since.number <= Math.max(0, now.number - blocks + 1) : since.time <= now.time - seconds!
}

/** Windows together with those before them, which conditions with `relativeTo` compare with. */
export const createComparedWindows = (
  { within, conditions, resolve = [] }: WindowSpec,
  measures: readonly WindowMeasure[],
  limits: WindowLimits,
) => {
  const counts = [...new Set([...conditions, ...resolve].flatMap(it => it.relativeTo?.windows ?? []))]
  const spans = counts
    .sort((a, b) => b - a)
    .map(windows => {
      const span = windowsLong(within, windows + 1)
      return { windows, span, states: createKeyStates(measures, limits, isOutOf(span)), isWhole: false }
    })
  const [longest] = spans
  return {
    /** Undefined while some of it is not known. */
    of(windows: number, key: string): KeyState | undefined {
      const { states, isWhole } = spans.find(it => it.windows === windows)!
      return isWhole ? (states.get(key) ?? emptyKeyState(measures)) : undefined
    },
    /** Undefined if nothing is compared. */
    get size() {
      return longest?.states.size
    },
    oldest: () => longest?.states.oldest(),
    /** Returns the entries that had room. */
    put(block: WindowBlock, entries: readonly WindowEntry[], mayRefuse: boolean): readonly WindowEntry[] {
      let taken = entries
      for (const one of spans) taken = one.states.put(block, taken, mayRefuse && one === longest)
      return taken
    },
    leave(now: WindowBlock, since: WindowBlock, touched: Set<string>) {
      for (const one of spans) {
        one.states.leave(now, touched)
        one.isWhole = isSeen(since, one.span, now)
      }
    },
    dropEmpty(touched: Iterable<string>) {
      for (const { states } of spans) for (const key of touched) states.dropEmpty(key)
    },
    settle(now: WindowBlock) {
      const touched = new Set<string>()
      for (const { states } of spans) states.leave(now, touched)
      this.dropEmpty(touched)
    },
  }
}
