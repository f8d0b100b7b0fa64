import { thisUser } from '../accounts/audit.ts'
import { withReserve } from '../accounts/file.ts'
import type { Accounts } from '../accounts/index.ts'
import type { Config } from '../config/index.ts'
import { systemFault } from '../lib/errors.ts'
import { ageClock } from '../lib/last-clock.ts'
import type { Log } from '../lib/log.ts'
import { version } from '../lib/runtime.ts'

/** Time between two looks at what is too old, and between two steps of removing it. */
const LOOK_MS = 60_000
const STEP_MS = 50

/** Notes the start of a server in the audit trail, and removes old entries from it until it is stopped. */
export const keepTrail = (
  { trail, note }: Pick<Accounts, 'trail' | 'note'>,
  { data, keepAudit, limits }: Config,
  log: Log,
): (() => void) => {
  try {
    withReserve(data, () => note(thisUser(), { action: 'serve', detail: { version } }))
  } catch (error) {
    log.warn('Failed to note the start in the audit trail', { error: systemFault(error) ?? error })
  }
  let timer: NodeJS.Timeout
  const removed = { old: 0, surplus: 0 }
  const look = () => {
    let wait = LOOK_MS
    try {
      const now = ageClock(data)
      const { old, surplus, more } = trail.prune({ keepMs: keepAudit, now, most: limits.auditEntries })
      removed.old += old
      removed.surplus += surplus
      if (more) wait = STEP_MS
      else if (removed.old + removed.surplus > 0) {
        const before = new Date(now - keepAudit).toISOString()
        log.info('Removed entries of the audit trail', { old: removed.old, before, aboveAuditEntries: removed.surplus })
        Object.assign(removed, { old: 0, surplus: 0 })
      }
    } catch (error) {
      log.warn('Failed to remove old entries of the audit trail', { error })
    }
    timer = setTimeout(look, wait).unref()
  }
  timer = setTimeout(look, STEP_MS).unref()
  return () => clearTimeout(timer)
}
