import {
  ENCODINGS,
  type Field,
  type FieldKind,
  isListField,
  KINDS,
  type Kind,
  type ListField,
  MAPPING,
} from '../../mapping/index.ts'
import {
  booleanSchema,
  closedSchema,
  nullableSchema,
  numberSchema,
  type Schema,
  schemaRef,
  stringSchema,
  wholeSchema,
} from './schema.ts'

const hexSchema: Schema = { type: ['string', 'null'], pattern: '^0x[0-9a-fA-F]*$' }

/** JSON Schema of each kind of field in `_source`. */
const SHOWN_KINDS = {
  address: { ...hexSchema, description: 'An address with the checksum of EIP-55.' },
  hex: hexSchema,
  hexList: { type: ['array', 'null'], items: hexSchema },
  hexNumber: hexSchema,
  quantity: encoded('quantity'),
  wide: encoded('wide'),
  amount: encoded('amount'),
  boolean: nullableSchema(booleanSchema),
  seconds: nullableSchema(wholeSchema),
  datetime: nullableSchema(stringSchema),
  keyword: nullableSchema(stringSchema),
  text: nullableSchema(stringSchema),
  long: nullableSchema(wholeSchema),
  integers: { type: ['array', 'null'], items: wholeSchema },
  double: nullableSchema(numberSchema),
  integer256: nullableSchema(wholeSchema),
  decimal: nullableSchema(stringSchema),
  flattened: { type: ['object', 'null'] },
} as const satisfies Record<FieldKind, Schema>

function encoded(kind: FieldKind): Schema {
  const types = {
    long: nullableSchema(wholeSchema),
    double: nullableSchema(numberSchema),
    hex: hexSchema,
    integer: nullableSchema(stringSchema),
  } as const
  const members = Object.entries(ENCODINGS[kind]).map(([name, { compare }]) => [
    name,
    types[compare as keyof typeof types],
  ])
  return { ...closedSchema({}, Object.fromEntries(members)), type: ['object', 'null'] }
}

const fieldSchema = (field: Field | ListField): Schema =>
  isListField(field)
    ? { type: ['array', 'null'], items: fieldsSchema(field.members), description: field.doc }
    : { ...SHOWN_KINDS[field.kind], description: field.doc }

/** Members such as `value.hex` form an object. `_source` may be filtered: no field is required. */
const fieldsSchema = (fields: Readonly<Record<string, Field | ListField>>): Schema => {
  const properties: Record<string, Schema> = {}
  const inner = new Map<string, Record<string, Field | ListField>>()
  for (const [name, field] of Object.entries(fields)) {
    const [first = '', ...rest] = name.split('.')
    if (rest.length === 0) properties[name] = fieldSchema(field)
    else inner.set(first, { ...inner.get(first), [rest.join('.')]: field })
  }
  for (const [name, members] of inner) properties[name] = { ...fieldsSchema(members), type: ['object', 'null'] }
  return closedSchema({}, properties)
}

/** Name of the schema of a kind's `_source`. */
export const sourceName = (kind: Kind): string => `${kind[0]!.toUpperCase()}${kind.slice(1)}Source`

export const anySource: Schema = { anyOf: KINDS.map(kind => schemaRef(sourceName(kind))) }

export const sourceSchemas = (): Record<string, Schema> =>
  Object.fromEntries(
    KINDS.map(kind => [sourceName(kind), { ...fieldsSchema(MAPPING[kind].fields), description: MAPPING[kind].doc }]),
  )
