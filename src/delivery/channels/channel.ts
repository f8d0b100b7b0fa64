import type { AlertWindow } from '../../alerts/alert.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Action, Confirmations, TargetType } from '../../rules/rule.ts'
import type { Http } from '../http.ts'
import type { AlertLinks } from '../links.ts'

/** Outcome of one attempt. `head`: start of the receiver's answer, a line of ≤ 1,000 characters. */
export type SendOutcome =
  | { type: 'delivered'; status: number | null; head: string; error?: string }
  /** Temporary: retry, not before `retryAfterMs`. `status` is null without an answer. */
  | { type: 'retry'; why: string; status: number | null; head: string; retryAfterMs?: number }
  /** The receiver answered 410: the delivery is dead and its destination is disabled. */
  | { type: 'gone'; why: string; status: number; head: string }
  /** The action can never succeed, as without an SMTP server: the delivery is dead at once. */
  | { type: 'refused'; why: string; status?: number; head?: string }

export type MessageType =
  | 'alert.confirmed'
  | 'alert.pending'
  | 'alert.repeated'
  | 'alert.resolved'
  | 'alert.retracted'
  | 'alert.test'
  | 'alert.group'

export interface AlertMessage {
  /** The alert's id, the same in all its messages. */
  id: string
  type: MessageType
  /** Of `alert.repeated`: the block that it tells of. */
  repeat?: number | undefined
  rule: { id: number; name: string; version: number | null }
  /** `technology/blockchain/network`. */
  network: string
  targetType: TargetType
  /** Confirmations that the rule asks for, or the block tag that it waits for. */
  confirmations: Confirmations
  entity: { _id: string; _type: string; blockNumber: number }
  /** Of an alert of windows. */
  when?: AlertWindow | undefined
  /** `_source` of the entity, read by `readSource`: integers keep every digit. */
  source: Record<string, unknown>
  /** Epoch milliseconds of the alert's change of state: the same for every attempt. */
  timestamp: number
  /** Of `alert.group`: its messages. The rest of it is that of the first, but id, type and timestamp. */
  group?: readonly AlertMessage[]
}

export interface SendContext {
  /** The account of the delivery: accounts share no connections. */
  account: number
  /** Signing secrets `whsec_…` for webhooks, newest first; two during a rotation. */
  secrets: readonly string[]
  /** Ends the attempt when the program stops. */
  signal: AbortSignal
  /** Epoch milliseconds, the `webhook-timestamp`. */
  now: number
  /** The id of several messages in one, the same in every attempt. */
  group?: string | undefined
}

/** How long messages wait that may be combined. */
export const DIGEST_MS = 120_000

/** One way to notify receivers. It knows neither the store nor the schedule. */
export interface Channel<A extends Action = Action> {
  /** Messages of one rule and action may be combined; otherwise `send` takes exactly one. */
  readonly combines?: true
  /** Whether several messages of a rule for the action can be one, with `group` in the context. */
  groups(action: A): boolean
  /** Isolates deliveries from others: the origin of a URL, or the SMTP server. Never throws. */
  destination(action: A): string
  /** The target as its owner and the log may see it, secrets in URLs hidden. Never throws. */
  shown(action: A): string
  /**
   * One attempt. Any fault of the receiver, network or action is an outcome, with texts free of
   * secrets. Rejects with the signal's reason on abort: the receiver may have got it or not.
   * Any other rejection is a bug.
   */
  send(action: A, messages: readonly AlertMessage[], context: SendContext): Promise<SendOutcome>
  close?(): void
}

export type ActionPreview =
  | { method: 'GET' | 'POST' | 'PUT'; url: string; body: object | null }
  | { to: string[]; subject: string; text: string }
  | { refused: string }

export interface Transports {
  http: Http
  links: AlertLinks
  /**
   * `smtp://user:password@host:port` (STARTTLS if offered) or `smtps://…`; the query has
   * nodemailer's options (`?tls.rejectUnauthorized=false`). Credentials are encrypted, except to
   * this machine or with `?requireTLS=false`.
   */
  smtp: Secret | undefined
  /** Sender of emails, `Name <address>` or an address. */
  mailFrom: string | undefined
  /** Timeout of one attempt. */
  timeoutMs: number
}

/** A type of action: a file in this folder, and a line in `index.ts`. */
export interface ChannelKind<A extends Action = Action> {
  receiver(action: A): string
  /** Sends nothing. URLs are shown in full, to their owner. */
  preview(action: A, message: AlertMessage, links: AlertLinks): ActionPreview
  open(transports: Transports): Channel<A>
}

export interface ChannelOf {
  of(action: Pick<Action, 'type'>): Channel
}
