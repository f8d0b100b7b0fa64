import { AGGREGATIONS } from '../../query/aggs/kinds/index.ts'
import type { AggregationKind } from '../../query/aggs/kinds/kind.ts'
import { PIPELINES } from '../../query/aggs/pipelines/index.ts'
import { BODY_KEYS, IGNORED_KEYS } from '../../query/body-keys.ts'
import type { Clause } from '../../query/dsl/clause.ts'
import { CLAUSES } from '../../query/dsl/index.ts'
import { REFUSED_KEYS } from '../../query/refused.ts'
import { CHANNELS, type Parameter } from '../../rules/channels.ts'
import { OPERATORS, type Operator } from '../../rules/rule.ts'
import { closed, flag, listOf, mapOf, oneOf, orNull, ref, type Schema, text } from './schema.ts'

const query = ref('Query')
const object: Schema = { type: 'object' }

const open = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties })

const propertiesOf = (keys: NonNullable<AggregationKind['keys']>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(keys).map(([name, { schema }]) => [name, schema]))

const clauseSchema = (name: keyof typeof CLAUSES): Schema => {
  const { doc, limit, example, fieldwise, keys }: Clause = CLAUSES[name]
  return {
    ...(fieldwise ? { type: 'object', minProperties: 1 } : open(propertiesOf(keys))),
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
  ...open(propertiesOf(keys)),
  description: limit === undefined ? doc : `${doc} ${limit}`,
  examples: [example],
})

/** What is not supported may be there where it asks for nothing. */
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
      aggs: mapOf(ref('Aggregation')),
      aggregations: mapOf(ref('Aggregation')),
      meta: object,
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

const link: Schema = { ...text, format: 'uri' }
const HELD_SCHEMAS: Record<Parameter['holds'], Schema> = { url: link, addresses: listOf(text), text, name: text }

/** Each with its parameters, all of which it must have. */
const action: Schema = {
  oneOf: Object.entries<Record<string, Parameter>>(CHANNELS).map(([type, parameters]) => {
    const held = Object.entries(parameters).map(([name, { holds }]) => [name, HELD_SCHEMAS[holds]])
    return closed(
      { type: { const: type }, parameters: closed(Object.fromEntries(held)) },
      { payload: listOf(ref('PayloadField')) },
    )
  }),
}

const LIST_OPERATORS: readonly Operator[] = ['Equals any', 'Equals any (ignore case)']
const TEXT_OPERATORS = OPERATORS.filter(it => it !== 'Inspect' && !LIST_OPERATORS.includes(it))
const COMPARES = { useScaledValue: flag, operatorParameters: { type: 'null' } }

const condition: Schema = {
  oneOf: [
    closed({ name: text, operator: oneOf(TEXT_OPERATORS), value: text }, COMPARES),
    closed({ name: text, operator: oneOf(LIST_OPERATORS), value: listOf(text) }, COMPARES),
    closed(
      { name: text, operator: { const: 'Inspect' }, operatorParameters: listOf(ref('Condition')) },
      { useScaledValue: flag, value: orNull(text) },
    ),
  ],
}

/** What of a rule's text is described by what its check knows. */
export const ruleSchemas = (): Record<string, Schema> => ({
  Condition: condition,
  Action: action,
  PayloadField: {
    oneOf: [
      closed({ fieldType: { const: 'Field' }, fieldName: text }, { subPayloads: { type: 'null' } }),
      closed({ fieldType: { const: 'Sub Field' }, fieldName: text, subPayloads: listOf(ref('PayloadField')) }),
    ],
  },
})
