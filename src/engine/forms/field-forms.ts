import { type Field, type FieldKind, isList, type List } from '../../mapping/index.ts'
import { bloom, bytes, hashes, integers } from './bytes.ts'
import type { Form } from './form.ts'
import { address, boolean, name } from './ids.ts'
import { integer } from './integer.ts'
import { list } from './list.ts'
import { writeAmount, writeHexNumber, writeLong, writeQuantity, writeWide } from './numbers.ts'
import { words } from './words.ts'

/** `extra` has forms of its own: see rest.ts. */
const FORMS: Record<Exclude<FieldKind, 'flattened'>, Form> = {
  address,
  hex: bytes,
  hexList: hashes,
  hexNumber: integer(writeHexNumber, true),
  quantity: integer(writeQuantity),
  wide: integer(writeWide),
  amount: integer(writeAmount),
  boolean,
  seconds: integer(writeLong),
  datetime: integer(writeLong),
  keyword: name,
  text: name,
  long: integer(writeLong),
  integers,
  double: integer(writeLong),
  integer256: integer(writeLong),
  decimal: integer(writeLong),
}

/** How a field is kept, shown and indexed; see docs/internals.md for the bytes. */
export const formOfField = (declaration: Field | List): Form => {
  if (isList(declaration)) return list(declaration)
  if (declaration.bloom) return bloom
  return declaration.words ? words : FORMS[declaration.kind as keyof typeof FORMS]
}
