import { KNOWN_CHAINS } from '../../config/chains.ts'

interface VisiblePart {
  text: string
  /** Name of an invisible character such as `U+202E`. */
  name?: string
}

/** Invisible or misleading: control, bidi, zero-width, private and unusual space characters. */
const ODD = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|[\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/** Splits text into visible parts and named invisible characters. */
export const visible = (text: string): VisiblePart[] => {
  const parts: VisiblePart[] = []
  let from = 0
  for (const { 0: odd, index } of text.matchAll(ODD)) {
    if (index > from) parts.push({ text: text.slice(from, index) })
    parts.push({ text: odd, name: codePointName(odd) })
    from = index + odd.length
  }
  if (from < text.length) parts.push({ text: text.slice(from) })
  return parts
}

/** The same as plain text, for titles. */
export const visibleText = (text: string): string => text.replace(ODD, odd => `[${codePointName(odd)}]`)

const codePointName = (odd: string) => `U+${odd.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

/** Relative time; both in epoch milliseconds. */
export const ago = (time: number, now: number): string => {
  const [count, unit] = inUnit((time - now) / 1000)
  return RELATIVE.format(count, unit)
}

/** `5 minutes`. */
export const spanText = (seconds: number): string => countText(...inUnit(seconds))

const inUnit = (seconds: number): [count: number, unit: Intl.RelativeTimeFormatUnit] => {
  const [unit, length] = TIME_UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return [Math.round(seconds / length), unit]
}

/** Relative past time; tolerates clocks that are ahead by up to an hour. */
export const since = (time: number, now: number): string =>
  time > now - 1_000 && time < now + AHEAD_MS ? 'just now' : ago(time, now)

const AHEAD_MS = 3_600_000

const TIME_UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })

const SIZES = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** In powers of 1,000. */
export const formatBytes = (bytes: number): string => {
  let [value, unit] = [bytes, 0]
  while (value >= 1_000 && unit < SIZES.length - 1) {
    value /= 1_000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value).toLocaleString() : value.toFixed(1)} ${SIZES[unit]}`
}

/** Decimals of every EVM chain's coin. */
export const COIN_DECIMALS = 18
export const GWEI_DECIMALS = 9

/** Coin symbol by the network's name. */
export const coinOf = (network: string): string | undefined => COINS.get(network.split('/')[1] ?? '')

const COINS: ReadonlyMap<string, string> = new Map([
  ['demo', 'ETH'],
  ['anvil', 'ETH'],
  ...[...KNOWN_CHAINS.values()].map(({ network, symbol }) => [network.split('/')[1]!, symbol] as const),
])

/** Formats smallest units with `decimals` decimal places. */
export const formatAmount = (units: bigint, decimals: number): string => {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const whole = BigInt(digits.slice(0, digits.length - decimals)).toLocaleString()
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${fraction && POINT + fraction}`
}

/** Rounds to four significant digits, but never in front of the point. */
export const roundedUnits = (units: bigint, decimals: number): bigint => {
  const places = BigInt(Math.min(Math.max(String(units).length - 4, 0), decimals))
  const step = 10n ** places
  return ((units + step / 2n) / step) * step
}

const POINT = new Intl.NumberFormat().formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.'

export const shortHex = (hex: string): string => (hex.length <= 14 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`)

/** Times without a zone are UTC. */
export const dateOf = (value: number | string): Date =>
  new Date(typeof value === 'number' ? value * 1000 : /(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`)

/** `950`, `1.2M`, to three digits. */
export const compactNumber = (value: number): string => COMPACT.format(value)

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** `1 rule`, `2,000 rules`. */
export const countText = (number: number, one: string, several = `${one}s`): string =>
  `${number.toLocaleString()} ${number === 1 ? one : several}`
