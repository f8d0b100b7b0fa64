import type { Answers, Body, Schema } from './schema.ts'

/** One method of one path. */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'delete'
  path: string
  tag: Tag
  doc: string
  /** No token is needed. */
  open?: true
  /** Names of URL parameters. */
  query?: readonly string[]
  /** Values of URL parameters that mean something else in other operations. */
  values?: Readonly<Record<string, Schema>>
  /** Names of headers of the request. */
  headers?: readonly string[]
  body?: Body
  /** By status; all others are errors. */
  answers: Answers
}

export type Tag = keyof typeof TAGS

export const TAGS = {
  Search: 'Documents of one network, in the dialect of Elasticsearch 7.',
  Elasticsearch: 'What clients and tools of Elasticsearch ask besides.',
  Rules: 'Alert rules of the account, their alerts and deliveries.',
  Management: 'Accounts, ABIs, decoding again, and figures of the server.',
  Server: 'The server itself.',
} as const

/** URL parameters that clients send everywhere. */
export const EVERYWHERE = ['access_token', 'pretty', 'human', 'error_trace', 'filter_path'] as const
