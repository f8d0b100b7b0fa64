import { refuse } from '../../lib/errors.ts'
import { type JsonNode, showJson, where } from '../json-node.ts'

/** Formats numbers by a pattern such as `#,##0.00`, as Java's DecimalFormat does. */
export const numberWriterOf = (place: JsonNode, pattern: string): ((value: number) => string) => {
  if (pattern === '') return allDigits
  const [, prefix, integer, decimals = '', suffix] =
    pattern.length > MAX_PATTERN_LENGTH ? [] : (PATTERN.exec(pattern) ?? [])
  if (integer === undefined || `${integer}${decimals}`.replace(/[,.]/g, '') === '' || /[,.]$/.test(integer)) {
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: invalid number format ${showJson(pattern)}. Numbers are written by patterns of # 0 , and . such as "#,##0.00", with text before and behind, as in "0.0%" or "'about '0 gas"; exponents and other forms of negative numbers are not supported.`,
    )
  }
  const grouping = integer.includes(',') ? integer.length - integer.lastIndexOf(',') - 1 : 0
  const places = { least: decimals.replaceAll('#', '').length, most: decimals.length }
  let leastWhole = integer.replace(/[#,]/g, '').length
  // A pattern of optional digits around a point shows at least one digit.
  if (decimals !== '' && leastWhole + places.least === 0) {
    if (integer === '') places.least = 1
    else leastWhole = 1
  }
  const [before, behind] = [unquoted(prefix!), unquoted(suffix!)]
  const scale = /%/.test(`${prefix}${suffix}`.replace(QUOTED, '')) ? 100 : 1
  return value => {
    if (Number.isNaN(value)) return 'NaN'
    const size = Math.abs(value * scale)
    const sign = value < 0 || Object.is(value, -0) ? '-' : ''
    if (size === Number.POSITIVE_INFINITY) return `${sign}${before}∞${behind}`
    const [whole, rest = ''] = halfEven(size, places.most).split('.') as [string, string?]
    const digits = (whole === '0' ? '' : whole).padStart(leastWhole, '0')
    const kept = rest.replace(/0+$/, '').padEnd(places.least, '0')
    const point = kept === '' ? '' : `.${kept}`
    return `${sign}${before}${groupDigits(digits === '' && kept === '' ? '0' : digits, grouping)}${point}${behind}`
  }
}

/** Java's format of an empty pattern, which Grafana sends. */
const allDigits = (value: number): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞'
  const [whole, rest] = decimal(Math.abs(value)).split('.') as [string, string?]
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  return `${sign}${groupDigits(whole === '0' && rest ? '' : whole, 3)}${rest ? `.${rest}` : ''}`
}

const MAX_PATTERN_LENGTH = 100
const QUOTED = /'[^']*'/g
const PATTERN = /^((?:[^#0,.;'\u2030E]|'[^']*')*)(#[#,]*[0,]*|0[0,]*|)(?:\.(0*#*))?((?:[^#0,.;'\u2030E]|'[^']*')*)$/

const unquoted = (text: string) => text.replace(QUOTED, part => (part === "''" ? "'" : part.slice(1, -1)))

const groupDigits = (digits: string, size: number): string => {
  if (size === 0) return digits
  const parts: string[] = []
  for (let end = digits.length; end > 0; end -= size) parts.unshift(digits.slice(Math.max(0, end - size), end))
  return parts.join()
}

/** Decimal digits of a number from 0 on, rounded half to even. */
const halfEven = (value: number, places: number): string => {
  if (value > Number.MAX_SAFE_INTEGER) return decimal(value)
  const shortest = String(value)
  // Digits beyond the shortest representation are zeros.
  if (!shortest.includes('e') && (shortest.split('.')[1] ?? '').length <= places) return shortest
  const text = value.toFixed(places)
  if (!value.toFixed(places + 1).endsWith('5')) return text
  const digits = value.toFixed(MAX_FORMAT_DECIMALS)
  const end = digits.indexOf('.') + 1 + places
  if (!/^50*$/.test(digits.slice(end))) return text
  // A tie.
  const lower = digits.slice(0, places === 0 ? end - 1 : end)
  return Number(lower.at(-1)) % 2 === 0 ? lower : text
}

/** The shortest digits of a number from 0 on, without an exponent. */
const decimal = (value: number): string => {
  const [digits, power] = String(value).split('e') as [string, string?]
  if (power === undefined) return digits
  const [whole, rest = ''] = digits.split('.') as [string, string?]
  const exponent = Number(power)
  return exponent < 0 ? `0.${'0'.repeat(-exponent - 1)}${whole}${rest}` : whole + rest.padEnd(exponent, '0')
}

const MAX_FORMAT_DECIMALS = 100
