import { isTrue } from '../../lib/hex.ts'
import { cursor } from './cursor.ts'
import type { Form } from './form.ts'
import { FALSE, NULL, TRUE } from './json.ts'

const NULL_BOOLEAN = 2

const take = (bytes: Uint8Array): boolean | null => {
  const byte = bytes[cursor.at++]!
  return byte === NULL_BOOLEAN ? null : byte === 1
}

/** 0, 1, or 2 for an explicit null. */
export const boolean: Form = {
  name: 'boolean',
  size: 'byte',
  write: (out, value) => out.byte(value === null ? NULL_BOOLEAN : isTrue(value) ? 1 : 0),
  json: () => (out, bytes) => {
    const truth = take(bytes)
    out.bytes(truth === null ? NULL : truth ? TRUE : FALSE)
    return true
  },
  take,
  number: value => (value == null ? undefined : isTrue(value) ? 1 : 0),
  // A search for what is true finds nearly everything.
  term(value, _, add) {
    if (value != null && !isTrue(value)) add(0)
  },
}
