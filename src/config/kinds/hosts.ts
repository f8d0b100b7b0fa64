import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as v from 'valibot'
import { didYouMean } from '../../lib/nearest.ts'
import { type Secret, secret, secretUrl } from '../../lib/secret.ts'
import type { Allowance } from '../../limits/credits.ts'
import type { Kind } from './plain.ts'
import { amount, costs, rate } from './quantities.ts'

const url = (protocols: string[]): Kind<Secret> => ({
  schema: v.pipe(
    v.string(),
    v.check(text => URL.canParse(text) && protocols.includes(new URL(text).protocol)),
    v.transform(secretUrl),
  ),
  takes: `a URL that starts with ${protocols.map(protocol => `${protocol}//`).join(' or ')}`,
  placeholder: 'URL',
  secret: true,
})

/** The address of a node; the path of its Unix socket becomes a URL, too. */
const nodeAddress: Kind<Secret> = {
  schema: v.pipe(
    v.string(),
    v.transform(text => (IPC_PATH.test(text) ? ipcUrl(text.replace(/^ipc:(\/\/(?=\/))?/, '')) : text)),
    v.check(text => URL.canParse(text) && /^(https?|wss?):|^ipc:\/\/\/./.test(new URL(text).href)),
    v.transform(secretUrl),
  ),
  takes: 'an http, https, ws or wss URL, or the path of an IPC socket, such as /path/geth.ipc',
  placeholder: 'URL',
  secret: true,
}

const IPC_PATH = /^(ipc:.|\/|\.\.?\/)|^[^:]*\.ipc$/
const ipcUrl = (path: string): string => pathToFileURL(resolve(path)).href.replace(/^file:/, 'ipc:')

export const httpUrl = url(['http:', 'https:'])

export const wsUrl = url(['ws:', 'wss:'])

/** A mail server with what it takes to log in: `smtp://user:password@host:port`. */
export const smtpUrl = url(['smtp:', 'smtps:'])

/** The address of a node, with what it may be asked for where that differs from what is set for all. */
export type NodeUrl = Secret & { allowance?: Allowance }

const ALLOWED = {
  ...{ rate, daily: amount, month: amount },
  costs: { ...costs, schema: v.array(costs.schema) },
} as const satisfies Record<keyof Allowance, Kind<unknown>>

/** In the config file it may be a table: `{url = "https://…", rate = "25/s"}`. */
export const nodeUrl: Kind<NodeUrl> = {
  ...nodeAddress,
  explains: true,
  schema: v.pipe(
    v.unknown(),
    v.rawTransform(({ dataset, addIssue, NEVER }): NodeUrl => {
      const fail = (message: string) => {
        addIssue({ message })
        return NEVER
      }
      const given = dataset.value
      const isTable = typeof given === 'object' && given !== null && !Array.isArray(given)
      const { url: address, ...limits } = isTable ? (given as Record<string, unknown>) : { url: given }
      const parsed = v.safeParse(nodeAddress.schema, address)
      if (!parsed.success) return fail('')
      if (!isTable) return parsed.output
      const allowance: Record<string, unknown> = {}
      for (const [name, value] of Object.entries(limits)) {
        if (!Object.hasOwn(ALLOWED, name))
          return fail(`${name} is not known here.${didYouMean(name, ['url', ...Object.keys(ALLOWED)])}`)
        const { schema, takes } = ALLOWED[name as keyof typeof ALLOWED]
        const read = v.safeParse(schema, name === 'costs' && !Array.isArray(value) ? [value] : value)
        if (!read.success) return fail(`its ${name} takes ${takes}`)
        allowance[name] = read.output
      }
      return { ...parsed.output, allowance }
    }),
  ),
}

/** A node of a cluster, which messages name: what it takes to log in has settings of its own. */
export const clusterUrl: Kind<string> = {
  ...httpUrl,
  schema: v.pipe(
    v.string(),
    v.check(text => {
      if (!URL.canParse(text)) return false
      const { protocol, username, password, search, hash } = new URL(text)
      return ['http:', 'https:'].includes(protocol) && `${username}${password}${search}${hash}` === ''
    }),
  ),
  takes: 'a URL that starts with http:// or https:// and has no user, password or query in it',
}

/** What the names of indices begin with. */
export const indexPrefix: Kind<string> = {
  schema: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/)),
  takes: 'up to 64 lower-case letters, digits and . _ -',
  placeholder: 'NAME',
}

export const password: Kind<Secret> = {
  schema: v.pipe(
    v.string(),
    v.minLength(1),
    v.transform(text => secret(text)),
  ),
  takes: 'a password',
  placeholder: 'PASSWORD',
  secret: true,
}

/** A token of an account. */
export const token: Kind<Secret> = {
  schema: v.pipe(
    v.string(),
    v.regex(/^[\x21-\x7e]+$/),
    v.transform(text => secret(text)),
  ),
  takes: 'a token, which chainsieve token create prints',
  placeholder: 'TOKEN',
  secret: true,
}

/** The sender of mails, `address` or `Name <address>`. */
export const sender: Kind<string> = {
  schema: v.pipe(v.string(), v.regex(/^(?:[^\p{C}<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u)),
  takes: 'an email address, such as alerts@example.org or "Alerts <alerts@example.org>"',
  placeholder: 'ADDRESS',
}

/** An address range in CIDR notation; a single address is a range of one. */
export const cidr: Kind<string> = {
  schema: v.pipe(
    v.string(),
    v.transform(text => {
      const [address = '', bits, ...rest] = text.split('/')
      const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!
      const valid = rest.length === 0 && /^\d{1,3}$/.test(bits ?? String(most)) && Number(bits ?? 0) <= most
      return valid && most > 0 ? `${address}/${bits ?? most}` : undefined
    }),
    v.string(),
  ),
  takes: 'an address range such as 10.0.0.0/8 or fd00::/8',
  placeholder: 'CIDR',
}

/** An origin of web pages as browsers send it, or `*` for all. */
export const origin: Kind<string> = {
  schema: v.pipe(
    v.string(),
    v.check(text => text === '*' || (URL.canParse(text) && new URL(text).origin === text)),
  ),
  takes: 'an origin without a slash at its end, such as https://app.example, or *',
  placeholder: 'ORIGIN',
}
