import type { Visible } from '../cluster/visible.ts'
import { versionOf } from '../engine/versioned.ts'
import type { Db } from '../sqlite/database.ts'

/** What searches of a network in a cluster see, as long as nothing changes that an answer may depend on. */
export interface ClusterState {
  /** Another one for each state. */
  number: number
  visible: Visible
}

/** The store does not tell of all that changes: of an index that somebody deleted, say, or of a cluster that is gone. That is seen after so long. */
export const STATE_MS = 5_000

/** Tells the state of this turn: the same object until another connection writes to the store, whatever it writes. */
export const createClusterStates = (
  db: Db,
  visible: () => Visible,
  now: () => number = () => performance.now(),
): (() => ClusterState) => {
  const versionNow = versionOf(db)
  const read = db.transaction(visible)
  let known: { version: number; until: number; state: ClusterState } | undefined
  return () => {
    const version = versionNow()
    const at = now()
    if (known?.version === version && at < known.until) return known.state
    const number = (known?.state.number ?? 0) + 1
    const state = { number, visible: read() }
    known = { version, until: at + STATE_MS, state }
    return state
  }
}
