import { type ChainsieveError, refuse, retry } from '../lib/errors.ts'
import { LIMITS, type Limit, type LimitName, type Unit } from './table.ts'

export { LIMITS, type Limit, type LimitName }

/** Counts, bytes and milliseconds by limit. */
export type Limits = Readonly<Record<LimitName, number>>

const UNIT_SCALES = {
  count: { '': 1 },
  bytes: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 },
  duration: { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 },
} as const satisfies Record<Unit, Record<string, number>>

/** Expected form of a value of each unit. */
export const TAKES = {
  count: 'an integer from 1 on, such as 2000',
  bytes: 'a size with its unit (B, kB, MB, GB, KiB, MiB, GiB), such as 16MB',
  duration: 'a time with its unit (ms, s, m, h, d), such as 30s',
} as const satisfies Record<Unit, string>

/** Parses a number with its unit; undefined if malformed. */
export const parseAmount = (unit: Unit, text: string): number | undefined => {
  const [, digits, name] = /^(\d+(?:\.\d+)?|\d+(?:_\d+)+) ?([a-z]*)$/i.exec(text.trim()) ?? []
  if (digits === undefined || name === undefined) return undefined
  const scale = new Map<string, number>(Object.entries(UNIT_SCALES[unit])).get(name.toLowerCase())
  const amount = scale === undefined ? Number.NaN : Number(digits.replaceAll('_', '')) * scale
  return Number.isSafeInteger(amount) && amount >= 1 ? amount : undefined
}

export const isLimit = (name: string): name is LimitName => Object.hasOwn(LIMITS, name)

export const DEFAULT_LIMITS: Limits = Object.fromEntries(
  Object.entries<Limit>(LIMITS).map(([name, { unit, fallback }]) => [name, parseAmount(unit, fallback)!]),
) as Record<LimitName, number>

/** Writes an amount as a user would. */
export const formatUnitAmount = (unit: Unit, amount: number): string => {
  const [name, scale] = Object.entries<number>(UNIT_SCALES[unit])
    .filter(([name, scale]) => !name.includes('i') && amount % scale === 0)
    .reduce((best, it) => (it[1] > best[1] ? it : best))
  return `${amount / scale}${unit === 'bytes' ? name.toUpperCase().replace('KB', 'kB') : name}`
}

/** Error of a value beyond its limit. `at` names the value; default: its name in the table. */
export const overLimit = (name: LimitName, limits: Limits, at?: string): ChainsieveError =>
  refuse(LIMITS[name].code, limitMessage(name, limits, at))

/** Error of a temporary excess, which the caller may retry. */
export const overNow = (
  name: LimitName,
  limits: Limits,
  at?: string,
  wait: { retryAfterMs?: number } = {},
): ChainsieveError => retry(LIMITS[name].code, limitMessage(name, limits, at), wait)

const limitMessage = (name: LimitName, limits: Limits, at?: string): string => {
  const { unit, who, what, remedy } = LIMITS[name]
  const subject = at ?? `${who[0]!.toUpperCase()}${who.slice(1)}`
  const most = formatUnitAmount(unit, limits[name])
  return `${subject} ${OVER[unit](most, what)}. ${remedy} The operator can raise this with --limit ${name}=N.`
}

const OVER = {
  count: (most, what) => `has more than ${most} ${what}`,
  bytes: (most, what) => `has more than ${most} of ${what}`,
  duration: (most, what) => `needs more than ${most} ${what}`,
} satisfies Record<Unit, (most: string, what: string) => string>
