import { type Field, type FieldKind, isListField, type ListField } from '../../mapping/index.ts'
import { wordsForm } from './abi-words.ts'
import { bloomForm, byteStringForm, hashesForm, integersForm } from './bytes.ts'
import type { FieldForm } from './form.ts'
import { addressForm, booleanForm, nameForm } from './ids.ts'
import { integerForm } from './integer.ts'
import { listForm } from './list.ts'
import { writeAmount, writeHexNumber, writeLong, writeQuantity, writeWide } from './numbers.ts'

/** `extra` has forms of its own: see rest.ts. */
const FORM_BY_KIND: Record<Exclude<FieldKind, 'flattened'>, FieldForm> = {
  address: addressForm,
  hex: byteStringForm,
  hexList: hashesForm,
  hexNumber: integerForm(writeHexNumber, true),
  quantity: integerForm(writeQuantity),
  wide: integerForm(writeWide),
  amount: integerForm(writeAmount),
  boolean: booleanForm,
  seconds: integerForm(writeLong),
  datetime: integerForm(writeLong),
  keyword: nameForm,
  text: nameForm,
  long: integerForm(writeLong),
  integers: integersForm,
  double: integerForm(writeLong),
  integer256: integerForm(writeLong),
  decimal: integerForm(writeLong),
}

/** Storage, output and indexing of a field; docs/internals.md has the bytes. */
export const formOfField = (declaration: Field | ListField): FieldForm => {
  if (isListField(declaration)) return listForm(declaration)
  if (declaration.bloom) return bloomForm
  return declaration.words ? wordsForm : FORM_BY_KIND[declaration.kind as keyof typeof FORM_BY_KIND]
}
