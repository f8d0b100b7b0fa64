import type { Log } from '../lib/log.ts'
import type { StoredRule } from '../rules/rule.ts'

/** Why rules did not do all that they should. Each is logged once, however often it happens, until the rule is changed. */
export interface Troubles {
  readonly all: ReadonlyMap<number, string>
  add(rule: Pick<StoredRule, 'id'>, why: string, error?: unknown): void
  forget(id: number): void
}

/** More are logged, and no longer kept: they go to the main thread with every report. */
const MOST = 1_000

export const createTroubles = (log: Log): Troubles => {
  const all = new Map<number, string>()
  return {
    all,
    add({ id }, why, error) {
      const known = all.delete(id)
      all.set(id, why)
      if (!known)
        log.error('A rule does not do all that it should', { rule: id, why, ...(error !== undefined && { error }) })
      if (all.size > MOST) for (const oldest of all.keys()) return void all.delete(oldest)
    },
    forget: id => void all.delete(id),
  }
}
