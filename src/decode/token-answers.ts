/** A token contract's answer to one call, and the fault of this answer. */
export interface TokenAnswer<T> {
  value: T | null
  /** Null if valid: a contract that does not answer or reverts has no value. */
  error: string | null
}

export const TOKEN_CALLS = {
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  decimals: '0x313ce567',
  /** Vaults (ERC-4626) have it. */
  asset: '0x38d52e0f',
  totalAssets: '0x01e1d114',
} as const

/** A 256-bit integer has no more digits. */
const MAX_DECIMALS = 77

/** `answer`: the result of `decimals()`; null if reverted. */
export const readDecimals = (answer: string | null): TokenAnswer<number> => {
  if (!isData(answer)) return NO_TOKEN_ANSWER
  if (answer.length !== 66) return { value: null, error: `decimals() answers ${byteCountOf(answer)} bytes` }
  const decimals = BigInt(answer)
  if (decimals <= MAX_DECIMALS) return { value: Number(decimals), error: null }
  return { value: null, error: `decimals() answers ${decimals}` }
}

/** Characters; a longer text is not a name. */
const MAX_TOKEN_TEXT = 256

/**
 * `name()` or `symbol()`: a `string`, or 32 bytes in older tokens. Invalid UTF-8, control and
 * bidirectional characters become U+FFFD.
 */
export const readTokenText = (call: 'name' | 'symbol', answer: string | null): TokenAnswer<string> => {
  if (!isData(answer)) return NO_TOKEN_ANSWER
  const bytes = Buffer.from(answer.slice(2), 'hex')
  const content = bytes.length === 32 ? withoutZeros(bytes) : stringIn(bytes)
  if (content === undefined) return { value: null, error: `${call}() answers ${bytes.length} bytes that are not text` }
  const text = content
    .subarray(0, MAX_TOKEN_TEXT * 4)
    .toString('utf8')
    .replace(UNSEEN, '\ufffd')
    .trim()
  const characters = [...text]
  if (characters.length <= MAX_TOKEN_TEXT && content.length <= MAX_TOKEN_TEXT * 4) return { value: text, error: null }
  return {
    value: characters.slice(0, MAX_TOKEN_TEXT).join(''),
    error: `${call}() answers ${content.length} bytes of text`,
  }
}

/** Whether the answers are those of an ERC-4626 vault. */
export const isVault = (asset: string | null, totalAssets: string | null): boolean =>
  asset !== null && /^0x0{24}(?!0{40})[0-9a-f]{40}$/.test(asset) && totalAssets !== null && totalAssets.length === 66

const NO_TOKEN_ANSWER: TokenAnswer<never> = { value: null, error: null }

const isData = (answer: string | null): answer is string => answer !== null && answer.length > 2

const byteCountOf = (hex: string): number => (hex.length - 2) / 2

/** Control characters, and invisible ones that change how other text is shown. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

const withoutZeros = (bytes: Buffer): Buffer => {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return bytes.subarray(0, end)
}

/** The bytes of an ABI-encoded `string`; undefined if invalid. */
const stringIn = (bytes: Buffer): Buffer | undefined => {
  const offset = integerAt(bytes, 0)
  const length = offset === undefined ? undefined : integerAt(bytes, offset)
  if (offset === undefined || length === undefined || offset + 32 + length > bytes.length) return undefined
  return bytes.subarray(offset + 32, offset + 32 + length)
}

const integerAt = (bytes: Buffer, at: number): number | undefined => {
  if (at + 32 > bytes.length) return undefined
  const integer = BigInt(`0x${bytes.toString('hex', at, at + 32)}`)
  return integer < 2 ** 32 ? Number(integer) : undefined
}
