import type { Log } from '../lib/log.ts'

/** Why rules, or all rules of an account, did not do all that they should. Each is logged once, however often it happens, until they are changed. */
export interface Troubles {
  readonly all: ReadonlyMap<number, string>
  add(id: number, why: string, error?: unknown): void
  forget(id: number): void
}

/** More are logged, and no longer kept: they go to the main thread with every report. */
const MOST = 1_000

const MESSAGES = {
  rule: 'A rule does not work as it should',
  account: 'The rules of an account do not work as they should',
}

export const createTroubles = (log: Log, of: 'rule' | 'account'): Troubles => {
  const all = new Map<number, string>()
  return {
    all,
    add(id, why, error) {
      const known = all.delete(id)
      all.set(id, why)
      if (!known) log.error(MESSAGES[of], { [of]: id, why, ...(error !== undefined && { error }) })
      if (all.size > MOST) for (const oldest of all.keys()) return void all.delete(oldest)
    },
    forget: id => void all.delete(id),
  }
}
