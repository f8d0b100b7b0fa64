import type { Hex } from '../../wire.ts'

/** Bytes, or hex as cryo writes them with `--hex`; null where there is none. */
export const hexOf = (value: unknown, name: string): Hex | null => {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array)
    return `0x${Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}`
  if (typeof value === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return value.toLowerCase()
  throw new RangeError(`${name} is ${String(value).slice(0, 50)}, not bytes`)
}

/** Numbers, decimal digits, or bytes from the most significant on. */
export const quantityOf = (value: unknown, name: string): Hex | null => {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) {
    if (value >= 0) return `0x${value.toString(16)}`
  } else if (value instanceof Uint8Array) {
    if (value.length > 0 && value.length <= 32) return `0x${BigInt(hexOf(value, name)!).toString(16)}`
  } else if (typeof value === 'string' && /^(?:\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(value))
    return `0x${BigInt(value).toString(16)}`
  throw new RangeError(`${name} is ${String(value).slice(0, 50)}, not a whole number`)
}

export const numberOf = (value: unknown, name: string): number => {
  const number = Number(value)
  if (value === null || value === undefined || !Number.isSafeInteger(number) || number < 0)
    throw new RangeError(`${name} is ${String(value).slice(0, 50)}, not a number`)
  return number
}
