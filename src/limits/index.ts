import { type ChainsieveError, refuse } from '../lib/errors.ts'

/** What a limit counts: things, bytes, or milliseconds. */
export type Unit = 'count' | 'bytes' | 'duration'

export interface Limit {
  unit: Unit
  /** The default, as a user would write it. */
  fallback: string
  /** Code of the error, which over HTTP is its type. */
  code: string
  /** Who may not have more, as a noun with its article: "a query". */
  who: string
  /** What is limited, as a noun: it completes "more than 1024 …" and "more than 16MB of …". */
  what: string
  /** What happens beyond it, and what the caller can do instead. */
  remedy: string
}

type Subject = readonly [who: string, what: string]

const limit = (unit: Unit, fallback: string, code: string, [who, what]: Subject, remedy: string): Limit => ({
  unit,
  fallback,
  code,
  who,
  what,
  remedy,
})

const count = (most: number, code: string, subject: Subject, remedy: string) =>
  limit('count', String(most), code, subject, remedy)
const bytes = (most: string, code: string, subject: Subject, remedy: string) =>
  limit('bytes', most, code, subject, remedy)

/**
 * THE table of limits: what one caller, one rule, one node or one file may ask of the program. `--limit clauses=2000` changes one; the
 * README's table and every error are written from here.
 */
export const LIMITS = {
  body: bytes('16MB', 'content_too_large_exception', ['a request', 'body'], 'Ask for less in one request.'),
  clauses: count(
    4_096,
    'too_many_clauses',
    ['a query', 'clauses'],
    'Write values of one field as [terms], or ask in several searches.',
  ),
  abiFile: bytes(
    '128MB',
    'bad_abi',
    ['an ABI file', 'text'],
    'Of a list of signatures, give those that your contracts use.',
  ),
  inputFile: bytes(
    '16MB',
    'file_too_large',
    ['a file that a command reads', 'text'],
    'Split it: a command takes several files.',
  ),
} satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS

/** Counts, bytes and milliseconds by the name of their limit. */
export type Limits = Readonly<Record<LimitName, number>>

const UNITS = {
  count: { '': 1 },
  bytes: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 },
  duration: { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 },
} as const satisfies Record<Unit, Record<string, number>>

/** What a value of each unit looks like. */
export const TAKES = {
  count: 'an integer from 1 on, such as 2000',
  bytes: 'a size with its unit (B, kB, MB, GB, KiB, MiB, GiB), such as 16MB',
  duration: 'a time with its unit (ms, s, m, h, d), such as 30s',
} as const satisfies Record<Unit, string>

/** The number that a text means, undefined where it means none. */
export const parseAmount = (unit: Unit, text: string): number | undefined => {
  const [, digits, name] = /^(\d+(?:\.\d+)?|\d+(?:_\d+)+) ?([a-z]*)$/i.exec(text.trim()) ?? []
  if (digits === undefined || name === undefined) return undefined
  const scale = new Map<string, number>(Object.entries(UNITS[unit])).get(name.toLowerCase())
  const amount = scale === undefined ? Number.NaN : Number(digits.replaceAll('_', '')) * scale
  return Number.isSafeInteger(amount) && amount >= 1 ? amount : undefined
}

export const isLimit = (name: string): name is LimitName => Object.hasOwn(LIMITS, name)

export const DEFAULT_LIMITS: Limits = Object.fromEntries(
  Object.entries<Limit>(LIMITS).map(([name, { unit, fallback }]) => [name, parseAmount(unit, fallback)!]),
) as Record<LimitName, number>

/** An amount as a user would write it. */
export const showAmount = (unit: Unit, amount: number): string => {
  const [name, scale] = Object.entries<number>(UNITS[unit])
    .filter(([name, scale]) => !name.includes('i') && amount % scale === 0)
    .reduce((best, it) => (it[1] > best[1] ? it : best))
  return `${amount / scale}${unit === 'bytes' ? name.toUpperCase().replace('KB', 'kB') : name}`
}

/** The error of what has more than its limit allows. `at` names it or its place in what was sent; by default it is what the table calls it. */
export const overLimit = (name: LimitName, limits: Limits, at?: string): ChainsieveError => {
  const { unit, code, who, what, remedy } = LIMITS[name]
  const most = `${showAmount(unit, limits[name])}${unit === 'count' ? '' : ' of'}`
  const subject = at ?? `${who[0]!.toUpperCase()}${who.slice(1)}`
  return refuse(
    code,
    `${subject} has more than ${most} ${what}. ${remedy} The operator can raise this with --limit ${name}=N.`,
  )
}
