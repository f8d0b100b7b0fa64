import type { BigIntegers } from './show.ts'

/** JSON of documents as objects. Integers that a double does not hold become what `big` makes of them. */
export const readDocument = (text: string, big: BigIntegers): unknown =>
  LONG.test(text) ? (JSON.parse as Parse)(text, exactly(big)) : JSON.parse(text)

/** Where none may be in the text, the quick way does. */
const LONG = /[:,[]-?\d{16}/

const exactly =
  (big: BigIntegers): Reviver =>
  (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && !Number.isSafeInteger(value) && INTEGER.test(source)
      ? big(BigInt(source))
      : value

const INTEGER = /^-?\d+$/

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
type Parse = (text: string, reviver: Reviver) => unknown
