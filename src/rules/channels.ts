/**
 * The channels and their parameters. By this table rules are checked, the API is described and the
 * console draws its forms; a file in `delivery/channels/` sends.
 */
export interface Parameter {
  /** In forms. */
  label: string
  hint?: string
  /** `addresses` are email addresses; a `name` is a short text; a `key` is shown by no answer. */
  holds: 'url' | 'addresses' | 'text' | 'name' | 'key'
  /** A URL whose path allows to send: only its origin is shown. */
  secret?: true
  /** It may be left out. */
  optional?: true
  choices?: readonly string[]
  /** What its text must match, and what that is in words. */
  form?: readonly [pattern: RegExp, what: string]
}

const urlParameter = {
  label: 'URL',
  hint: 'A name in braces, such as {hash} or {blockNumber}, is replaced by the value of the document, in path and query.',
  holds: 'url',
} as const

/** Keys go into headers, URLs and JSON as they are. */
const keyParameter = (label: string, what: string, pattern = /^[\w.:~+/=-]{8,500}$/) =>
  ({ label, holds: 'key', form: [pattern, what] }) as const
const oneOfParameter = (label: string, choices: readonly string[]) =>
  ({ label, holds: 'name', optional: true, choices }) as const
const severity = oneOfParameter('Severity, warning if empty', ['critical', 'error', 'warning', 'info'])

export const CHANNELS = {
  'Webhook (GET)': { url: urlParameter },
  'Webhook (POST)': { url: urlParameter },
  Email: { recipients: { label: 'Recipients, one on each line', holds: 'addresses' } },
  Chat: {
    url: { label: 'URL of the incoming webhook', holds: 'url', secret: true },
    text: { label: 'Text that begins each message', holds: 'text' },
    channel: { label: 'Channel', holds: 'name' },
    username: { label: 'Name of the sender', holds: 'name' },
  },
  PagerDuty: {
    routingKey: keyParameter('Integration key of the service (Events API v2)', 'the integration key of a service'),
    severity,
    url: {
      label: 'URL of the events API',
      hint: 'Empty for https://events.pagerduty.com/v2/enqueue. Other services take the same events.',
      ...{ holds: 'url', optional: true },
    },
  },
  Alertmanager: {
    url: { label: 'URL of Alertmanager, without /api/v2/alerts', holds: 'url' },
    severity,
    lasts: {
      label: 'How long an alert is active',
      hint: 'Such as 30m, 6h or 7d. Empty for one day.',
      ...{ holds: 'name', optional: true, form: [/^[1-9]\d{0,4}[mhd]$/, 'a time such as "30m", "6h" or "7d"'] },
    },
  },
  Telegram: {
    token: keyParameter('Token of the bot', 'the token of a bot, such as 110201543:AAHdqTcvCH…', /^\d+:[\w-]{20,100}$/),
    chat: {
      label: 'Chat',
      hint: 'Its id, such as -1001234567890, or the @name of a channel or group.',
      ...{ holds: 'name', form: [/^(-?\d{1,20}|@\w{1,64})$/, 'the id of a chat, or its @name'] },
    },
    topic: {
      label: 'Topic of the group',
      ...{ holds: 'name', optional: true, form: [/^\d{1,15}$/, 'the id of a topic'] },
    },
    url: {
      label: 'URL of the Bot API',
      hint: 'Empty for https://api.telegram.org.',
      ...{ holds: 'url', optional: true },
    },
  },
  Discord: {
    url: { label: 'URL of the webhook', holds: 'url', secret: true },
    username: { label: 'Name of the sender', holds: 'name', optional: true },
  },
  Teams: { url: { label: 'URL of the workflow', holds: 'url', secret: true } },
  ntfy: {
    url: { label: 'URL of the topic', hint: 'Such as https://ntfy.sh/alerts.', holds: 'url', secret: true },
    priority: oneOfParameter('Priority', ['min', 'low', 'default', 'high', 'max']),
    token: { ...keyParameter('Access token', 'an access token'), optional: true },
  },
  Matrix: {
    url: { label: 'URL of the homeserver', holds: 'url' },
    room: {
      label: 'Id of the room',
      hint: 'Such as !abc:example.org; its settings show it.',
      ...{ holds: 'name', form: [/^![^\s/?#]{1,254}$/, 'the id of a room, such as !abc:example.org'] },
    },
    token: keyParameter('Access token of the sender', 'an access token'),
  },
} as const satisfies Record<string, Record<string, Parameter>>

export type ChannelType = keyof typeof CHANNELS

/** What each receiver gets, for the reference. */
export const CHANNEL_NOTES: Record<ChannelType, string> = {
  'Webhook (GET)': 'A request without a body: its URL and headers carry the values.',
  'Webhook (POST)': 'The alert, as JSON.',
  Email: 'One email to all recipients, as text and HTML.',
  Chat: 'A message to an incoming webhook of Slack (as blocks), Mattermost, Rocket.Chat or Discord (`…/slack`). It begins with `text`, unchanged.',
  PagerDuty: 'An incident (Events API v2) whose `dedup_key` is the id of the alert. A retraction resolves it.',
  Alertmanager:
    'An alert (API v2) with the labels `alertname` (the rule), `alert` (the id), `rule`, `network`, `target` and `severity`. It ends after `lasts`, or by a retraction.',
  Telegram: 'A message of a bot.',
  Discord: 'An embed, by a webhook of Discord.',
  Teams: 'An Adaptive Card, by a workflow that starts with a webhook request.',
  ntfy: 'A notification of at most 4,096 bytes.',
  Matrix: 'A message to a room that is not encrypted, once however often it is tried.',
}
export const CHANNEL_TYPES = Object.keys(CHANNELS) as ChannelType[]

/** Channels whose messages have no place for a payload. */
export const WITHOUT_BODY: ReadonlySet<string> = new Set<ChannelType>(['Webhook (GET)'])

/** Names of types in rules of the original service, with the type that each means. */
export const CHANNEL_ALIASES = { Slack: 'Chat' } as const satisfies Record<string, ChannelType>
export type ChannelAlias = keyof typeof CHANNEL_ALIASES

/** The type that a rule means by a name, if any. */
export const channelNamed = (name: unknown): ChannelType | undefined =>
  CHANNEL_TYPES.find(type => type === name) ??
  (typeof name === 'string' && Object.hasOwn(CHANNEL_ALIASES, name) ? CHANNEL_ALIASES[name as ChannelAlias] : undefined)

type ParameterValue<P extends Parameter> = P['holds'] extends 'addresses' ? string[] : string

type ParametersOf<T, O extends keyof T = { [P in keyof T]: T[P] extends { optional: true } ? P : never }[keyof T]> = {
  -readonly [P in Exclude<keyof T, O>]: ParameterValue<T[P] & Parameter>
} & { -readonly [P in O]?: ParameterValue<T[P] & Parameter> }

/** A receiver of each type has all of its parameters that are not optional. */
export type AlertReceiver = {
  [T in ChannelType]: { type: T; parameters: ParametersOf<(typeof CHANNELS)[T]> }
}[ChannelType]
