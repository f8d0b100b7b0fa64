import type { DecodedArg } from '../decode/types.ts'
import { checksumAddress } from '../lib/keccak.ts'

/** Values of `_source`, by kind. Integers are numbers where these are exact, else bigints. */

export type Integer = number | bigint

const MAX_JSON_LONG = 2n ** 63n - 1n

/** Represents integers beyond 2^53: a bigint, or JSON text that keeps every digit. */
export type BigIntegers = (value: bigint) => unknown
export const asJson: BigIntegers = value =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(value))
export const asBigint: BigIntegers = value => value

/** Null if the integer does not fit 64 bits. */
export const formatLong = (value: Integer, big: BigIntegers): unknown => {
  if (typeof value === 'number') return value
  if (value > MAX_JSON_LONG || value < -MAX_JSON_LONG - 1n) return null
  return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER ? Number(value) : big(value)
}

export const rawHex = (value: Integer): string => `0x${value.toString(16)}`

export const paddedHex = (value: Integer): string => `0x${value.toString(16).padStart(64, '0')}`

export const formatQuantity = (value: Integer, big: BigIntegers) => ({
  num: formatLong(value, big),
  raw: rawHex(value),
})

export const COIN_DECIMALS = 18

/** The nearest double of an integer divided by 10^decimals. */
export const scaled = (value: Integer, decimals: number): number => {
  const number = Number(value)
  // The quotient of two exact doubles is the nearest one, and takes a tenth of the time.
  if (Number.isSafeInteger(number) && decimals < POWERS.length) return number / POWERS[decimals]!
  return Number(`${value}e-${decimals}`)
}

const POWERS = Array.from({ length: 23 }, (_, decimals) => Number(`1e${decimals}`))

export const coinAmount = (value: Integer): number => scaled(value, COIN_DECIMALS)

export const formatDatetime = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19)

export const formatAddress = checksumAddress

export const formatArgument = (
  { name, pos, type, hex, int }: DecodedArg,
  decimals: number | null,
  big: BigIntegers,
) => ({
  name,
  pos,
  value: {
    hex: type === 'address' && hex.length === 42 ? formatAddress(hex) : hex,
    num: int === null ? null : formatLong(int, big),
    scaled: int === null || decimals === null || type === 'bool' ? null : scaled(int, decimals),
    type,
  },
})

export const traceId = (transactionHash: string, traceAddress: readonly number[]): string =>
  [`${transactionHash}_t`, ...traceAddress].join('_')
export const callId = (transactionHash: string, traceAddress: readonly number[]): string =>
  [`${transactionHash}_c`, ...traceAddress].join('_')
export const eventId = (transactionHash: string, logIndex: number): string => `${transactionHash}_e_${logIndex}`

/** Reads a document's JSON. `big` converts integers that a double does not hold. */
export const readDocument = (text: string, big: BigIntegers): unknown =>
  LONG_DIGITS.test(text) ? (JSON.parse as ParseWithReviver)(text, exactReviver(big)) : JSON.parse(text)
/** Without such a text, the plain parser, which is faster, will do. */
const LONG_DIGITS = /[:,[]-?\d{16}/
const exactReviver =
  (big: BigIntegers): Reviver =>
  (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && !Number.isSafeInteger(value) && INTEGER_TEXT.test(source)
      ? big(BigInt(source))
      : value
const INTEGER_TEXT = /^-?\d+$/
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
type ParseWithReviver = (text: string, reviver: Reviver) => unknown
