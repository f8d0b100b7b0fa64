import type { Exact } from './ast.ts'

const LONGEST_EXACT = 400

const EXACT_DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/
const EXACT_HEX = /^0[xX][0-9a-fA-F]+$/

/** Parses and normalizes a decimal (exponent up to three digits) or 0x-hex; no outer spaces. */
export const parseExact = (text: string): Exact | undefined => {
  if (text.length > LONGEST_EXACT) return undefined
  if (EXACT_HEX.test(text)) return exactOf(BigInt(text))
  const [, sign, whole, fraction = '', exponent = '0'] = EXACT_DECIMAL.exec(text) ?? []
  if (whole === undefined) return undefined
  const digits = BigInt(whole + fraction)
  const scale = fraction.length - Number(exponent)
  const signed = sign === '-' ? -digits : digits
  return scale <= 0 ? exactOf(signed * powerOfTen(-scale)) : simplifyExact({ digits: signed, scale })
}

export const exactOf = (digits: bigint): Exact => ({ digits, scale: 0 })

/** Reduces to the least scale: equal numbers then have equal members. */
export const simplifyExact = ({ digits, scale }: Exact): Exact => {
  if (digits === 0n) return exactOf(0n)
  while (scale > 0 && digits % 10n === 0n) {
    digits /= 10n
    scale--
  }
  return { digits, scale }
}

/** Negative where `a` is less. */
export const compareExact = (a: Exact, b: Exact): number => {
  const left = a.scale < b.scale ? a.digits * powerOfTen(b.scale - a.scale) : a.digits
  const right = b.scale < a.scale ? b.digits * powerOfTen(a.scale - b.scale) : b.digits
  return left < right ? -1 : left > right ? 1 : 0
}

/** The number times 10^`by`, in its simplest form. */
export const shiftExact = ({ digits, scale }: Exact, by: number): Exact =>
  scale <= by ? exactOf(digits * powerOfTen(by - scale)) : simplifyExact({ digits, scale: scale - by })

/** The greatest integer that is not above. */
export const floorExact = ({ digits, scale }: Exact): bigint => {
  const unit = powerOfTen(scale)
  return digits / unit - (digits < 0n && digits % unit !== 0n ? 1n : 0n)
}

export const ceilExact = ({ digits, scale }: Exact): bigint => -floorExact({ digits: -digits, scale })

export const showExact = ({ digits, scale }: Exact): string => {
  if (scale === 0) return String(digits)
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  return `${digits < 0n ? '-' : ''}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

const POWERS_OF_TEN: bigint[] = []
/** Scales come from operands' exponents and tokens' decimals: a few hundred at most. */
const powerOfTen = (exponent: number): bigint => (POWERS_OF_TEN[exponent] ??= 10n ** BigInt(exponent))
