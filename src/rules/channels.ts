/**
 * The channels and their parameters. By this table rules are checked, the API is described and the
 * console draws its forms; a file in `delivery/channels/` sends.
 */
export interface Parameter {
  /** In forms. */
  label: string
  hint?: string
  /** `addresses` are email addresses; a `name` is a short text. */
  holds: 'url' | 'addresses' | 'text' | 'name'
  /** A URL whose path allows to send: only its origin is shown. */
  secret?: true
}

const urlParameter = {
  label: 'URL',
  hint: 'A name in braces, such as {hash} or {blockNumber}, is replaced by the value of the document, in path and query.',
  holds: 'url',
} as const

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
} as const satisfies Record<string, Record<string, Parameter>>

export type ChannelType = keyof typeof CHANNELS
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

/** A receiver of each type has all of its parameters. */
export type AlertReceiver = {
  [T in ChannelType]: {
    type: T
    parameters: { -readonly [P in keyof (typeof CHANNELS)[T]]: ParameterValue<(typeof CHANNELS)[T][P] & Parameter> }
  }
}[ChannelType]
