import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import { version } from '../lib/runtime.ts'
import { KINDS } from '../mapping/index.ts'
import { SEARCH_PARAMETERS } from '../query/parameters.ts'
import { RULE_ROUTES } from './alerting/index.ts'
import { CAT_BYTE_UNITS } from './es/cat-table.ts'
import { infoRoute } from './es/cluster.ts'
import { endpointOperations } from './es/index.ts'
import { GAS_ROUTES } from './gas-price.ts'
import { MANAGEMENT_ROUTES } from './manage/routes.ts'
import { agentRoute } from './mcp.ts'
import { metrics } from './metrics.ts'
import { sourceSchemas } from './openapi/documents.ts'
import { DESCRIPTION_ROUTES } from './openapi/page.ts'
import { querySchemas, ruleSchemas } from './openapi/query.ts'
import {
  API_TAGS,
  type DescribedAnswer,
  enumSchema,
  JSON_BODY,
  type Operation,
  type Schema,
  schemaRef,
  stringSchema,
  wholeSchema,
} from './openapi/schema.ts'
import { ANSWER_SHAPES } from './shapes/answers.ts'
import { MANAGEMENT_SHAPES } from './shapes/management.ts'
import { alertState, RULE_SHAPES } from './shapes/rules.ts'
import { SERVER_SHAPES } from './shapes/server.ts'
import type { HttpShape } from './shapes/values.ts'
import { healthRoute, readyRoute, statusRoute } from './status.ts'

/** Parts of a server that the description includes. */
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
    responses: Record<string, DescribedResponse>
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
  responses: Record<string, DescribedResponse | { $ref: string }>
  security?: unknown[]
}

export interface DescribedResponse {
  description: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, { schema: Schema }>
}

/** OpenAPI 3.1 of all routes, from the tables that requests are checked by. */
export const describeApi = (has: Has): OpenApi => {
  const operations: Operation[] = [
    ...[healthRoute, readyRoute, ...DESCRIPTION_ROUTES, statusRoute, infoRoute],
    ...(has.metrics ? [metrics] : []),
    ...(has.rules ? RULE_ROUTES : []),
    ...(has.management ? MANAGEMENT_ROUTES : []),
    ...GAS_ROUTES,
    agentRoute,
    ...endpointOperations(),
  ]
  const paths: OpenApi['paths'] = {}
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describeOperation(operation) }
  return {
    openapi: '3.1.0',
    info: { title: 'Chainsieve', version, description: API_DESCRIPTION },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/' }],
    tags: Object.entries(API_TAGS).map(([name, description]) => ({ name, description })),
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
      parameters: sharedParameters(operations),
      responses: errorResponses(),
      headers: errorHeaders(),
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

/** JSON Schemas of shapes, which refer to each other by their names. */
const schemasOf = (shapes: Record<string, HttpShape>): Record<string, Schema> =>
  toJsonSchemaDefs(shapes as Parameters<typeof toJsonSchemaDefs>[0], {
    // Bodies are described as they are sent.
    typeMode: 'input',
    ignoreActions: ['check'],
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema: { type }, jsonSchema }) => shortenedSchema(type, jsonSchema as Schema),
  }) as Record<string, Schema>

/** Without what says nothing. */
// biome-ignore lint/suspicious/noExplicitAny: a schema may have any keywords
const shortenedSchema = (type: string, schema: Record<string, any>): Schema => {
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

const API_DESCRIPTION =
  'Search and alerts for EVM chains. Every GET also takes HEAD. A path is good with and without a slash at its end. ' +
  'The parameter filter_path leaves out parts of an answer, whose schema then holds no more.'

const SECURITY_SCHEMES: Record<string, Schema> = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A token: chainsieve token create --account NAME.' },
  basic: { type: 'http', scheme: 'basic', description: 'The token is the password.' },
  apiKey: {
    ...{ type: 'apiKey', in: 'header', name: 'Authorization' },
    description: '`ApiKey` and base64 of `id:token`, as clients of Elasticsearch send it.',
  },
  accessToken: { type: 'apiKey', in: 'query', name: 'access_token' },
}

