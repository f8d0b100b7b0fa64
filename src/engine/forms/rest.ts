import type { Rest } from '../../documents/rest.ts'
import { cursor, type FieldForm, sizedForm, skipValue, takeLength, takeVarint, writeCut } from './form.ts'

export interface RareField {
  field: string
  number: number
  form: FieldForm
}

/** Follows the fields of few chains, each of which begins with its number. */
const END_OF_RARE = 0

/**
 * Fields of few chains, each after its number, then a zero and the JSON of all other members. It is
 * shown as these members.
 */
export const restForm = (rare: readonly RareField[]) => {
  const byName = new Map(rare.map(one => [one.field, one]))
  /** Numbers have holes. */
  const byNumber = new Map(rare.map(one => [one.number, one]))

  /** Puts the cursor before the field of a number; false if it is absent. */
  const find = (number: number, bytes: Uint8Array, end: number): boolean => {
    while (cursor.at < end) {
      const found = takeVarint(bytes)
      if (found === number) return true
      if (found === END_OF_RARE) return false
      skipValue(bytes, byNumber.get(found)!.form)
    }
    return false
  }

  const form: FieldForm = sizedForm('rest', {
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
    /** Goes from the value's start to the field of a number; false if it is absent. */
    seek: (number: number, bytes: Uint8Array): boolean => find(number, bytes, takeLength(bytes) + cursor.at),
  }
}
