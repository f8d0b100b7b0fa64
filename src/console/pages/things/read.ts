import { at, type Json, type JsonObject, textAt } from '../../api/json.ts'

/** A quantity such as `{num, raw}`, of any size; undefined where it is null or absent. */
export const unitsAt = (source: Json | undefined, path: string): bigint | undefined => {
  const raw = textAt(source, `${path}.raw`)
  return raw !== undefined && /^0x[0-9a-f]+$/i.test(raw) ? BigInt(raw) : undefined
}

export const numberAt = (source: Json | undefined, path: string): number | undefined => {
  const found = at(source, path)
  return typeof found === 'number' || typeof found === 'bigint' ? Number(found) : undefined
}

export const listAt = (source: Json | undefined, path: string): Json[] => {
  const found = at(source, path)
  return Array.isArray(found) ? found : []
}

/** Seconds, or ISO text. */
export const timeOf = (source: JsonObject): number | string | undefined => {
  const found = source.timestamp
  return typeof found === 'number' || typeof found === 'string' ? found : undefined
}

/** Entries of a `terms` aggregation. */
export const bucketsOf = (aggregations: JsonObject | undefined, name: string): { key: string; count: number }[] =>
  listAt(aggregations, `${name}.buckets`).map(bucket => ({
    key: String(at(bucket, 'key')),
    count: numberAt(bucket, 'doc_count') ?? 0,
  }))

export const ZERO = `0x${'0'.repeat(40)}`
export const isAddress = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text)
export const isHash = (text: string): boolean => /^0x[0-9a-f]{64}$/i.test(text)

/** The 32-byte words of a hex text from a byte on; the last one may be shorter. */
export const wordsOf = (hex: string, from = 0): string[] => hex.slice(2 + from * 2).match(/.{1,64}/g) ?? []

const WORD = 64
/** Lists are shown up to here; the rest stands in the raw value. */
const MOST = 200

/** Elements of an ABI-encoded list of plain integers, addresses, booleans or words; undefined for anything else. */
export const elementsOf = (type: string, hex: string): string[] | undefined => {
  const [, element] = /^(u?int\d*|address|bool|bytes32)\[\d*\]$/.exec(type) ?? []
  if (element === undefined) return undefined
  const isDynamic = type.endsWith('[]')
  const words = wordsOf(hex)
  const [first, length] = [words[0] ?? '', words[1] ?? '']
  if (isDynamic && (first.length !== WORD || BigInt(`0x${first}`) !== 32n || length.length !== WORD)) return undefined
  const items = isDynamic ? words.slice(2) : words
  if (items.some(word => word.length !== WORD)) return undefined
  if (isDynamic && BigInt(`0x${length}`) !== BigInt(items.length)) return undefined
  return items.slice(0, MOST).map(word => elementOf(element, word))
}

const elementOf = (type: string, word: string): string => {
  if (type === 'address') return `0x${word.slice(24)}`
  if (type === 'bytes32') return `0x${word}`
  if (type === 'bool') return word.endsWith('1') ? 'true' : 'false'
  return String(type.startsWith('u') ? BigInt(`0x${word}`) : BigInt.asIntN(256, BigInt(`0x${word}`)))
}

/** An argument's integer in its own sign; undefined where it is none. */
export const integerOf = (type: string, hex: string): bigint | undefined => {
  const [, unsigned, bits = '256'] = /^(u?)int(\d*)$/.exec(type) ?? []
  if (unsigned === undefined || !/^0x[0-9a-f]+$/i.test(hex)) return undefined
  return unsigned === 'u' ? BigInt(hex) : BigInt.asIntN(Number(bits || 256), BigInt(hex))
}

/** Bytes as text; what is not UTF-8 becomes U+FFFD. */
export const utf8Of = (hex: string): string =>
  new TextDecoder().decode(Uint8Array.from(hex.slice(2).match(/../g) ?? [], byte => Number.parseInt(byte, 16)))
