import type { Log } from '../lib/log.ts'
import type { Secret } from '../lib/secret.ts'
import type { Action } from '../rules/rule.ts'
import type { Channel } from './channel.ts'
import { createChat } from './chat.ts'
import { createEmail } from './email.ts'
import { createGuard } from './guard.ts'
import { createHttp } from './http.ts'
import type { Lookup } from './names.ts'
import { createWebhook } from './webhook.ts'

export interface ChannelOptions {
  /** Address ranges that webhooks and chats may reach although they are not public. */
  allowed: readonly string[]
  /** URL of the SMTP server. */
  smtp: Secret | undefined
  /** Sender of emails. */
  mailFrom: string | undefined
  /** Longest time for one attempt. */
  timeoutMs?: number
  lookup?: Lookup
  log?: Log
}

export type Channels = ReturnType<typeof createChannels>

export const createChannels = ({ allowed, smtp, mailFrom, timeoutMs = 20_000, lookup, log }: ChannelOptions) => {
  const http = createHttp({ guard: createGuard(allowed), timeoutMs, lookup, log })
  const email = createEmail({ smtp, mailFrom, timeoutMs })
  const channels = {
    'Webhook (GET)': createWebhook(http, 'GET'),
    'Webhook (POST)': createWebhook(http, 'POST'),
    Email: email,
    Chat: createChat(http),
  } satisfies { [T in Action['type']]: Channel<Extract<Action, { type: T }>> }
  return {
    of: (action: Pick<Action, 'type'>): Channel => channels[action.type] as Channel,
    async close() {
      email.close()
      await http.close()
    },
  }
}
