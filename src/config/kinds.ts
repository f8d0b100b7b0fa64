import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import * as v from 'valibot'
import { didYouMean } from '../lib/nearest.ts'
import { type Secret, secret, secretUrl } from '../lib/secret.ts'
import { parseTime } from '../lib/time.ts'
import { isLimit, LIMITS, type LimitName, parseAmount, TAKES } from '../limits/index.ts'
import { fullName } from './chains.ts'

/**
 * A kind of setting: how a value is read, whether it came as text (flag, environment) or typed (config file). `takes`
 * completes the sentence "--port takes …"; `placeholder` stands for the value in usage texts.
 */
export interface Kind<T> {
  schema: v.GenericSchema<unknown, T>
  takes: string
  placeholder: string
  /** A bad value is not repeated in the error: it may hold a key. */
  secret?: true
  /** Its schema's own message is part of the error. */
  explains?: true
}

/** A network's name, `technology/blockchain/network`, or a chain's short one. It names files and URLs: lower case, no other separators. */
export const network: Kind<string> = {
  schema: v.pipe(
    v.string(),
    v.transform(fullName),
    v.regex(/^[a-z0-9][a-z0-9_.-]{0,63}(\/[a-z0-9][a-z0-9_.-]{0,63}){2}$/),
  ),
  takes:
    'technology/blockchain/network in lower case, such as ethereum/ethereum/mainnet, or the short name of a chain, such as base',
  placeholder: 'T/B/N',
}

export const text = (takes: string, placeholder: string): Kind<string> => ({
  schema: v.pipe(v.string(), v.minLength(1)),
  takes,
  placeholder,
})

export const toggle: Kind<boolean> = {
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

const integer = v.pipe(
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

export const count = (min: number, max = Number.MAX_SAFE_INTEGER): Kind<number> => ({
  schema: v.pipe(integer, v.minValue(min), v.maxValue(max)),
  takes: max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`,
  placeholder: 'N',
})

/** How deep reorganisations are followed: blocks, or down to the block that nodes tell to be finalized. */
export const finality: Kind<number | 'finalized'> = {
  schema: v.union([v.literal('finalized'), count(1, 100_000).schema]),
  takes: 'an integer from 1 to 100000, or finalized',
  placeholder: 'N|finalized',
}

export const port: Kind<number> = { ...count(0, 65_535), takes: 'a port from 0 (any free one) to 65535' }

/** A number of threads; `auto` is what the machine has room for. */
const threads = (auto: () => number): Kind<number> => ({
  schema: v.union([v.pipe(v.literal('auto'), v.transform(auto)), v.pipe(integer, v.minValue(1), v.maxValue(64))]),
  takes: 'auto or an integer from 1 to 64',
  placeholder: 'N',
})

/** Threads that search: one per core, at least two and at most eight. */
export const readers = threads(() => Math.min(8, Math.max(2, availableParallelism())))

/** Threads that decode: one per core, besides the thread that writes. */
export const indexers = threads(() => Math.min(16, Math.max(1, availableParallelism() - 1)))

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

/** Milliseconds. */
export const duration: Kind<number> = {
  schema: measured({ ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }, 100 * 366 * 86_400_000),
  takes: 'a time with its unit (ms, s, m, h, d, w), such as 10s',
  placeholder: 'TIME',
}

/** A point in time, as epoch milliseconds. */
export const moment: Kind<number> = {
  schema: v.pipe(v.string(), v.transform(parseTime), v.number()),
  takes: 'a time in ISO 8601, such as 2024-05-17T12:00:00Z',
  placeholder: 'TIME',
}

/** Bytes. */
export const size: Kind<number> = {
  schema: measured({ b: 1, kb: 1_000, mb: 1_000_000, gb: 1e9, kib: 1_024, mib: 1_048_576, gib: 2 ** 30 }, 2 ** 31),
  takes: 'a size with its unit (B, kB, MB, GB, KiB, MiB, GiB), such as 16MB',
  placeholder: 'SIZE',
}

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

export const httpUrl = url(['http:', 'https:'])
export const wsUrl = url(['ws:', 'wss:'])
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

/** A mail server with what it takes to log in: `smtp://user:password@host:port`. */
export const smtpUrl = url(['smtp:', 'smtps:'])

/** The sender of mails, `address` or `Name <address>`. */
export const sender: Kind<string> = {
  schema: v.pipe(v.string(), v.regex(/^(?:[^\p{C}<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u)),
  takes: 'an email address, such as alerts@example.org or "Alerts <alerts@example.org>"',
  placeholder: 'ADDRESS',
}

/** A block by its number, or counted back from the head at the time of the start. */
export type BlockPoint = { block: number } | { latest: number }

export const blockPoint: Kind<BlockPoint> = {
  schema: v.union([
    v.pipe(
      integer,
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

export const oneOf = <const T extends string>(choices: readonly T[]): Kind<T> => ({
  schema: v.picklist(choices),
  takes: choices.join(' or '),
  placeholder: choices.join('|'),
})

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

/** One limit with its new value, `name=value`. */
export const limit: Kind<readonly [name: LimitName, most: number]> = {
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
