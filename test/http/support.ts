import assert from 'node:assert/strict'
import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../../src/accounts/index.ts'
import { type AppServices, createApp } from '../../src/http/app.ts'
import { createBodies } from '../../src/http/body.ts'
import { silent } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { byKind, KINDS } from '../../src/mapping/index.ts'
import { filterReply } from '../../src/search/answer.ts'
import {
  type Dialect,
  NATIVE_DIALECT,
  type NetworkCaller,
  type SearchAnswer,
  type SearchService,
} from '../../src/search/service.ts'
import { renderTemplateBody } from '../../src/search/template.ts'

export const TOKEN = 'cs_good'
export const ALICE: Caller = { id: 1, name: 'alice', token: 7, scopes: new Set(['search', 'rules', 'admin']) }
export const MAINNET = 'ethereum/ethereum/mainnet'

const json = (value: unknown, status = 200): SearchAnswer => ({ status, body: Buffer.from(JSON.stringify(value)) })

/** 36 documents. */
export const COUNTS = byKind(KINDS, kind => KINDS.indexOf(kind) + 1)

/** `parents` is not told. */
const isNative = (dialect: Dialect) => isDeepStrictEqual({ ...dialect, parents: true }, NATIVE_DIALECT)

/** Answers every call with what it was called with. */
export const echo: SearchService = {
  networks: () => [MAINNET, 'ethereum/gnosis/mainnet'],
  search: async ({ body, parameters = [], dialect = NATIVE_DIALECT, ...asking }) => {
    const answer = json({
      ...asked(asking),
      body: body === undefined ? null : Buffer.from(body).toString(),
      ...(parameters.length > 0 && { parameters }),
      ...(isNative(dialect) ? {} : { dialect }),
    })
    return filterReply(
      { ...answer, body: answer.body as Uint8Array<ArrayBuffer> },
      dialect.isItem ? dialect : NATIVE_DIALECT,
      {
        deadline: Number.POSITIVE_INFINITY,
      },
    ) as SearchAnswer
  },
  render: async ({ body, isJson = false }) => renderTemplateBody(body, { limits: DEFAULT_LIMITS, isJson, check() {} }),
  documents: async ({ filterPath, ...asking }) =>
    json({ ...asked(asking), ...(filterPath && filterPath.length > 0 && { filterPath }) }),
  holdings: async asking => {
    asked(asking)
    return { counts: COUNTS, bytes: 36_000 }
  },
  suggest: async asking => json(asked(asking)),
  similar: async asking => json(asked(asking)),
  get: async asking => json(asked(asking), asking.id === 'absent' ? 404 : 200),
  cursors: {
    scroll: async ({ dialect = NATIVE_DIALECT, ...asking }) =>
      json({ ...asked(asking), ...(isNative(dialect) ? {} : { dialect }) }),
    openPit: async ({ dialect, entities, keepAlive }) => ({
      ...{ id: `${dialect} ${entities} ${keepAlive}`, opened: 5, keepAliveMs: 60_000 },
    }),
    close: ({ ids }) => (ids === 'all' ? ['one', 'two'] : ids.filter(id => id !== 'closed')),
    pits: () => [{ id: 'one', opened: 5, keepAliveMs: 60_000 }],
  },
}

/** What is asked for, by the account whose token was shown. */
const asked = <T extends NetworkCaller>({ signal: _, account, ...call }: T) => {
  assert.equal(account, ALICE.id)
  return call
}

const servicesOf = (services: Partial<AppServices>): AppServices => {
  const limits = services.limits ?? { ...DEFAULT_LIMITS, body: 1_000 }
  return {
    search: echo,
    accounts: { verify: token => (token === TOKEN ? ALICE : undefined) },
    status: () => ({ version: '0', networks: [] }),
    bodies: createBodies(limits),
    log: silent,
    ...services,
    limits,
  }
}

export const appOf = (services: Partial<AppServices> = {}) => createApp(servicesOf(services)).app

/** The app, and what answers before it, as they stand in a server. */
export const bothOf = (services: Partial<AppServices> = {}) => createApp(servicesOf(services))

export interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** One request over a socket, as no `fetch` can send it. */
export const send = (
  url: string,
  options: RequestOptions & { body?: string | Uint8Array | ((request: ClientRequest) => void) } = {},
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const { body, ...rest } = options
    const sent = request(url, { headers: { authorization: `Bearer ${TOKEN}` }, ...rest }, reply => {
      read(reply).then(resolve, reject)
    })
    // Once there is an answer, it does not matter that the server no longer reads.
    sent.on('error', reject)
    if (typeof body === 'function') body(sent)
    else sent.end(body)
  })

const read = async (reply: IncomingMessage): Promise<Reply> => {
  const chunks: Buffer[] = []
  for await (const chunk of reply) chunks.push(chunk)
  return { status: reply.statusCode!, headers: reply.headers, text: Buffer.concat(chunks).toString() }
}

/** Asks an app, by JSON. */
export const callerOf =
  (app: ReturnType<typeof appOf>, token: string) =>
  async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const reply = await app.request(path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await reply.text()
    return { status: reply.status, headers: reply.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

/** The body of an error. */
export const errorOf = (status: number, type: string, reason: string, more: Record<string, unknown> = {}) => ({
  error: { root_cause: [{ type, reason }], type, reason, ...more },
  status,
})
