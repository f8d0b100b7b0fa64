import type { Config } from '../config/index.ts'
import { checkMailServer } from '../delivery/channels/email.ts'
import { about, type Finding } from './finding.ts'
import { enabledRules } from './rules.ts'

/** The mail server: whether it takes a connection, encrypts it, and knows user and password. No mail is sent. */
export async function* checkMail({ data, smtp, deliveryTimeout }: Config): AsyncGenerator<Finding> {
  if (!smtp) {
    const { ok, fail } = about('mail', 'mail server')
    const rules = enabledRules(data).filter(({ input }) => input.config.alerts.some(({ type }) => type === 'Email'))
    yield rules.length === 0
      ? ok('none is configured, and no rule sends email')
      : fail(
          `none is configured, and ${rules.length === 1 ? 'rule' : 'rules'} ${rules.map(({ id }) => id).join(', ')} would send email`,
          'Set --smtp, or change the rules.',
        )
    return
  }
  const { ok, warn, fail } = about('mail', String(smtp))
  const timeoutMs = Math.min(deliveryTimeout, PATIENCE_MS)
  const fault = await checkMailServer({ smtp, timeoutMs, encrypted: true })
  if (fault === undefined) return yield ok('takes a connection, encrypts it, and accepts the credentials, if any')
  const other = await checkMailServer({ smtp, timeoutMs, encrypted: false })
  if (other !== undefined) return yield fail(other, REMEDY)
  yield warn(
    'takes a connection and accepts the credentials, if any, but does not encrypt it',
    'Use a server with STARTTLS, or smtps:// if it has it: alerts travel in plain text.',
  )
}

const REMEDY =
  'Check host, port, user and password in --smtp: smtp://user:password@host:587, or smtps://… for TLS from the start (465).'
const PATIENCE_MS = 10_000
