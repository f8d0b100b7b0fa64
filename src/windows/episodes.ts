import type { WindowSpan } from './spec.ts'
import type { WindowBlock } from './window.ts'

/** What a block changes of the episodes of a rule. */
export interface EpisodeChanges {
  /** Keys whose episode begins. */
  opened: string[]
  /** Keys whose episode ends. */
  ended: string[]
  /** Keys that begin to hold, and open once they have done so for long enough. */
  began: string[]
  /** Keys that held, but not for long enough. */
  broke: string[]
}

/**
 * Episodes of the keys of a rule. With `hold`, one opens only after its verdict has been true for so
 * many blocks or seconds without a break; a verdict that is undecided is a break, too.
 */
export const createEpisodes = (hold: WindowSpan | undefined) => {
  const open = new Set<string>()
  /** Where each key began to hold, in the order of these blocks. */
  const holding = new Map<string, WindowBlock>()

  const isLongEnough = (began: WindowBlock, now: WindowBlock): boolean =>
    hold?.blocks !== undefined ? now.number >= began.number + hold.blocks : now.time >= began.time + hold!.seconds!

  return {
    isOpen: (key: string): boolean => open.has(key),
    open: open as ReadonlySet<string>,
    setOpen(all: Iterable<string>) {
      open.clear()
      for (const key of all) open.add(key)
    },
    /** In the order of their blocks. */
    setHolding(all: Iterable<readonly [string, WindowBlock]>) {
      holding.clear()
      for (const [key, began] of all) holding.set(key, began)
    },

    /** Takes the verdict of a key at a block. `mayEnd` is asked where an episode no longer holds. */
    decide(key: string, verdict: boolean | undefined, now: WindowBlock, mayEnd: () => boolean, to: EpisodeChanges) {
      if (open.has(key)) {
        if (verdict !== false || !mayEnd()) return
        open.delete(key)
        to.ended.push(key)
      } else if (verdict !== true) {
        if (holding.delete(key)) to.broke.push(key)
      } else if (hold === undefined) {
        open.add(key)
        to.opened.push(key)
      } else if (!holding.has(key)) {
        holding.set(key, now)
        to.began.push(key)
      }
    },
    /** Opens what has held for long enough, after all verdicts of a block. */
    openHeld(now: WindowBlock, to: EpisodeChanges) {
      for (const [key, began] of holding) {
        if (!isLongEnough(began, now)) return
        holding.delete(key)
        open.add(key)
        to.opened.push(key)
      }
    },
  }
}

export const noChanges = (): EpisodeChanges => ({ opened: [], ended: [], began: [], broke: [] })
