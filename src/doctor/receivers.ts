import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { ACCOUNTS_FILE } from '../accounts/file.ts'
import type { Config } from '../config/index.ts'
import { checkMailServer } from '../delivery/channels/email.ts'
import { receiverOfAction } from '../delivery/channels/index.ts'
import { createNameLookups } from '../delivery/dns.ts'
import { explainFault, parseTarget } from '../delivery/http.ts'
import { createGuard, type Guard } from '../delivery/ssrf-guard.ts'
import { nativeOption } from '../lib/runtime.ts'
import { actionsOf, type StoredRule } from '../rules/rule.ts'
import { openRules } from '../rules/store.ts'
import { type Finding, findingsAbout } from './finding.ts'

interface WebhookOrigin {
  url: URL
  rules: Set<number>
}

/** Checks name, guard and connection of each rule's receivers. Sends nothing to them. */
export async function* checkWebhooks(config: Config, signal: AbortSignal): AsyncGenerator<Finding> {
  const targets = targetsOf(config.data)
  if (targets.length === 0) return yield findingsAbout('webhook', 'webhooks').ok('no rule has one')
  const guard = createGuard(config.allowTarget)
  const timeoutMs = Math.min(config.deliveryTimeout, CONNECT_TIMEOUT_MS)
  for (let at = 0; at < Math.min(targets.length, MAX_RECEIVERS); at += RECEIVERS_AT_ONCE) {
    signal.throwIfAborted()
    yield* await Promise.all(targets.slice(at, at + RECEIVERS_AT_ONCE).map(it => checkTarget(it, guard, timeoutMs)))
  }
  if (targets.length > MAX_RECEIVERS)
    yield findingsAbout('webhook', 'webhooks').ok(
      `${targets.length - MAX_RECEIVERS} further receivers were not looked at`,
    )
}

/** Grouped by origin: paths hold secrets, and lead to the same server. */
const targetsOf = (data: string): WebhookOrigin[] => {
  const found = new Map<string, WebhookOrigin>()
  for (const { id, input } of enabledRules(data))
    for (const action of actionsOf(input)) {
      const url = parseTarget(receiverOfAction(action))
      if (!url) continue
      const target = found.get(url.origin) ?? { url, rules: new Set() }
      target.rules.add(id)
      found.set(url.origin, target)
    }
  return [...found.values()]
}

const checkTarget = async ({ url, rules }: WebhookOrigin, guard: Guard, timeoutMs: number): Promise<Finding> => {
  const { ok, fail } = findingsAbout(
    'webhook',
    `${url.origin} (${rules.size === 1 ? 'rule' : 'rules'} ${[...rules].slice(0, MAX_NAMED_RULES).join(', ')})`,
  )
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const inward = (why: string) =>
    fail(`${host} is ${why}: alerts are not sent there`, 'Allow its range with --allow-target, or change the rule.')
  const refused = guard.refusedHost(url.hostname)
  if (refused !== undefined) return inward(refused)
  try {
    const addresses = await createNameLookups()()(host)
    if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
    for (const { address } of addresses) {
      const why = guard.refused(address)
      if (why !== undefined) return inward(`at ${address}, ${why}`)
    }
    await connectTo(url, host, addresses[0]!.address, timeoutMs)
    return ok(`takes a connection${url.protocol === 'https:' ? ', and its certificate is good' : ''}`)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return fail(
      explainFault(code, host) ?? `${host} cannot be reached (${code || 'no code'})`,
      'Check the URL of the rule, the receiver, and the firewall between.',
    )
  }
}

/** Connects, with a handshake for TLS, and disconnects. */
const connectTo = (url: URL, host: string, address: string, timeoutMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:'
    const port = Number(url.port) || (secure ? 443 : 80)
    const done = () => {
      socket.destroy()
      resolve()
    }
    // An IP address is not a server name.
    const servername = host === address ? {} : { servername: host }
    const socket = secure
      ? connectTls({ host: address, port, ...servername }, done)
      : connect({ host: address, port }, done)
    socket.setTimeout(timeoutMs, () => socket.destroy(Object.assign(new Error('late'), { code: 'ETIMEDOUT' })))
    socket.on('error', error => {
      socket.destroy()
      reject(error)
    })
  })

const CONNECT_TIMEOUT_MS = 5_000
const RECEIVERS_AT_ONCE = 8
const MAX_RECEIVERS = 200
const MAX_NAMED_RULES = 5

/** Checks connection, encryption and login of the mail server. Sends no mail. */
export async function* checkMail({ data, smtp, deliveryTimeout }: Config): AsyncGenerator<Finding> {
  if (!smtp) {
    const { ok, fail } = findingsAbout('mail', 'mail server')
    const rules = enabledRules(data).filter(({ input }) => actionsOf(input).some(({ type }) => type === 'Email'))
    yield rules.length === 0
      ? ok('none is configured, and no rule sends email')
      : fail(
          `none is configured, and ${rules.length === 1 ? 'rule' : 'rules'} ${rules.map(({ id }) => id).join(', ')} would send email`,
          'Set --smtp, or change the rules.',
        )
    return
  }
  const { ok, warn, fail } = findingsAbout('mail', String(smtp))
  const timeoutMs = Math.min(deliveryTimeout, MAIL_PATIENCE_MS)
  const fault = await checkMailServer({ smtp, timeoutMs, encrypted: true })
  if (fault === undefined) return yield ok('takes a connection, encrypts it, and accepts the credentials, if any')
  const other = await checkMailServer({ smtp, timeoutMs, encrypted: false })
  if (other !== undefined) return yield fail(other, MAIL_REMEDY)
  yield warn(
    'takes a connection and accepts the credentials, if any, but does not encrypt it',
    'Use a server with STARTTLS, or smtps:// if it has it: alerts travel in plain text.',
  )
}

const MAIL_REMEDY =
  'Check host, port, user and password in --smtp: smtp://user:password@host:587, or smtps://… for TLS from the start (465).'
const MAIL_PATIENCE_MS = 10_000

/** Active rules of all accounts. */
const enabledRules = (data: string): StoredRule[] => {
  if (!existsSync(join(data, ACCOUNTS_FILE))) return []
  const rules = openRules(data, nativeOption(data))
  try {
    return rules.all().filter(({ enabled, unfit }) => enabled && unfit === undefined)
  } finally {
    rules.close()
  }
}
