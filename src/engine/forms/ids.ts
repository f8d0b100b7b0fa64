import type { ByteWriter } from '../../lib/bytes.ts'
import type { Addresses } from './addresses.ts'
import { takeVarint } from './cursor.ts'
import { type Form, type Ids, type Shown, writeNull } from './form.ts'
import { HEX, QUOTE } from './json.ts'

/** Appends an address of the dictionary as JSON. */
export const writeAddress = (out: ByteWriter, id: number, addresses: Addresses) => {
  out.bytes(HEX)
  addresses.checksummed(out, id)
  out.byte(QUOTE)
}

/** Ids in a dictionary; 0 is an explicit null. */
const idForm = (
  name: 'address' | 'name',
  idOf: (ids: Pick<Ids, 'address' | 'name'>, text: string) => number,
  show: (out: ByteWriter, id: number, shown: Shown) => void,
): Form => ({
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

export const address = idForm(
  'address',
  (ids, text) => ids.address(text),
  (out, id, { addresses }) => writeAddress(out, id, addresses),
)
export const name = idForm(
  'name',
  (ids, text) => ids.name(text),
  (out, id, shown) => shown.name(out, id),
)
