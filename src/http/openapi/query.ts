import { AGGREGATIONS } from '../../query/aggs/kinds/index.ts'
import type { AggregationKind } from '../../query/aggs/kinds/kind.ts'
import { PIPELINES } from '../../query/aggs/pipelines/index.ts'
import { BODY_KEYS, IGNORED_KEYS } from '../../query/body-keys.ts'
import type { Clause } from '../../query/dsl/clause.ts'
import { CLAUSES } from '../../query/dsl/index.ts'
import { REFUSED_KEYS } from '../../query/refused.ts'
import { CHANNEL_ALIASES, CHANNEL_NOTES, CHANNELS, type ChannelType, type Parameter } from '../../rules/channels.ts'
import { LOGIC_OPERATORS, RULE_OPERATORS, type RuleOperator } from '../../rules/rule.ts'
import {
  booleanSchema,
  closedSchema,
  enumSchema,
  listSchema,
  mapSchema,
  nullableSchema,
  type Schema,
  schemaRef,
  stringSchema,
} from './schema.ts'

const query = schemaRef('Query')
const anyObject: Schema = { type: 'object' }

const openProperties = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties })

const propertiesOf = (keys: NonNullable<AggregationKind['keys']>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(keys).map(([name, { schema }]) => [name, schema]))

const clauseSchema = (name: keyof typeof CLAUSES): Schema => {
  const { doc, limit, example, fieldwise, keys }: Clause = CLAUSES[name]
  return {
    ...(fieldwise ? { type: 'object', minProperties: 1 } : openProperties(propertiesOf(keys))),
    description: limit === undefined ? doc : `${doc} ${limit}`,
    examples: [example],
  }
}

interface Documented {
  doc: string
  limit?: string
  example?: unknown
  keys?: AggregationKind['keys']
}

const aggregationSchema = ({ doc, limit, example, keys = {} }: Documented): Schema => ({
  ...openProperties(propertiesOf(keys)),
  description: limit === undefined ? doc : `${doc} ${limit}`,
  examples: [example],
})

/** Unsupported keys may have values that ask for nothing. */
const NOT_ASKED: Schema = { enum: [null, false, 0, {}, []] }

const bodyProperties = (): Record<string, Schema> =>
  Object.fromEntries(
    Object.entries<Documented & { schema: object }>(BODY_KEYS).map(([name, { doc, limit, schema }]) => [
      name,
      { ...schema, description: limit === undefined ? doc : `${doc} ${limit}` },
    ]),
  )

/** Schemas of what searches are asked, from the tables that they are read by. */
export const querySchemas = (): Record<string, Schema> => ({
  Query: {
    type: 'object',
    description: 'One clause of the query DSL.',
    minProperties: 1,
    maxProperties: 1,
    properties: Object.fromEntries(
      (Object.keys(CLAUSES) as (keyof typeof CLAUSES)[]).map(name => [name, clauseSchema(name)]),
    ),
    additionalProperties: false,
  },
  Aggregation: {
    type: 'object',
    description: 'One aggregation, with others inside of it.',
    minProperties: 1,
    properties: {
      ...Object.fromEntries(
        Object.entries<Documented>({ ...AGGREGATIONS, ...PIPELINES }).map(([name, kind]) => [
          name,
          aggregationSchema(kind),
        ]),
      ),
      // A filter is a query itself.
      filter: { ...query, description: AGGREGATIONS.filter.doc },
      aggs: mapSchema(schemaRef('Aggregation')),
      aggregations: mapSchema(schemaRef('Aggregation')),
      meta: anyObject,
    },
    additionalProperties: false,
  },
  SearchBody: {
    type: 'object',
    description: 'What a search asks for. docs/search.md and docs/compatibility.md explain it.',
    properties: {
      ...bodyProperties(),
      ...Object.fromEntries(
        Array.from(REFUSED_KEYS, ([name, remedy]) => [name, { ...NOT_ASKED, description: `Not supported. ${remedy}` }]),
      ),
      ...Object.fromEntries(
        Object.entries(IGNORED_KEYS).map(([name, why]) => [name, { description: `Ignored: ${why}.` }]),
      ),
    },
    additionalProperties: false,
    examples: [{ query: { bool: { filter: [{ term: CLAUSES.term.example }] } }, size: 10 }],
  },
  QueryBody: {
    type: 'object',
    description: 'A query alone.',
    properties: { query: BODY_KEYS.query.schema },
  },
})

