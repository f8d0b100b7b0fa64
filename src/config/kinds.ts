import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as v from 'valibot'
import { messageOf } from '../lib/errors.ts'
import { didYouMean } from '../lib/name-matching.ts'
import { type Secret, secret, secretUrl } from '../lib/secret.ts'
import { isMemorySmall } from '../lib/system-limits.ts'
import { parseTime } from '../lib/time.ts'
import { type Allowance, BY_CALLS, BY_HOST, isCosts, PROVIDERS, type Rate } from '../limits/credits.ts'
import { isLimit, LIMITS, type LimitName, parseAmount, TAKES } from '../limits/index.ts'
import { eventTopic } from '../scopes/factory.ts'
import { fullName } from './chains.ts'
import type { NetworkConfig } from './index.ts'

/**
 * A kind of setting: reads a value that is text (flag, environment) or typed (config file). `takes`
 * completes the sentence "--port takes …"; `placeholder` stands for the value in usage texts.
 */
export interface SettingKind<T> {
  schema: v.GenericSchema<unknown, T>
  takes: string
  placeholder: string
  /** A bad value is not repeated in the error: it may hold a key. */
  secret?: true
  /** Its schema's own message is part of the error. */
  explains?: true
}

export const textKind = (takes: string, placeholder: string): SettingKind<string> => ({
  schema: v.pipe(v.string(), v.minLength(1)),
  takes,
  placeholder,
})

export const toggle: SettingKind<boolean> = {
  schema: v.union([
    v.boolean(),
    v.pipe(
      v.string(),
      v.regex(/^(true|false|1|0|yes|no)$/i),
      v.transform(text => /^(true|1|yes)$/i.test(text)),
    ),
  ]),
  takes: 'true or false',
  placeholder: 'BOOL',
}

export const integerSchema = v.pipe(
  v.union([
    v.number(),
    v.pipe(
      v.string(),
      v.regex(/^\d+(_\d+)*$/),
      v.transform(text => Number(text.replaceAll('_', ''))),
    ),
  ]),
  v.safeInteger(),
)

