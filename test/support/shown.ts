import {
  type BigIntegers,
  coinAmount,
  formatQuantity,
  type Integer,
  paddedHex,
  rawHex,
} from '../../src/documents/show.ts'

/** How amounts and wide integers stand in `_source`. */

export const wide = (value: Integer) => ({ padded: paddedHex(value), raw: rawHex(value) })

export const amount = (value: Integer, big: BigIntegers) => {
  const { num, raw } = formatQuantity(value, big)
  return { num, coin: coinAmount(value), padded: paddedHex(value), raw }
}
