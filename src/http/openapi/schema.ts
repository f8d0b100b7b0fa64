/** A JSON Schema (2020-12), as OpenAPI 3.1 has them. */
export interface Schema {
  readonly [keyword: string]: unknown
}

export const schemaRef = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

export const stringSchema = { type: 'string' } as const
export const booleanSchema = { type: 'boolean' } as const
export const wholeSchema = { type: 'integer' } as const
export const numberSchema = { type: 'number' } as const

export const nullableSchema = (schema: Schema & { type: string }): Schema => ({
  ...schema,
  type: [schema.type, 'null'],
})
export const listSchema = (items: Schema): Schema => ({ type: 'array', items })
export const mapSchema = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })
export const enumSchema = (values: readonly (string | number)[]): Schema => ({ enum: values })
export const describedSchema = (description: string, schema: Schema): Schema => ({ ...schema, description })

/** An object that has all of `required`, may have `optional`, and nothing else. */
export const closedSchema = (required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => ({
  type: 'object',
  properties: { ...required, ...optional },
  ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
  additionalProperties: false,
})

/** Like closedSchema, but later versions may add members. */
export const openSchema = (required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => {
  const { additionalProperties: _, ...schema } = closedSchema(required, optional)
  return schema
}

/** A text, or several. */
export const namesSchema: Schema = { anyOf: [stringSchema, listSchema(stringSchema)] }

export interface Body {
  schema: Schema
  required?: boolean
  /** One that works with the demo chain, whatever the rest of the request is. */
  example?: unknown
  /** Default: JSON. */
  type?: string
}

export interface DescribedAnswer {
  description: string
  /** By media type; absent without a body. */
  content?: Readonly<Record<string, Schema>>
}

/** By status; all others are errors. */
export type Answers = Readonly<Record<number, DescribedAnswer>>

export const JSON_BODY = 'application/json'

export const answerSchema = (schema: Schema, description = 'The answer.'): DescribedAnswer => ({
  description,
  content: { [JSON_BODY]: schema },
})

/** An answer that may be an error as well. */
export const orError = (name: string, description: string): DescribedAnswer =>
  answerSchema({ anyOf: [schemaRef(name), schemaRef('Error')] }, description)

/** One method of one path. */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'delete'
  path: string
  tag: Tag
  doc: string
  /** No token is needed. */
  open?: true
  /** Names of URL parameters. */
  query?: readonly string[]
  /** Values of URL parameters that mean something else in other operations. */
  values?: Readonly<Record<string, Schema>>
  /** Names of headers of the request. */
  headers?: readonly string[]
  body?: Body
  /** By status; all others are errors. */
  answers: Answers
}

export type Tag = keyof typeof API_TAGS

export const API_TAGS = {
  Search: 'Documents of one network, in the dialect of Elasticsearch 7.',
  Elasticsearch: 'What else clients and tools of Elasticsearch request.',
  Rules: 'Alert rules of the account, their alerts and deliveries.',
  Management: 'Accounts, ABIs, decoding again, and figures of the server.',
  Server: 'The server itself.',
} as const

/** URL parameters that clients send everywhere. */
export const COMMON_PARAMETERS = ['access_token', 'error_trace', 'filter_path', 'human', 'pretty'] as const