const describeOperation = (operation: Operation): Described => {
  const { method, path, tag, doc, open, body, answers } = operation
  const parameters = describeParameters(operation)
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
      ...faultResponses(operation),
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)])),
      default: { $ref: '#/components/responses/Error' },
    },
    ...(open && { security: [] }),
  }
}

const responseOf = ({ description, content }: DescribedAnswer): DescribedResponse => ({
  description,
  ...(content && { content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])) }),
})

/** Errors that operations have in common, by the names of their components. */
const FAULT_DOCS = {
  Error: 'Any other error.',
  Unreadable: 'The request is not valid. The reason names the place, what is supported, and the remedy.',
  Unauthorized: 'The token is missing, unknown, expired or revoked.',
  Forbidden: 'The token lacks the scope that this needs.',
  Absent: 'There is no such network, index, document or rule.',
  TooLate: 'The search took longer than its deadline.',
  Changed: 'The rule has another revision than `If-Match` names.',
  TooLarge: 'The body or the requested answer exceeds its limit.',
  Encoded: 'The body has a type or an encoding that is not supported.',
  TooMany: 'The token, its account or the server has had enough requests for now.',
} as const

type FaultName = keyof typeof FAULT_DOCS

const FAULT_HEADERS: Partial<Record<FaultName, readonly string[]>> = {
  Unauthorized: ['WWW-Authenticate'],
  TooMany: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
}

const errorHeaders = (): Record<string, Schema> => ({
  'WWW-Authenticate': { description: 'How to send a token.', schema: stringSchema },
  'Retry-After': { description: 'Seconds to wait.', schema: wholeSchema },
  RateLimit: { description: 'What is left of each limit, and for how many seconds.', schema: stringSchema },
  'RateLimit-Policy': {
    description: 'The limits of the token and of its account, where there are any.',
    schema: stringSchema,
  },
})

const errorResponses = (): Record<string, DescribedResponse> =>
  Object.fromEntries(
    (Object.keys(FAULT_DOCS) as FaultName[]).map(name => [
      name,
      {
        description: FAULT_DOCS[name],
        ...(FAULT_HEADERS[name] && {
          headers: Object.fromEntries(
            FAULT_HEADERS[name].map(header => [header, { $ref: `#/components/headers/${header}` }]),
          ),
        }),
        content: { [JSON_BODY]: { schema: schemaRef('Error') } },
      },
    ]),
  )

/** Error responses of an operation, by status. */
const faultResponses = ({ path, query, headers, body, open }: Operation): Record<number, { $ref: string }> => {
  const isSearch = path.includes('/es')
  const isRule = path.startsWith('/alerting')
  const takes = isSearch || isRule || (query ?? []).some(name => name !== 'access_token')
  const faults: [status: number, fault: FaultName, may: boolean][] = [
    [400, 'Unreadable', takes],
    [401, 'Unauthorized', !open],
    [403, 'Forbidden', isSearch || isRule || path === '/metrics'],
    [404, 'Absent', isSearch || /\{(id|name)\}/.test(path)],
    [408, 'TooLate', isSearch],
    [412, 'Changed', headers?.includes('If-Match') === true],
    [413, 'TooLarge', body !== undefined],
    [415, 'Encoded', body !== undefined],
    [429, 'TooMany', !open],
  ]
  return Object.fromEntries(
    faults.flatMap(([status, fault, may]) => (may ? [[status, { $ref: `#/components/responses/${fault}` }]] : [])),
  )
}

type ParameterPlace = 'path' | 'query' | 'header'

const operationParameters = ({
  path,
  query = [],
  headers = [],
}: Operation): [place: ParameterPlace, name: string][] => [
  ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]): [ParameterPlace, string] => ['path', name!]),
  // Listed among the security schemes.
  ...query.filter(name => name !== 'access_token').map((name): [ParameterPlace, string] => ['query', name]),
  ...headers.map((name): [ParameterPlace, string] => ['header', name]),
]

const parameterKey = (place: ParameterPlace, name: string): string => `${place}.${name}`

/** One that all operations share, or one of its own. */
export type ShownParameter = { $ref: string } | (Schema & { $ref?: undefined })

