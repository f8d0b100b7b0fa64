import { createHash } from 'node:crypto'
import { domainToASCII } from 'node:url'
import type { SendMailOptions } from 'nodemailer'
import { lazy } from '../../lib/caches.ts'
import { withTimeout } from '../../lib/retry.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Action } from '../../rules/rule.ts'
import { answerHead, explainFault, TIMED_OUT, timedOut } from '../http.ts'
import { plainLine } from '../text.ts'
import type { Channel, ChannelKind, SendOutcome, Transports } from './channel.ts'
import { renderMail } from './mail.ts'

type Email = Extract<Action, { type: 'Email' }>

export const email: ChannelKind<Email> = {
  receiver: ({ parameters }) => parameters.recipients.map(plainLine).join(', '),
  preview(action, message, links) {
    const { subject, text } = renderMail(action, [message], links)
    return { to: action.parameters.recipients.map(it => plainLine(it).trim()), subject, text }
  },
  open: transports => createEmail(transports),
}

/**
 * One mail to all recipients. If the server accepts only some, the rest is retried alone until a
 * restart; then all get the mail again, with the same `Message-ID`. Permanently rejected recipients
 * (550, 551, 553) are listed in the ledger; if no others remain, the delivery is refused.
 */
export const createEmail = ({ smtp, mailFrom, timeoutMs, links }: Omit<Transports, 'http'>) => {
  const server = smtp && URL.parse(smtp.reveal())
  /** One per account, so that slow recipients block no other account. */
  const transports = new Map<number, ReturnType<typeof openMailTransport>>()
  const transportOf = (mailer: Mailer, account: number) => {
    let found = transports.get(account)
    if (!found && server) {
      found = openMailTransport(mailer, server, timeoutMs)
      transports.set(account, found)
    }
    return found
  }
  /** Recipients that already have a mail, by Message-ID; the oldest are evicted. */
  const partly = new Map<string, Set<string>>()

  const channel: Channel<Email> & { close(): void } = {
    combines: true,
    groups: () => true,
    destination: () => (server ? `${server.protocol}//${server.host}` : 'smtp:'),
    shown: email.receiver,
    close() {
      for (const transport of transports.values())
        (transport as { close(options: { force: boolean }): void }).close({ force: true })
    },

    async send(action, messages, { account, signal, group }) {
      const transport = transportOf(await mailer(), account)
      if (!transport || mailFrom === undefined) return { type: 'refused', why: UNCONFIGURED }
      const recipients = [...new Set(action.parameters.recipients.map(normalAddress))]
      const bad = recipients.filter(it => !EMAIL_ADDRESS.test(it))
      const id = messageId(action, group ?? messages.map(({ type, id }) => [type, id]), mailFrom)
      const had = partly.get(id) ?? new Set<string>()
      const wanted = recipients.filter(it => EMAIL_ADDRESS.test(it) && !had.has(it))
      if (wanted.length === 0) return mailResult(had, bad.map(NO_ADDRESS))

      const mail: SendMailOptions & { signal?: AbortSignal } = {
        ...renderMail(action, messages, links),
        from: mailFrom,
        to: recipients.filter(it => EMAIL_ADDRESS.test(it)).map(address => ({ name: '', address })),
        envelope: { from: mailFrom, to: wanted },
        messageId: id,
        headers: {
          'Auto-Submitted': 'auto-generated',
          'X-Chainsieve-Alert': messages
            .slice(0, MAX_IDS)
            .map(it => it.id)
            .join(' '),
        },
        disableFileAccess: true,
        disableUrlAccess: true,
      }
      // Mail readers group messages of one alert by it.
      if (messages.length === 1) mail.references = `<${shortDigest(messages[0]!.id)}@${domainOf(mailFrom)}>`

      let answer: MailAnswer
      try {
        answer = await withTimeout(timeoutMs, signal, timedOut, async inner =>
          transport.sendMail({ ...mail, signal: inner } as SendMailOptions),
        )
      } catch (error) {
        if (signal.aborted) throw signal.reason
        const fault = error as MailFault
        if (!fault.rejectedErrors?.length) return mailFailure(error === TIMED_OUT ? undefined : fault, timeoutMs)
        answer = { response: fault.response ?? '', rejectedErrors: fault.rejectedErrors }
      }

      const rejected = new Map((answer.rejectedErrors ?? []).map(it => [normalAddress(it.recipient ?? ''), it]))
      for (const recipient of wanted) if (!rejected.has(recipient)) had.add(recipient)
      const putOff = [...rejected].filter(([, it]) => !NEVER.has(it.responseCode ?? 0))
      if (putOff.length === 0) {
        partly.delete(id)
        const refused = [...rejected].map(([recipient, it]) => `${recipient}: ${answerHead(it.response ?? '')}`)
        return mailResult(had, [...bad.map(NO_ADDRESS), ...refused], answer.response)
      }
      if (had.size > 0) rememberPartial(partly, id, had)
      const [recipient, first] = putOff[0]!
      const others = putOff.length > 1 ? ` and ${putOff.length - 1} more` : ''
      return {
        type: 'retry',
        why: `the SMTP server deferred ${recipient}${others}; ${had.size} of ${recipients.length} recipients have it`,
        status: first.responseCode ?? null,
        head: answerHead(first.response ?? ''),
      }
    },
  }
  return channel
}

