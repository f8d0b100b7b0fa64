import type { Rest } from '../../documents/rest.ts'
import { cursor, type Form, sized, skipValue, takeLength, takeVarint, writeCut } from './form.ts'

/** A field that few chains have. */
export interface RareField {
  field: string
  number: number
  form: Form
}

/** Behind fields that few chains have, each of which begins with its number. */
const END_OF_RARE = 0

/**
 * The value of a record that holds fields which few chains have, each behind its number, and then, behind a zero, the JSON
 * of members that no field names. Those members are what it is shown as.
 */
export const rest = (rare: readonly RareField[]) => {
  const byName = new Map(rare.map(one => [one.field, one]))
  /** Numbers have holes. */
  const byNumber = new Map(rare.map(one => [one.number, one]))

  /** Puts the cursor before the field of a number; false where it is not there. */
  const find = (number: number, bytes: Uint8Array, end: number): boolean => {
    while (cursor.at < end) {
      const found = takeVarint(bytes)
      if (found === number) return true
      if (found === END_OF_RARE) return false
      skipValue(bytes, byNumber.get(found)!.form)
    }
    return false
  }

  const form: Form = sized('rest', {
    write(out, value, ids) {
      const { rare, extra } = value as Rest
      for (const [name, told] of rare) {
        const { number, form } = byName.get(name)!
        out.varint(number)
        form.write(out, told, ids)
      }
      if (!extra) return
      out.varint(END_OF_RARE)
      out.bytes(Buffer.from(JSON.stringify(extra)))
    },
    json: (_, plan) => (out, bytes, start, end) => {
      cursor.at = start
      if (!find(END_OF_RARE, bytes, end)) return false
      return writeCut(out, JSON.parse(bytes.toString('utf8', cursor.at, end)), plan)
    },
  })

  return {
    form,
    /** Goes from the rest's value to the field of a number; false where it is not there. */
    seek: (number: number, bytes: Uint8Array): boolean => find(number, bytes, takeLength(bytes) + cursor.at),
  }
}