const link: Schema = { ...stringSchema, format: 'uri' }
const HELD_SCHEMAS: Record<Parameter['holds'], Schema> = {
  url: link,
  addresses: listSchema(stringSchema),
  text: stringSchema,
  name: stringSchema,
  key: { ...stringSchema, description: 'Answers show `[secret …]` in its place, which a change may send back.' },
}

const parameterSchema = ({ holds, choices, form }: Parameter): Schema => ({
  ...HELD_SCHEMAS[holds],
  ...(choices && { enum: choices }),
  // A key may also be as an answer shows it.
  ...(form && holds !== 'key' && { pattern: form[0].source }),
})

const channelAliasesOf = (type: string): string[] =>
  Object.entries(CHANNEL_ALIASES).flatMap(([alias, meant]) => (meant === type ? [alias] : []))

/** Each with its parameters, all of which it must have that are not optional. */
const action: Schema = {
  oneOf: Object.entries<Record<string, Parameter>>(CHANNELS).map(([type, parameters]) => {
    const held = (optional: boolean) =>
      Object.fromEntries(
        Object.entries(parameters).flatMap(([name, parameter]) =>
          (parameter.optional ?? false) === optional ? [[name, parameterSchema(parameter)]] : [],
        ),
      )
    return {
      description: CHANNEL_NOTES[type as ChannelType],
      ...closedSchema(
        { type: { enum: [type, ...channelAliasesOf(type)] }, parameters: closedSchema(held(false), held(true)) },
        { payload: listSchema(schemaRef('PayloadField')), message: stringSchema },
      ),
    }
  }),
}

const LIST_OPERATORS: readonly RuleOperator[] = ['Equals any', 'Equals any (ignore case)']
const TEXT_OPERATORS = RULE_OPERATORS.filter(it => it !== 'Inspect' && !LIST_OPERATORS.includes(it))
const COMPARES = { useScaledValue: booleanSchema, operatorParameters: { type: 'null' } }

const WATCHED = closedSchema({ list: stringSchema })

const condition: Schema = {
  oneOf: [
    closedSchema({ name: stringSchema, operator: enumSchema(TEXT_OPERATORS), value: stringSchema }, COMPARES),
    closedSchema(
      {
        name: stringSchema,
        operator: enumSchema(LIST_OPERATORS),
        value: { anyOf: [listSchema(stringSchema), WATCHED] },
      },
      COMPARES,
    ),
    closedSchema(
      { name: stringSchema, operator: { const: 'Inspect' }, operatorParameters: listSchema(schemaRef('Condition')) },
      { useScaledValue: booleanSchema, sameElement: booleanSchema, value: nullableSchema(stringSchema) },
    ),
    closedSchema(
      { operator: enumSchema(LOGIC_OPERATORS), operatorParameters: listSchema(schemaRef('Condition')) },
      { name: { type: 'null' }, value: { type: 'null' } },
    ),
  ],
}

/** Schemas of rules from the tables that check them. */
export const ruleSchemas = (): Record<string, Schema> => ({
  Condition: condition,
  Action: action,
  PayloadField: {
    oneOf: [
      closedSchema({ fieldType: { const: 'Field' }, fieldName: stringSchema }, { subPayloads: { type: 'null' } }),
      closedSchema({
        fieldType: { const: 'Sub Field' },
        fieldName: stringSchema,
        subPayloads: listSchema(schemaRef('PayloadField')),
      }),
    ],
  },
})
