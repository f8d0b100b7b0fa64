import { type ByteWriter, isTrue } from '../../lib/bytes.ts'
import type { Addresses } from './addresses.ts'
import { cursor, type FieldForm, type Ids, type JsonContext, takeVarint, writeNull } from './form.ts'
import { FALSE, HEX_START, NULL, QUOTE, TRUE } from './json.ts'
export const writeAddress = (out: ByteWriter, id: number, addresses: Addresses) => {
  out.bytes(HEX_START)
  addresses.checksummed(out, id)
  out.byte(QUOTE)
}

/** Ids of a dictionary; 0 is an explicit null. */
const idForm = (
  name: 'address' | 'name',
  idOf: (ids: Pick<Ids, 'address' | 'name'>, text: string) => number,
  show: (out: ByteWriter, id: number, shown: JsonContext) => void,
): FieldForm => ({
  name,
  size: 'varint',
  write: (out, value, ids) => out.varint(value === null ? 0 : idOf(ids, value as string)),
  json: (plan, shown) => (out, bytes) => {
    const id = takeVarint(bytes)
    if (id === 0) return writeNull(out, plan)
    show(out, id, shown)
    return true
  },
  take: bytes => takeVarint(bytes) || null,
  number: (value, ids) =>
    typeof value === 'string' ? idOf(ids, value) : typeof value === 'number' ? value : undefined,
  term(value, ids, add) {
    if (typeof value === 'string') add(idOf(ids, value))
  },
})

export const addressForm = idForm(
  'address',
  (ids, text) => ids.address(text),
  (out, id, { addresses }) => writeAddress(out, id, addresses),
)
export const nameForm = idForm(
  'name',
  (ids, text) => ids.name(text),
  (out, id, shown) => shown.name(out, id),
)

const NULL_BOOLEAN = 2
const take = (bytes: Uint8Array): boolean | null => {
  const byte = bytes[cursor.at++]!
  return byte === NULL_BOOLEAN ? null : byte === 1
}
/** 0, 1, or 2 for an explicit null. */
export const booleanForm: FieldForm = {
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
