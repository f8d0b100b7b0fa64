import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import { version } from '../../lib/runtime.ts'
import { ANSWER_SHAPES } from '../shapes/answers.ts'
import { MANAGEMENT_SHAPES } from '../shapes/management.ts'
import { RULE_SHAPES } from '../shapes/rules.ts'
import { SERVER_SHAPES } from '../shapes/server.ts'
import type { Shape } from '../shapes/values.ts'
import { sourceSchemas } from './documents.ts'
import { endpointOperations } from './endpoints.ts'
import {
  errorHeaders,
  errorResponses,
  errorsOf,
  type Operation,
  parametersOf,
  type ShownParameter,
  shownParameters,
  TAGS,
} from './operations.ts'
import { ownOperations } from './own.ts'
import { querySchemas } from './query.ts'
import { ruleSchemas } from './rules.ts'
import { type Answer, JSON_BODY, type Schema } from './schema.ts'

/** What a server has: the description has no more. */
export interface Has {
  rules: boolean
  metrics: boolean
  management: boolean
}

export interface OpenApi {
  openapi: string
  info: { title: string; version: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Described>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Schema>
    responses: Record<string, Response>
    headers: Record<string, Schema>
    securitySchemes: Record<string, Schema>
  }
  [more: string]: unknown
}

export interface Described {
  operationId: string
  tags: string[]
  summary: string
  parameters?: ShownParameter[]
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }>; required?: boolean }
  responses: Record<string, Response | { $ref: string }>
  security?: unknown[]
}

export interface Response {
  description: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, { schema: Schema }>
}

/** OpenAPI 3.1 of all routes, from the tables that requests are checked by. */
export const describeApi = (has: Has): OpenApi => {
  const operations = [...ownOperations(has), ...endpointOperations()]
  const paths: OpenApi['paths'] = {}
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) }
  return {
    openapi: '3.1.0',
    info: { title: 'Chainsieve', version, description: DESCRIPTION },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }, { basic: [] }, { apiKey: [] }, { accessToken: [] }],
    paths,
    components: {
      schemas: {
        ...schemasOf({
          ...{ ...SERVER_SHAPES, ...ANSWER_SHAPES },
          ...(has.rules && RULE_SHAPES),
          ...(has.management && MANAGEMENT_SHAPES),
        }),
        ...querySchemas(),
        ...sourceSchemas(),
        ...(has.rules && ruleSchemas()),
      },
      parameters: parametersOf(operations),
      responses: errorResponses(),
      headers: errorHeaders(),
      securitySchemes: SECURITY,
    },
  }
}

/** JSON Schemas of shapes, which refer to each other by their names. */
const schemasOf = (shapes: Record<string, Shape>): Record<string, Schema> =>
  toJsonSchemaDefs(shapes as Parameters<typeof toJsonSchemaDefs>[0], {
    // Bodies are described as they are sent.
    typeMode: 'input',
    ignoreActions: ['check'],
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema: { type }, jsonSchema }) => shortened(type, jsonSchema as Schema),
  }) as Record<string, Schema>

/** Without what says nothing. */
// biome-ignore lint/suspicious/noExplicitAny: a schema may have any keywords
const shortened = (type: string, schema: Record<string, any>): Schema => {
  const { anyOf, enum: values, required, properties, items, propertyNames: _, type: own, ...rest } = schema
  if (type === 'nullable' && anyOf?.[0].enum) return { ...anyOf[0], enum: [...anyOf[0].enum, null] }
  if (type === 'nullable' && typeof anyOf?.[0].type === 'string') return { ...anyOf[0], type: [anyOf[0].type, 'null'] }
  return {
    ...rest,
    ...(anyOf && { anyOf }),
    ...(values ? { enum: values } : own && { type: own }),
    ...(properties && Object.keys(properties).length > 0 && { properties }),
    ...(required?.length > 0 && { required }),
    ...(items && Object.keys(items).length > 0 && { items }),
  }
}

const DESCRIPTION =
  'Search and alerts for EVM chains. Every GET also takes HEAD. A path is good with and without a slash at its end. ' +
  'The parameter filter_path leaves out parts of an answer, whose schema then holds no more.'

const SECURITY: Record<string, Schema> = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A token: chainsieve token create --account NAME.' },
  basic: { type: 'http', scheme: 'basic', description: 'The token is the password.' },
  apiKey: {
    ...{ type: 'apiKey', in: 'header', name: 'Authorization' },
    description: '`ApiKey` and base64 of `id:token`, as clients of Elasticsearch send it.',
  },
  accessToken: { type: 'apiKey', in: 'query', name: 'access_token' },
}

const describe = (operation: Operation): Described => {
  const { method, path, tag, doc, open, body, answers } = operation
  const parameters = shownParameters(operation)
  return {
    operationId: `${method}${path.replace(/[{}]/g, '').replace(/\W/g, '_')}`,
    tags: [tag],
    summary: doc,
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        content: {
          [body.type ?? JSON_BODY]: {
            schema: body.schema,
            ...(body.example !== undefined && { example: body.example }),
          },
        },
        ...(body.required && { required: true }),
      },
    }),
    responses: {
      ...errorsOf(operation),
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)])),
      default: { $ref: '#/components/responses/Error' },
    },
    ...(open && { security: [] }),
  }
}

const responseOf = ({ description, content }: Answer): Response => ({
  description,
  ...(content && { content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])) }),
})
