import { nearestName } from '../../lib/name-matching.ts'
import { type Kind, queryPaths } from '../../mapping/index.ts'
import { type AgentAnswer, type AgentSession, networkPath, requestJson } from '../ask.ts'
import { agentTool, networkInput, optionalInput, sameEntity, textInput } from './tool.ts'

interface NetworkFacts {
  network: string
  state: string
  ranges: { from: string; to: string }[]
  head: string | null
  lag: string | null
  lastBlock: { number: string; time: string } | null
  error: string | null
}

const statusOf = async (session: AgentSession) =>
  (await requestJson(session, 'GET', '/status')) as unknown as {
    networks: NetworkFacts[]
    reasons?: string[]
    warnings?: string[]
    version: string
    deliveries?: { state: string; failing: { rule: string; error: string | null }[] }
  }

export const networksTool = agentTool(
  'networks',
  'Networks that can be asked, with their currency and stored blocks. Call it first unless you know the network.',
  {
    input: {},
    output: { networks: 'array' },
    async run(_, session) {
      const { networks } = await statusOf(session)
      return {
        networks: networks.map(({ network, ranges, lastBlock, state }) => ({
          network,
          currency: session.currencyOf(network),
          blocks: ranges.map(({ from, to }) => `${from}-${to}`),
          newestBlock: lastBlock?.number ?? null,
          newestTime: lastBlock?.time ?? null,
          state,
        })),
      }
    },
  },
)

export const statusTool = agentTool('status', 'Lag and errors of networks, and whether alerts are delivered.', {
  input: {},
  output: { networks: 'array', deliveries: 'object' },
  async run(_, session) {
    const { networks, reasons = [], warnings = [], version, deliveries } = await statusOf(session)
    return {
      version,
      networks: networks.map(({ network, state, head, lag, lastBlock, error }) => ({
        ...{ network, state, head, lag, newestBlock: lastBlock?.number ?? null, error },
      })),
      deliveries: {
        state: deliveries?.state ?? 'none',
        failing: (deliveries?.failing ?? []).map(({ rule, error }) => ({ rule, error })),
      },
      ...{ reasons, warnings },
    }
  },
})

export const gasTool = agentTool('gas', 'Gas prices for the next blocks, in gwei: slow, standard, fast, instant.', {
  scope: 'search',
  input: { network: networkInput },
  output: { unit: 'string', standard: 'string' },
  run: async ({ network }, session) => ({
    unit: 'gwei',
    ...(await requestJson(session, 'GET', `${networkPath(network)}/gasprice`)),
  }),
})

export const fieldsTool = agentTool(
  'fields',
  'Fields of an entity with types and meaning. `like` filters by name or meaning.',
  {
    input: { entity: sameEntity, like: optionalInput(textInput) },
    output: { fields: 'array' },
    async run({ entity, like }): Promise<AgentAnswer> {
      const all = fieldLines(entity)
      if (like === undefined) return { entity, fields: all }
      const matching = all.filter(line => line.toLowerCase().includes(like.toLowerCase()))
      const nearest = nearestName(
        like,
        all.map(line => line.split(' ')[0]!),
      )
      return matching.length > 0 || nearest === undefined
        ? { entity, fields: matching }
        : { entity, fields: all.filter(line => line.startsWith(`${nearest} `)) }
    },
  },
)

/** A line for each field: its path, its forms, its type and its meaning. */
export const fieldLines = (entity: Kind): string[] => {
  const forms = Map.groupBy(queryPaths(entity).values(), ({ field }) => field)
  return Array.from(forms, ([field, paths]) => {
    const names = paths.flatMap(({ encoding }) => (encoding === '' ? [] : [`.${encoding}`]))
    return `${field} (${[...names, paths[0]!.es].join(' ')}) ${paths[0]!.declaration.doc}`
  })
}
