import type { Server } from '@modelcontextprotocol/server'
import { toJsonSchema } from '@valibot/to-json-schema'
import { memoize } from '../lib/caches.ts'
import { ChainsieveError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { version } from '../lib/runtime.ts'
import type { AgentSession } from './ask.ts'
import { fitAnswer } from './fit.ts'
import { INSTRUCTIONS, PROMPTS, RESOURCES } from './guide.ts'
import { AGENT_TOOLS } from './tools/index.ts'
import { type AgentTool, readToolInput } from './tools/tool.ts'

/** The library of the protocol, which only servers that agents ask load. */
export const loadProtocol = () => import('@modelcontextprotocol/server')
/** The transport of standard input and output. */
export const loadStdio = () => import('@modelcontextprotocol/server/stdio')
type Protocol = Awaited<ReturnType<typeof loadProtocol>>

/** Clients of earlier versions do not know structured content. */
const STRUCTURED_SINCE = '2025-06-18'

interface AgentServerOptions {
  session: AgentSession
  /** Whether all data is in texts, for clients that show their model nothing else. */
  asText: boolean
  log: Log
}

/** A server of the protocol for one caller. */
export const createAgentServer = (
  { Server, ProtocolError, ProtocolErrorCode }: Protocol,
  { session, asText, log }: AgentServerOptions,
  speaks: (server: Server) => string | undefined = server => server.getNegotiatedProtocolVersion(),
): Server => {
  const server = new Server(
    { name: 'chainsieve', title: 'Chainsieve', version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: INSTRUCTIONS,
      // Nothing is asked of clients, so nothing of theirs is validated.
      jsonSchemaValidator: {
        getValidator: () => value => ({ valid: true, data: value as never, errorMessage: undefined }),
      },
    },
  )
  const inText = () => asText || (speaks(server) ?? STRUCTURED_SINCE) < STRUCTURED_SINCE
  const unknown = (what: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no ${what}.`)

  server.setRequestHandler('tools/list', () => ({
    tools: AGENT_TOOLS.filter(tool => mayCall(tool, session)).map(tool => describeTool(tool, inText())),
  }))
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given = {} } }) => {
    const tool = AGENT_TOOLS.find(tool => tool.name === name)
    if (!tool) throw unknown(`tool ${JSON.stringify(name.slice(0, 100))}`)
    try {
      if (!mayCall(tool, session)) return toolFailure(scopeMissing(tool))
      const answer = fitAnswer(await tool.run(readToolInput(tool, given), session), tool.rest)
      if (inText()) return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
      return {
        content: [{ type: 'text', text: answer.truncated === true ? `${SEE_DATA} It is truncated.` : SEE_DATA }],
        structuredContent: answer,
      }
    } catch (error) {
      if (error instanceof ChainsieveError) return toolFailure(error.message)
      log.error('Failed to answer an agent', { tool: name, error })
      return toolFailure('This is a fault of the server, which it has logged.')
    }
  })

  server.setRequestHandler('resources/list', () => ({
    resources: seesAny(session)
      ? RESOURCES.map(({ text: _, ...resource }) => ({ ...resource, mimeType: 'text/plain' }))
      : [],
  }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const found = seesAny(session) ? RESOURCES.find(it => it.uri === uri) : undefined
    if (!found) throw unknown(`resource ${JSON.stringify(uri.slice(0, 200))}`)
    return { contents: [{ uri, mimeType: 'text/plain', text: found.text() }] }
  })

  server.setRequestHandler('prompts/list', () => ({
    prompts: seesAny(session)
      ? PROMPTS.map(({ text: _, arguments: args, ...prompt }) => ({ ...prompt, arguments: [...args] }))
      : [],
  }))
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }) => {
    const prompt = seesAny(session) ? PROMPTS.find(it => it.name === name) : undefined
    if (!prompt) throw unknown(`prompt ${JSON.stringify(name.slice(0, 100))}`)
    const missing = prompt.arguments.find(({ name }) => !given[name])
    if (missing) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The argument ${missing.name} is missing.`)
    return {
      description: prompt.description,
      messages: [{ role: 'user', content: { type: 'text', text: prompt.text(given) } }],
    }
  })
  return server
}

const SEE_DATA =
  'The answer is in structuredContent. If you cannot see it, have your client connect to /mcp?text=true (chainsieve mcp --text).'
const MAX_ERROR = 4_000

const toolFailure = (message: string) => ({
  content: [{ type: 'text' as const, text: message.slice(0, MAX_ERROR) }],
  isError: true,
})

const scopeMissing = ({ name, scope }: AgentTool): string =>
  `${name} needs a token with the scope ${scope ?? 'search or rules'}.`

/** What a token may not ask, it does not see either. */
const seesAny = ({ scopes }: AgentSession): boolean =>
  scopes === undefined || scopes.has('search') || scopes.has('rules')

const mayCall = ({ scope }: AgentTool, session: AgentSession): boolean =>
  scope === undefined ? seesAny(session) : (session.scopes?.has(scope) ?? true)

const inputSchema = memoize(100, (name: string): { type: 'object' } => {
  const { input } = AGENT_TOOLS.find(tool => tool.name === name)!
  return JSON.parse(
    JSON.stringify(toJsonSchema(input as never, { errorMode: 'ignore', typeMode: 'input' }), withoutDefaults),
  ) as { type: 'object' }
})

/** What models need not read: unknown members are refused by name anyway. */
function withoutDefaults(this: object, key: string, value: unknown): unknown {
  if (key === '$schema' || key === 'additionalProperties' || (key === 'type' && 'enum' in this)) return undefined
  if ((key === 'required' || key === 'properties') && Object.keys(value as object).length === 0) return undefined
  return value
}

const describeTool = ({ name, doc, output, changes }: AgentTool, inText: boolean) => ({
  name,
  description: doc,
  inputSchema: inputSchema(name),
  ...(!inText && {
    outputSchema: {
      type: 'object' as const,
      properties: Object.fromEntries(Object.entries(output).map(([member, type]) => [member, { type }])),
    },
  }),
  annotations: changes ? { readOnlyHint: false, destructiveHint: false } : { readOnlyHint: true },
})
