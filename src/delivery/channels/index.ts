import { lazy } from '../../lib/caches.ts'
import type { Log } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import { CHANNEL_TYPES } from '../../rules/channels.ts'
import type { Action } from '../../rules/rule.ts'
import type { Lookup } from '../dns.ts'
import { createHttpTransport } from '../http.ts'
import { type AlertLinks, NO_LINKS } from '../links.ts'
import { createGuard } from '../ssrf-guard.ts'
import { alertmanager } from './alertmanager.ts'
import type { ActionPreview, AlertMessage, Channel, ChannelKind } from './channel.ts'
import { chat } from './chat.ts'
import { discord } from './discord.ts'
import { email } from './email.ts'
import { matrix } from './matrix.ts'
import { ntfy } from './ntfy.ts'
import { pagerduty } from './pagerduty.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { webhook } from './webhook.ts'

/** Parameters of each channel and their checks are in `rules/channels.ts`. */
const CHANNEL_KINDS = {
  'Webhook (GET)': webhook('GET'),
  'Webhook (POST)': webhook('POST'),
  Email: email,
  Chat: chat,
  PagerDuty: pagerduty,
  Alertmanager: alertmanager,
  Telegram: telegram,
  Discord: discord,
  Teams: teams,
  ntfy,
  Matrix: matrix,
} satisfies { [T in Action['type']]: ChannelKind<Extract<Action, { type: T }>> }

const channelKind = ({ type }: Pick<Action, 'type'>) => CHANNEL_KINDS[type] as ChannelKind

export const preview = (action: Action, message: AlertMessage, links = NO_LINKS): ActionPreview =>
  channelKind(action).preview(action, message, links)

/** Identifies a receiver across rules: one host may have many. */
export const receiverOfAction = (action: Action): string => channelKind(action).receiver(action)

/** Whether several messages of a rule go to a receiver as one: by `notify.group`, or always. */
export const joinsMessages = (action: Action): { groups: boolean; combines: boolean } => {
  const { groups, combines = false } = unsent().of(action)
  return { groups: groups(action), combines }
}

interface ChannelOptions {
  /** Non-public address ranges that webhooks and chats may reach. */
  allowed: readonly string[]
  smtp: Secret | undefined
  /** Sender of emails. */
  mailFrom: string | undefined
  /** Timeout of one attempt. */
  timeoutMs?: number
  links?: AlertLinks
  lookup?: Lookup
  log?: Log
}

export const createChannels = (options: ChannelOptions) => {
  const { allowed, smtp, mailFrom, timeoutMs = 20_000, links = NO_LINKS, lookup, log } = options
  const http = createHttpTransport({ guard: createGuard(allowed), timeoutMs, lookup, log })
  const channels = new Map(
    CHANNEL_TYPES.map(type => [type, channelKind({ type }).open({ http, links, smtp, mailFrom, timeoutMs })]),
  )
  return {
    of: ({ type }: Pick<Action, 'type'>): Channel => channels.get(type)!,
    async close() {
      for (const channel of channels.values()) channel.close?.()
      await http.close()
    },
  }
}

/** Channels that send nothing. */
const unsent = lazy(() => createChannels({ allowed: [], smtp: undefined, mailFrom: undefined }))