export const countKind = (min: number, max = Number.MAX_SAFE_INTEGER): SettingKind<number> => ({
  schema: v.pipe(integerSchema, v.minValue(min), v.maxValue(max)),
  takes: max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`,
  placeholder: 'N',
})

export const port: SettingKind<number> = { ...countKind(0, 65_535), takes: 'a port from 0 (any free one) to 65535' }

/** A number from 1 on; `auto` is what the machine has room for. */
const sized = (auto: () => number, max: number): SettingKind<number> => ({
  schema: v.union([
    v.pipe(v.literal('auto'), v.transform(auto)),
    v.pipe(integerSchema, v.minValue(1), v.maxValue(max)),
  ]),
  takes: `auto or an integer from 1 to ${max}`,
  placeholder: 'N',
})

/** Threads that search: one per core, at least two and at most eight. */
export const readers = sized(() => Math.min(8, Math.max(2, availableParallelism())), 64)

/** Threads that decode: one per core. With little memory, the thread that writes has a core. */
export const indexers = sized(() => Math.min(16, Math.max(1, availableParallelism() - (isMemorySmall() ? 1 : 0))), 64)

/** Work in flight: `small` where the process has less than 512 MB. */
export const inFlight = (auto: number, small: number, max: number): SettingKind<number> =>
  sized(() => (isMemorySmall() ? small : auto), max)

export const table: SettingKind<Record<string, unknown>> = {
  schema: v.record(v.string(), v.unknown()),
  takes: 'a table',
  placeholder: 'TABLE',
}

export const choiceKind = <const T extends string>(choices: readonly T[]): SettingKind<T> => ({
  schema: v.picklist(choices),
  takes: choices.join(' or '),
  placeholder: choices.join('|'),
})

const measured = (units: Record<string, number>, max: number) => {
  const scales = new Map(Object.entries(units))
  return v.pipe(
    v.string(),
    v.transform(text => text.match(/^(\d+(?:\.\d+)?) ?([a-z]+)$/i)),
    v.nonNullable(v.any()),
    v.transform(([, amount, unit]) => Math.round(Number(amount) * (scales.get(unit.toLowerCase()) ?? Number.NaN))),
    v.safeInteger(),
    v.minValue(0),
    v.maxValue(max),
  )
}

export const symbol: SettingKind<string> = {
  schema: v.pipe(v.string(), v.regex(/^[a-z0-9.]{1,20}$/i)),
  takes: 'the symbol of a currency, such as ETH',
  placeholder: 'SYMBOL',
}

/** Milliseconds. */
export const duration: SettingKind<number> = {
  schema: measured({ ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }, 100 * 366 * 86_400_000),
  takes: 'a time with its unit (ms, s, m, h, d, w), such as 10s',
  placeholder: 'TIME',
}

/** A point in time, as epoch milliseconds. */
export const moment: SettingKind<number> = {
  schema: v.pipe(v.string(), v.transform(parseTime), v.number()),
  takes: 'a time in ISO 8601, such as 2024-05-17T12:00:00Z',
  placeholder: 'TIME',
}

/** A quantity: thousands, millions and billions may be written as 3k, 3M and 3B. */
export const amount: SettingKind<number> = {
  schema: v.pipe(
    v.union([
      integerSchema,
      v.pipe(
        v.string(),
        v.transform(text => text.match(/^(\d+(?:\.\d+)?)([kmb])$/i)),
        v.nonNullable(v.any()),
        v.transform(([, digits, unit]) =>
          Math.round(Number(digits) * THOUSANDS[unit.toLowerCase() as 'k' | 'm' | 'b']),
        ),
        v.safeInteger(),
      ),
    ]),
    v.minValue(1),
  ),
  takes: 'a number, such as 3M or 250k',
  placeholder: 'N',
}

const THOUSANDS = { k: 1e3, m: 1e6, b: 1e9 } as const

/** Most in any second. */
export const rate: SettingKind<Rate> = {
  schema: v.pipe(
    v.string(),
    v.transform(text => text.match(/^(\d{1,9})( ?(?:calls|credits))?\/s$/)),
    v.nonNullable(v.any()),
    v.transform(([, most, of]): Rate => ({ most: Number(most), of: of?.trim() === 'credits' ? 'credits' : 'calls' })),
    v.check(({ most }) => most >= 1),
  ),
  takes: 'a number of calls or credits a second, such as 25/s or 500credits/s',
  placeholder: 'N/s',
}

/** Cost of calls in credits. */
export const costs: SettingKind<string> = {
  schema: v.pipe(v.string(), v.check(isCosts)),
  takes: `${[BY_HOST, BY_CALLS, ...PROVIDERS.keys()].join(', ')}, or METHOD=CREDITS such as eth_getLogs=75`,
  placeholder: 'NAME|METHOD=N',
}

const BYTES = { b: 1, kb: 1_000, mb: 1_000_000, gb: 1e9, kib: 1_024, mib: 1_048_576, gib: 2 ** 30 }

/** Bytes. */
export const size: SettingKind<number> = {
  schema: measured(BYTES, 2 ** 31),
  takes: 'a size with its unit (B, kB, MB, GB, KiB, MiB, GiB), such as 16MB',
  placeholder: 'SIZE',
}

/** Bytes of a disk. */
export const space: SettingKind<number> = {
  ...size,
  schema: measured({ ...BYTES, tb: 1e12, tib: 2 ** 40 }, 2 ** 50),
  takes: 'a size with its unit (MB, GB, TB, MiB, GiB, TiB), such as 8GB',
}

/** One limit with its new value, `name=value`. */
export const limitKind: SettingKind<readonly [name: LimitName, most: number]> = {
  schema: v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const [, name = '', amount = ''] = /^([a-z][a-zA-Z]*)=(.*)$/.exec(dataset.value) ?? []
      if (isLimit(name)) {
        const { unit } = LIMITS[name]
        const most = parseAmount(unit, amount)
        if (most !== undefined) return [name, most] as const
        addIssue({ message: `${name} takes ${TAKES[unit]}` })
      } else addIssue({ message: `there is no limit ${JSON.stringify(name)}.${didYouMean(name, Object.keys(LIMITS))}` })
      return NEVER
    }),
  ),
  takes: 'the name of a limit and its value, such as clauses=2000',
  placeholder: 'NAME=VALUE',
  explains: true,
}

const url = (protocols: string[]): SettingKind<Secret> => ({
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
const nodeAddress: SettingKind<Secret> = {
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

/** The address of web pages, for links. */
export const pageUrl: SettingKind<string> = {
  schema: v.pipe(
    v.string(),
    v.check(text => /^https?:$/.test(URL.parse(text)?.protocol ?? '')),
    v.transform(text => new URL(text).href.replace(/[?#].*$/, '').replace(/\/+$/, '')),
  ),
  takes: 'a URL that starts with http:// or https://',
  placeholder: 'URL',
}

export const wsUrl = url(['ws:', 'wss:'])

/** A mail server with what it takes to log in: `smtp://user:password@host:port`. */
export const smtpUrl = url(['smtp:', 'smtps:'])

/** Address of a node, with its own allowance if that differs from the common one. */
type NodeUrl = Secret & { allowance?: Allowance }

const ALLOWED = {
  ...{ rate, daily: amount, month: amount },
  costs: { ...costs, schema: v.array(costs.schema) },
} as const satisfies Record<keyof Allowance, SettingKind<unknown>>

/** In the config file it may be a table: `{url = "https://…", rate = "25/s"}`. */
export const nodeUrl: SettingKind<NodeUrl> = {
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
export const clusterUrl: SettingKind<string> = {
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

/** Prefix of the names of indices. */
export const indexPrefix: SettingKind<string> = {
  schema: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/)),
  takes: 'up to 64 lower-case letters, digits and . _ -',
  placeholder: 'NAME',
}

export const password: SettingKind<Secret> = {
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
export const token: SettingKind<Secret> = {
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
export const sender: SettingKind<string> = {
  schema: v.pipe(v.string(), v.regex(/^(?:[^\p{C}<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u)),
  takes: 'an email address, such as alerts@example.org or "Alerts <alerts@example.org>"',
  placeholder: 'ADDRESS',
}

/** An address range in CIDR notation; a single address is a range of one. */
export const cidr: SettingKind<string> = {
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
export const origin: SettingKind<string> = {
  schema: v.pipe(
    v.string(),
    v.check(text => text === '*' || (URL.canParse(text) && new URL(text).origin === text)),
  ),
  takes: 'an origin without a slash at its end, such as https://app.example, or *',
  placeholder: 'ORIGIN',
}

/**
 * A network's name, `technology/blockchain/network`, or a chain's short one. Files and URLs contain
 * it: lower case, no other separators.
 */
export const networkKind: SettingKind<string> = {
  schema: v.pipe(
    v.string(),
    v.transform(fullName),
    v.regex(/^[a-z0-9][a-z0-9_.-]{0,63}(\/[a-z0-9][a-z0-9_.-]{0,63}){2}$/),
  ),
  takes:
    'technology/blockchain/network in lower case, such as ethereum/ethereum/mainnet, or the short name of a chain, such as base',
  placeholder: 'T/B/N',
}

/** Where a network is served at the root: `127.0.0.1:9200=ethereum/ethereum/mainnet`. */
export const rootListener: SettingKind<{ host: string; port: number; network: string }> = {
  schema: v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const [, host = '', digits = '', name] =
        /^([^\s:[\]=/]+|\[[\da-f:.]+\]):(\d{1,5})=(.+)$/i.exec(dataset.value) ?? []
      const [bound, network] = [v.safeParse(port.schema, digits), v.safeParse(networkKind.schema, name)]
      if (bound.success && network.success)
        return { host: host.replace(/^\[|\]$/g, ''), port: bound.output, network: network.output }
      addIssue()
      return NEVER
    }),
  ),
  takes: 'an address, a port and a network, such as 127.0.0.1:9200=ethereum/ethereum/mainnet',
  placeholder: 'HOST:PORT=T/B/N',
}

/** Whether transactions of scopes are indexed, and whether blocks may be read for it. */
export const transactions: SettingKind<boolean | 'read-blocks'> = {
  schema: v.union([v.literal('read-blocks'), toggle.schema]),
  takes: 'true, false or read-blocks',
  placeholder: 'BOOL|read-blocks',
}

/** Depth of reorganisations to follow: blocks, or down to the block that nodes call finalized. */
export const finality: SettingKind<number | 'finalized'> = {
  schema: v.union([v.literal('finalized'), countKind(1, 100_000).schema]),
  takes: 'an integer from 1 to 100000, or finalized',
  placeholder: 'N|finalized',
}

/** A block by its number, or counted back from the head at the time of the start. */
export type BlockPoint = { block: number } | { latest: number }

export const blockPoint: SettingKind<BlockPoint> = {
  schema: v.union([
    v.pipe(
      integerSchema,
      v.minValue(0),
      v.transform(block => ({ block })),
    ),
    v.pipe(
      v.string(),
      v.regex(/^latest(-\d{1,15})?$/),
      v.transform(text => ({ latest: Number(text.slice('latest-'.length)) })),
    ),
  ]),
  takes: 'a block number, latest, or latest-K for K blocks before the head',
  placeholder: 'N|latest-K',
}

/** Lower-case. */
export const addressKind: SettingKind<string> = {
  schema: v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/), v.toLowerCase()),
  takes: 'an address, 0x and 40 hex digits',
  placeholder: 'ADDRESS',
}

/** The first topic of an event. */
export const event: SettingKind<string> = {
  schema: v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return eventTopic(dataset.value)
      } catch (error) {
        addIssue({ message: messageOf(error) })
        return NEVER
      }
    }),
  ),
  takes: 'an event, such as Transfer(address,address,uint256), or its first topic',
  placeholder: 'EVENT',
  explains: true,
}

/** Allowance of each endpoint of a network, in order. Its own settings override common ones. */
export const allowancesOf = ({ rpc, rpcRate, rpcDaily, rpcMonth, rpcCosts }: NetworkConfig): Allowance[] =>
  rpc.map(url => ({ ...{ rate: rpcRate, daily: rpcDaily, month: rpcMonth, costs: rpcCosts }, ...url.allowance }))