/** Parameters of an operation; those with special values are inlined. */
const describeParameters = (operation: Operation): ShownParameter[] =>
  operationParameters(operation).map(([place, name]) => {
    const own = place === 'query' ? operation.values?.[name] : undefined
    return own ? parameterOf(place, name, own) : { $ref: `#/components/parameters/${parameterKey(place, name)}` }
  })

const sharedParameters = (operations: readonly Operation[]): Record<string, Schema> => {
  const named = new Map(
    operations.flatMap(operationParameters).map(([place, name]) => [parameterKey(place, name), { place, name }]),
  )
  return Object.fromEntries(
    Array.from(named, ([key, { place, name }]) => [
      key,
      parameterOf(place, name, (place === 'query' ? PARAMETER_VALUES.get(name) : undefined) ?? stringSchema),
    ]),
  )
}

const parameterOf = (place: ParameterPlace, name: string, { description: own, ...schema }: Schema): Schema => {
  const description = own ?? (place === 'query' ? QUERY_DOCS : PLACE_DOCS).get(name)
  return {
    ...{ name, in: place, schema },
    ...(description !== undefined && { description }),
    ...(place === 'path' && { required: true }),
    ...(place === 'query' && { allowEmptyValue: true }),
  }
}

/** Parts of paths, and headers. */
const PLACE_DOCS: ReadonlyMap<string, string> = new Map([
  ['technology', 'First part of the network’s name, such as ethereum.'],
  ['blockchain', 'Second part of the network’s name, such as ethereum.'],
  ['network', 'Third part of the network’s name, such as mainnet.'],
  ['index', `Entities, separated by commas: ${KINDS.join(', ')}; or names and patterns of indices.`],
  ['type', 'The entity again, where old clients repeat it.'],
  ['document', 'Id of a document.'],
  ['id', 'Id of a document, a contract, a scroll, a rule, a delivery, an ABI or a re-decoding.'],
  ['address', 'Address of a contract.'],
  ['If-Match', 'The revision (ETag) that the change is meant for.'],
  ['If-None-Match', 'The revision (ETag) that the client has.'],
])

const QUERY_DOCS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SEARCH_PARAMETERS).map(([name, { doc }]): [string, string] => [name, doc]),
  ['filter_path', 'Parts of the answer to keep, separated by commas.'],
  ['pretty', 'Indents the answer.'],
  ['scroll', 'Opens or keeps a scroll for so long, such as 1m.'],
  ['keep_alive', 'How long a point in time is kept, such as 1m.'],
  ['before', '`next` of the page before.'],
  ['after', '`next` of the page before.'],
  ['state', 'Only alerts or deliveries in this state.'],
  ['rule', 'Only deliveries of this rule.'],
  ['rules', 'Ids of rules, separated by commas; by default all.'],
  ['channel', 'Only deliveries of this channel, such as Email.'],
  ['target', 'Only deliveries to this receiver, as deliveries show it.'],
  ['alert', 'Only deliveries of this alert.'],
  ['since', 'Only deliveries created from this time on.'],
  ['until', 'Only deliveries created up to this time.'],
  ['to', 'End of the series; by default now.'],
  ['buckets', 'How many parts the time has at most; by default 49.'],
  ['network', 'Only this network: technology/blockchain/network.'],
  ['address', 'Contract that the ABI is for.'],
  ['codeHash', 'Hash of the code that the ABI is for.'],
  ['name', 'Name of the ABI.'],
  ['redecode', 'Whether stored blocks are decoded again.'],
  ['replace', 'Whether the body replaces the whole rule.'],
])

/** On without a value, too. */
const FLAG_SCHEMA = enumSchema(['true', 'false', ''])

/** Parameters with fixed values. */
const PARAMETER_VALUES: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ['state', enumSchema(alertState.options)],
  ['bytes', enumSchema([...CAT_BYTE_UNITS.keys(), ''])],
  ['default_operator', enumSchema(['and', 'or', 'AND', 'OR'])],
  ...['v', 'help', 'typed_keys', 'ignore_unavailable', 'include_unmapped', 'include_type_name', 'flat_settings'].map(
    (name): [string, Schema] => [name, FLAG_SCHEMA],
  ),
])
