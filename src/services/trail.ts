import { thisUser } from '../accounts/audit.ts'
import type { Accounts } from '../accounts/index.ts'
import type { Config } from '../config/index.ts'
import type { Log } from '../lib/log.ts'
import { version } from '../lib/runtime.ts'

/** Time between two looks at what is too old, and between two steps of removing it. */
const LOOK_MS = 60_000
const STEP_MS = 50

/** Notes the start of a server in the audit trail, and removes old entries from it until it is stopped. */
export const keepTrail = (
  { trail, note }: Pick<Accounts, 'trail' | 'note'>,
  { keepAudit, limits }: Config,
  log: Log,
): (() => void) => {
  note(thisUser(), { action: 'serve', detail: { version } })
  let timer: NodeJS.Timeout
  const look = () => {
    let wait = LOOK_MS
    try {
      if (trail.prune({ keepMs: keepAudit, most: limits.auditEntries })) wait = STEP_MS
    } catch (error) {
      log.warn('Failed to remove old entries of the audit trail', { error })
    }
    timer = setTimeout(look, wait).unref()
  }
  timer = setTimeout(look, STEP_MS).unref()
  return () => clearTimeout(timer)
}
