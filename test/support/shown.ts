import { type BigIntegers, coin, type Integer, paddedHex, quantity, rawHex } from '../../src/documents/show.ts'

/** How amounts and wide integers stand in `_source`. */

export const wide = (value: Integer) => ({ padded: paddedHex(value), raw: rawHex(value) })

export const amount = (value: Integer, big: BigIntegers) => {
  const { num, raw } = quantity(value, big)
  return { num, coin: coin(value), padded: paddedHex(value), raw }
}
