import type { RestKind } from '../../../documents/rest.ts'
import { RARE_BY_NUMBER } from '../forms.ts'
import { cursor, takeVarint } from './cursor.ts'
import { END_OF_RARE, skipValue } from './values.ts'

/**
 * The value of a record that holds fields which few chains have, each behind its number, and then, behind a zero, the JSON of members that no
 * field names. Reading begins at the cursor, behind the value's length.
 */

/** Puts the cursor before the field of a number; false where it is not there. */
export const seekRare = (kind: RestKind, number: number, bytes: Uint8Array, end: number): boolean => {
  const columns = RARE_BY_NUMBER[kind]
  while (cursor.at < end) {
    const found = takeVarint(bytes)
    if (found === number) return true
    if (found === END_OF_RARE) return false
    skipValue(bytes, columns[found]!)
  }
  return false
}

/** The members that no field names, as JSON text: where it begins; `end` where there are none. */
export const startOfExtra = (kind: RestKind, bytes: Uint8Array, end: number): number =>
  seekRare(kind, END_OF_RARE, bytes, end) ? cursor.at : end
