import {
  ENCODINGS,
  type Field,
  type FieldKind,
  isList,
  KINDS,
  type Kind,
  type List,
  MAPPING,
} from '../../mapping/index.ts'
import { closed, flag, number, orNull, ref, type Schema, text, whole } from './schema.ts'

const hex: Schema = { type: ['string', 'null'], pattern: '^0x[0-9a-fA-F]*$' }

/** How a kind of field looks in `_source`; encodings that stand apart come with `decimals` or by their name. */
const SHOWN_KINDS = {
  address: { ...hex, description: 'An address with the checksum of EIP-55.' },
  hex,
  hexList: { type: ['array', 'null'], items: hex },
  hexNumber: hex,
  quantity: encoded('quantity'),
  wide: encoded('wide'),
  amount: encoded('amount'),
  boolean: orNull(flag),
  seconds: orNull(whole),
  datetime: orNull(text),
  keyword: orNull(text),
  text: orNull(text),
  long: orNull(whole),
  integers: { type: ['array', 'null'], items: whole },
  double: orNull(number),
  integer256: orNull(whole),
  decimal: orNull(text),
  flattened: { type: ['object', 'null'] },
} as const satisfies Record<FieldKind, Schema>

function encoded(kind: FieldKind): Schema {
  const types = { long: orNull(whole), double: orNull(number), hex, integer: orNull(text) } as const
  const members = Object.entries(ENCODINGS[kind]).map(([name, { compare }]) => [
    name,
    types[compare as keyof typeof types],
  ])
  return { ...closed({}, Object.fromEntries(members)), type: ['object', 'null'] }
}

const fieldSchema = (field: Field | List): Schema =>
  isList(field)
    ? { type: ['array', 'null'], items: objectOf(field.members), description: field.doc }
    : { ...SHOWN_KINDS[field.kind], description: field.doc }

/** Members such as `value.hex` lie in an object of their own. `_source` may be filtered: no field is required. */
const objectOf = (fields: Readonly<Record<string, Field | List>>): Schema => {
  const properties: Record<string, Schema> = {}
  const inner = new Map<string, Record<string, Field | List>>()
  for (const [name, field] of Object.entries(fields)) {
    const [first = '', ...rest] = name.split('.')
    if (rest.length === 0) properties[name] = fieldSchema(field)
    else inner.set(first, { ...inner.get(first), [rest.join('.')]: field })
  }
  for (const [name, members] of inner) properties[name] = { ...objectOf(members), type: ['object', 'null'] }
  return closed({}, properties)
}

/** Name of the schema of a kind's `_source`. */
export const sourceName = (kind: Kind): string => `${kind[0]!.toUpperCase()}${kind.slice(1)}Source`

export const anySource: Schema = { anyOf: KINDS.map(kind => ref(sourceName(kind))) }

export const sourceSchemas = (): Record<string, Schema> =>
  Object.fromEntries(
    KINDS.map(kind => [sourceName(kind), { ...objectOf(MAPPING[kind].fields), description: MAPPING[kind].doc }]),
  )