/** Connects and logs in without sending; returns why that failed. `encrypted`: TLS is required. */
export const checkMailServer = async ({
  smtp,
  timeoutMs,
  encrypted,
}: {
  smtp: Secret
  timeoutMs: number
  encrypted: boolean
}): Promise<string | undefined> => {
  const transport = openMailTransport(await mailer(), new URL(smtp.reveal()), timeoutMs, encrypted)
  try {
    await withTimeout(timeoutMs, new AbortController().signal, timedOut, () => transport.verify())
    return undefined
  } catch (error) {
    const outcome = mailFailure(error === TIMED_OUT ? undefined : (error as MailFault), timeoutMs)
    return 'why' in outcome ? outcome.why : undefined
  } finally {
    transport.close()
  }
}

/** Loaded lazily: it is slow to load. */
const mailer = lazy(() => import('nodemailer'))
type Mailer = Awaited<ReturnType<typeof mailer>>

const openMailTransport = ({ createTransport }: Mailer, server: URL, timeoutMs: number, encrypted = false) => {
  const local = /^(localhost|127\.[\d.]+|\[::1\])$/.test(server.hostname)
  const requireTLS = encrypted || (server.username !== '' && !local && !server.searchParams.has('requireTLS'))
  return createTransport({
    url: server.href,
    pool: true,
    maxConnections: SMTP_CONNECTIONS,
    // An idle connection that the server closed is replaced once.
    maxRequeues: 1,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    ...(requireTLS && { requireTLS }),
  } as Parameters<Mailer['createTransport']>[0] & { pool: true })
}

interface MailFault {
  code?: string
  /** The system's code, if `code` is the library's. */
  originalCode?: string
  response?: string
  responseCode?: number
  recipient?: string
  rejectedErrors?: MailFault[]
}

interface MailAnswer {
  response: string
  rejectedErrors?: MailFault[]
}

const mailResult = (had: ReadonlySet<string>, refused: readonly string[], response = ''): SendOutcome => {
  const never = refused.length === 0 ? '' : `refused ${refused.join('; ')}`
  if (had.size === 0)
    return { type: 'refused', why: answerHead(`the SMTP server ${never || 'was given no recipient'}`) }
  const error = never === '' ? {} : { error: answerHead(`the SMTP server ${never}`) }
  return { type: 'delivered', status: 250, head: answerHead(response), ...error }
}

/** Contains only codes and the server's words: a library's message may reveal more. */
const mailFailure = (fault: MailFault | undefined, timeoutMs: number): SendOutcome => {
  if (fault === undefined)
    return { type: 'retry', why: `the SMTP server took longer than ${timeoutMs / 1000} s`, status: null, head: '' }
  const { code = 'no code', originalCode = code, responseCode: status = null, response = '' } = fault
  if (code === 'EAUTH')
    return { type: 'retry', why: 'the SMTP server refused the user name or the password', status, head: '' }
  const why =
    status === null
      ? (explainFault(originalCode, SMTP_SERVER) ??
        `${SMTP_SERVER} ${FAULTS[code] ?? 'could not be used'} (${originalCode})`)
      : `${SMTP_SERVER} answered ${status}`
  return { type: 'retry', why, status, head: answerHead(response) }
}

const SMTP_SERVER = 'the SMTP server'
const FAULTS: Record<string, string> = {
  ECONNECTION: 'closed the connection',
  EDNS: 'cannot be resolved',
  ETLS: 'failed in the TLS handshake',
}

/** The same for every attempt of the same messages and action. */
const messageId = (action: Email, messages: unknown, from: string): string => {
  const what = [action.parameters.recipients, action.payload ?? null, messages]
  return `<${shortDigest(JSON.stringify(what))}@${domainOf(from)}>`
}

const shortDigest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 40)
const domainOf = (from: string): string => /@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? 'chainsieve.invalid'

/** The form in which the library returns addresses. */
const normalAddress = (address: string): string => {
  const at = address.lastIndexOf('@')
  return at < 0 ? address : `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1)) || address.slice(at + 1)}`
}

const rememberPartial = (partly: Map<string, Set<string>>, id: string, had: Set<string>) => {
  partly.delete(id)
  partly.set(id, had)
  if (partly.size > MAX_REMEMBERED) partly.delete(partly.keys().next().value!)
}

const NO_ADDRESS = (text: string) => `${plainLine(text)}: no email address`
/** Looser than the check of rules; excludes text that could form a command or a header. */
const EMAIL_ADDRESS = /^[^\s<>@,;:"()\\]+@[^\s<>@,;:"()\\]+$/
/** Permanent: unknown mailbox, not local, or an invalid name. */
const NEVER = new Set([550, 551, 553])
const MAX_IDS = 100
const SMTP_CONNECTIONS = 4
const MAX_REMEMBERED = 10_000
const UNCONFIGURED =
  'SMTP is not configured: the operator has to set a server and a sender (settings smtp and mail-from); then redeliver'
