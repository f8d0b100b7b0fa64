import { MAPPING } from '../../mapping/index.ts'
import { TARGET_KINDS, type TargetType } from '../rule.ts'

/** Parses `_source`; numbers that a double would change stay as text (`JSON.rawJSON`). */
export const readSource = (text: string): Record<string, unknown> =>
  (JSON.parse as Parse)(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && JSON.stringify(value) !== source ? exact(source) : value,
  ) as Record<string, unknown>

/** Rules of the original service step into the document from a list that had it as an element. */
export const withList = (source: SourceFields, targetType: TargetType | undefined): SourceFields => {
  const listedAs = targetType && targetType !== 'State' ? MAPPING[TARGET_KINDS[targetType]].listedAs : undefined
  return listedAs === undefined ? source : { ...source, [listedAs]: source }
}

export const followPath = (value: unknown, path: readonly string[]): unknown => {
  for (const name of path) {
    if (value === undefined) return undefined
    value = memberAt(value, name)
  }
  return value
}

const memberAt = (value: unknown, name: string): unknown => {
  if (isArguments(value))
    return (value.find(it => it.name === name) ?? value.find(it => String(it.pos) === name))?.value
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined
  if (isPlainObject(value)) return Object.hasOwn(value, name) ? value[name] : undefined
  // The sub-field `raw` is the same text.
  return typeof value === 'string' && name === 'raw' ? value : undefined
}

/** The exact integer; `num` has 64 bits only. */
export const encodedInteger = (value: SourceFields): string | undefined => {
  if (typeof value.num === 'number' || isRawJSON(value.num))
    return isRawJSON(value.num) ? value.num.rawJSON : String(value.num)
  if (typeof value.raw === 'string') return HEX_QUANTITY.test(value.raw) ? String(BigInt(value.raw)) : undefined
  const [, unsigned, bits] = /^(u?)int(\d+)$/.exec(String(value.type)) ?? []
  if (bits === undefined || !HEX_QUANTITY.test(String(value.hex))) return undefined
  const integer = BigInt(String(value.hex))
  return String(unsigned === '' ? BigInt.asIntN(Number(bits), integer) : integer)
}

/** Text of a `string` argument; undefined for other types and invalid UTF-8. */
export const stringOf = ({ type, hex }: SourceFields): string | undefined => {
  if (type !== 'string' || typeof hex !== 'string' || !/^0x([\da-f]{2})*$/i.test(hex)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(hex.slice(2), 'hex'))
  } catch {
    return undefined
  }
}

export const scalarText = (value: unknown): string =>
  isRawJSON(value) ? value.rawJSON : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** The value of a token, in decimal digits if it is a number. */
export const asToken = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  if (!isEncoded(value)) return scalarText(value)
  return encodedInteger(value) ?? stringOf(value) ?? scalarText(value.hex ?? value.raw)
}

/** JSON list of what a document has at some names; `network` stands for that of the alert. */
export const keyOfNames = (
  by: readonly string[],
  { source, targetType, network }: { source: string; targetType: TargetType; network?: string },
): string => {
  const isNetwork = (name: string) => name === 'network' && network !== undefined
  const values = by.every(isNetwork) ? {} : withList(readSource(source), targetType)
  return JSON.stringify(by.map(name => (isNetwork(name) ? network : asToken(followPath(values, name.split('.'))))))
}

type Parse = (text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown) => unknown
const { rawJSON: exact, isRawJSON: isRaw } = JSON as unknown as {
  rawJSON(text: string): unknown
  isRawJSON(value: unknown): value is { rawJSON: string }
}
export const isRawJSON: (value: unknown) => value is { rawJSON: string } = isRaw

export type SourceFields = Record<string, unknown>
export const isPlainObject = (value: unknown): value is SourceFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value)

export const isArguments = (value: unknown): value is { name: unknown; pos: unknown; value: unknown }[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    it => isPlainObject(it) && Object.hasOwn(it, 'name') && Object.hasOwn(it, 'pos') && Object.hasOwn(it, 'value'),
  )

/** A value in several encodings: `{hex, num, scaled, type}` or `{num, raw, …}`. */
export const isEncoded = (value: unknown): value is SourceFields =>
  isPlainObject(value) &&
  (typeof value.raw === 'string' || (typeof value.hex === 'string' && typeof value.type === 'string'))

const HEX_QUANTITY = /^0x[\da-f]+$/i
