import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { thisUser } from '../../accounts/audit.ts'
import { ACCOUNTS_FILE } from '../../accounts/file.ts'
import type { Log } from '../../lib/log.ts'
import { redact } from '../../lib/secret.ts'
import type { Services } from '../index.ts'
import type { Typed } from './arguments.ts'

/** Writes to the audit trail what was done at the command line. A folder without accounts has no trail. */
export const noteAct = (
  services: Services,
  data: string,
  { command, args, settings, options }: Extract<Typed, { wants: 'run' }>,
  log: Log,
): void => {
  if (!existsSync(join(data, ACCOUNTS_FILE))) return
  const network = settings.network === undefined ? {} : { network: settings.network }
  const detail = { ...network, ...options }
  try {
    const accounts = services.openAccounts(data)
    try {
      accounts.trail.record(thisUser(), {
        action: command.name,
        ...(args.length > 0 && { target: redact(args.join(' ')).slice(0, LONGEST) }),
        ...(Object.keys(detail).length > 0 && { detail }),
      })
    } finally {
      accounts.close()
    }
  } catch (error) {
    log.warn('Failed to write to the audit trail', { command: command.name, error })
  }
}

const LONGEST = 1_000
