import { ENCODINGS, type Encoding, type Field, isListField, type Kind, MAPPING } from './index.ts'

/** A mapping's properties as Elasticsearch declares them. */
export interface Properties {
  [name: string]: Property
}

export interface Property {
  type?: string
  properties?: Properties
  fields?: Properties
  [option: string]: unknown
}

/** Undefined if the encoding is not declared. */
export type Declare = (field: Field, encoding: Encoding) => Property | undefined

/** Members such as `value.hex` stand in an object of their own. */
export const mappingProperties = (kind: Kind, declare: Declare = declared): Properties =>
  propertiesIn(MAPPING[kind].fields, declare)

const propertiesIn = (fields: (typeof MAPPING)[Kind]['fields'], declare: Declare): Properties => {
  const all: Properties = {}
  for (const [name, field] of Object.entries(fields)) {
    if (isListField(field)) {
      const properties = propertiesIn(field.members, declare)
      all[name] = { ...(field.list === 'nested' && { type: 'nested' }), properties }
    } else {
      const property = propertyOf(field, declare)
      if (property) putProperty(all, name.split('.'), property)
    }
  }
  return all
}

const putProperty = (all: Properties, [first, ...rest]: string[], property: Property): void => {
  if (rest.length === 0) {
    all[first!] = property
    return
  }
  all[first!] ??= { properties: {} }
  putProperty(all[first!]!.properties!, rest, property)
}

const propertyOf = (field: Field, declare: Declare): Property | undefined => {
  const encodings = Object.entries<Encoding>(ENCODINGS[field.kind]).flatMap(([name, encoding]) => {
    const property = declare(field, encoding)
    return property ? [[name, property] as const] : []
  })
  if (encodings.length === 0) return undefined
  const own = encodings.find(([name]) => name === '')?.[1]
  const inner = Object.fromEntries(encodings.filter(([name]) => name !== ''))
  if (own === undefined) return { properties: inner }
  return Object.keys(inner).length === 0 ? own : { ...own, fields: inner }
}

export const declared: Declare = (field, { es, ignoreAbove, compare }) => ({
  type: es,
  ...(ignoreAbove !== undefined && { ignore_above: ignoreAbove }),
  ...(compare === 'instant' && {
    format: field.kind === 'seconds' ? 'epoch_second' : 'strict_date_hour_minute_second',
  }),
  ...(field.hidden && { index: false }),
})

/** Objects come before what is in them. */
export const pathsIn = (properties: Properties, prefix = ''): [path: string, property: Property][] =>
  Object.entries(properties).flatMap(([name, property]): [string, Property][] => [
    [`${prefix}${name}`, property],
    ...pathsIn({ ...property.properties, ...property.fields }, `${prefix}${name}.`),
  ])
