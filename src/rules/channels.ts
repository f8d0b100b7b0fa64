/**
 * The ways of notifying, and what each asks for. Rules are checked by this table, the API describes it, and the
 * console draws its forms from it, so that a new way is declared here and sent by a file in `delivery/`.
 */
export interface Parameter {
  /** What forms call it. */
  label: string
  hint?: string
  /** `addresses` is a list of addresses of email; a `name` is a short text. */
  holds: 'url' | 'addresses' | 'text' | 'name'
  /** Of a URL: whoever knows its path may send, so that only its origin is shown. */
  secret?: true
}

const url = {
  label: 'URL',
  hint: 'A name in braces, such as {hash} or {blockNumber}, is replaced by the value of the document, in path and query.',
  holds: 'url',
} as const

export const CHANNELS = {
  'Webhook (GET)': { url },
  'Webhook (POST)': { url },
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

type Held<P extends Parameter> = P['holds'] extends 'addresses' ? string[] : string

/** A receiver of each type with its parameters, all of which it must have. */
export type Receiver = {
  [T in ChannelType]: {
    type: T
    parameters: { -readonly [P in keyof (typeof CHANNELS)[T]]: Held<(typeof CHANNELS)[T][P] & Parameter> }
  }
}[ChannelType]
