import { version } from '../../lib/runtime.ts'
import { KINDS } from '../../mapping/index.ts'
import { SEARCH_PARAMETERS } from '../../query/parameters.ts'
import { answerSchemas } from './answers.ts'
import { deliverySchemas } from './deliveries.ts'
import { sourceSchemas } from './documents.ts'
import { endpointOperations } from './endpoints.ts'
import { managementSchemas } from './manage.ts'
import { JSON_BODY, type Operation, TAGS, type Told } from './operations.ts'
import { ownOperations } from './own.ts'
import { querySchemas } from './query.ts'
import { ruleSchemas } from './rules.ts'
import { ref, type Schema, text } from './schema.ts'
import { serverSchemas } from './server.ts'

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
    securitySchemes: Record<string, Schema>
  }
  [more: string]: unknown
}

export interface Described {
  operationId: string
  tags: string[]
  summary: string
  parameters?: { $ref: string }[]
  requestBody?: { content: Record<string, { schema: Schema }>; required?: boolean }
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>
  security?: unknown[]
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
        ...serverSchemas(),
        ...querySchemas(),
        ...answerSchemas(),
        ...sourceSchemas(),
        ...(has.rules ? { ...ruleSchemas(), ...deliverySchemas() } : {}),
        ...(has.management ? managementSchemas() : {}),
      },
      parameters: parametersOf(operations),
      securitySchemes: SECURITY,
    },
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
  const parameters = namedBy(operation).map(([place, name]) => ({
    $ref: `#/components/parameters/${keyOf(place, name)}`,
  }))
  return {
    operationId: `${method}${path.replace(/[{}]/g, '').replace(/\W/g, '_')}`,
    tags: [tag],
    summary: doc,
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        content: { [body.type ?? JSON_BODY]: { schema: body.schema } },
        ...(body.required && { required: true }),
      },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)])),
      default: { description: 'An error.', content: { [JSON_BODY]: { schema: ref('Error') } } },
    },
    ...(open && { security: [] }),
  }
}

const responseOf = ({ description, content }: Told) => ({
  description,
  ...(content && { content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])) }),
})

type Place = 'path' | 'query' | 'header'

const namedBy = ({ path, query = [], headers = [] }: Operation): [place: Place, name: string][] => [
  ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]): [Place, string] => ['path', name!]),
  // It is a way to show a token, and stands among them.
  ...query.filter(name => name !== 'access_token').map((name): [Place, string] => ['query', name]),
  ...headers.map((name): [Place, string] => ['header', name]),
]

const keyOf = (place: Place, name: string): string => `${place}.${name}`

const parametersOf = (operations: readonly Operation[]): Record<string, Schema> => {
  const named = new Map(operations.flatMap(namedBy).map(([place, name]) => [keyOf(place, name), { place, name }]))
  return Object.fromEntries(
    Array.from(named, ([key, { place, name }]) => {
      const description = (place === 'query' ? QUERY : PLACES).get(name)
      return [
        key,
        {
          ...{ name, in: place, schema: text },
          ...(description !== undefined && { description }),
          ...(place === 'path' && { required: true }),
          ...(place === 'query' && { allowEmptyValue: true }),
        },
      ]
    }),
  )
}

/** Parts of paths, and headers. */
const PLACES: ReadonlyMap<string, string> = new Map([
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

const QUERY: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SEARCH_PARAMETERS).map(([name, { doc }]): [string, string] => [name, doc]),
  ['filter_path', 'Parts of the answer to keep, separated by commas.'],
  ['pretty', 'Indents the answer.'],
  ['scroll', 'Opens or keeps a scroll for so long, such as 1m.'],
  ['keep_alive', 'How long a point in time is kept, such as 1m.'],
  ['before', '`next` of the page before.'],
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
