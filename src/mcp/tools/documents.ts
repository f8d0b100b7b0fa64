import { ChainsieveError, refuse } from '../../lib/errors.ts'
import {
  type AgentAnswer,
  type AgentSession,
  networkPath,
  requestJson,
  type SearchResult,
  searchAllIn,
  searchIn,
} from '../ask.ts'
import { CHAIN_TEXT, showDocument, showText } from '../show.ts'
import { isAddressText, resolveTokens, tokensAmong } from '../tokens.ts'
import { agentTool, networkInput, optionalInput, textInput, textList } from './tool.ts'

const ALL_ENTITIES = 'block,tx,log,event,trace,call,contract,token'
/** Long, and rarely asked for. */
const LEFT_OUT = ['logsBloom', 'transactions', 'r', 's', 'v', 'yParity', 'str']

export const getTool = agentTool(
  'get',
  'One document by id: a block by number or hash, a transaction by hash, an event or call by its id, a contract or token by address. columns: only these fields.',
  {
    scope: 'search',
    input: { network: networkInput, id: textInput, columns: optionalInput(textList) },
    output: { entity: 'string', document: 'object', truncated: 'boolean' },
    rest: 'Name the fields you need in columns.',
    async run({ network, id, columns }, session) {
      const isNumber = /^\d{1,15}$/.test(id)
      const { hits } = await searchIn(session, network, isNumber ? 'block' : ALL_ENTITIES, {
        query: isNumber ? { term: { 'number.num': id } } : { ids: { values: [id] } },
        size: 4,
        _source: columns ?? { excludes: LEFT_OUT },
      })
      if (hits.length === 0)
        throw refuse('not_found', `${network} has no document ${id.slice(0, 100)}: networks tells the stored blocks.`)
      const tokens = await tokensAmong(
        session,
        network,
        hits.map(({ _source: { address, to } }) => address ?? to),
      )
      const showing = { currency: session.currencyOf(network), tokens }
      const [first, ...others] = hits.map(({ _type, _source }) => ({
        entity: _type,
        document: showDocument(_source, showing),
      }))
      return { ...first!, ...(others.length > 0 && { others }), note: CHAIN_TEXT }
    },
  },
)

const filtered = (...filter: object[]) => ({ bool: { filter } })
const equalTo = (field: string, value: string) => ({ term: { [field]: value } })

export const addressTool = agentTool(
  'address',
  'What an address is (account, contract, token, proxy), its ABI, activity and latest transactions. address may be "token:DUSD".',
  {
    scope: 'search',
    input: { network: networkInput, address: textInput },
    output: { is: 'string', contract: 'object', token: 'object', abi: 'object', activity: 'object' },
    async run({ network, address: given }, session) {
      const { value: address } = await resolveTokens(session, network, given)
      if (!isAddressText(address))
        throw refuse('bad_address', 'address: write 0x and 40 hex digits, or "token:SYMBOL" for a token.')
      const about = { size: 1, query: { ids: { values: [address] } } }
      const newest = {
        sort: [{ _shard_doc: 'desc' }],
        size: 3,
        _source: ['blockNumber', 'timestamp', 'method', 'to', 'from', 'value', 'status'],
      }
      const [contract, token, sent, received, emitted] = (await searchAllIn(session, network, [
        ['contract', { ...about, _source: { excludes: ['selectors', 'topics', 'blockHash'] } }],
        ['token', about],
        ['tx', { ...newest, query: filtered(equalTo('from', address)), aggs: SPAN }],
        ['tx', { ...newest, query: filtered(equalTo('to', address)), aggs: SPAN }],
        [
          'event',
          {
            size: 0,
            query: filtered(equalTo('address', address)),
            aggs: { names: { terms: { field: 'event.raw' } } },
          },
        ],
      ])) as [SearchResult, SearchResult, SearchResult, SearchResult, SearchResult]
      const showing = { currency: session.currencyOf(network), tokens: new Map() }
      const [found, asToken] = [contract, token].map(({ hits: [hit] }) => hit && showDocument(hit._source, showing))
      return {
        address,
        is: asToken ? 'token contract' : found ? 'contract' : 'account, or a contract from before the stored blocks',
        ...(found && { contract: found, ...(await abiOf(session, network, address)) }),
        ...(asToken && { token: asToken }),
        activity: {
          sent: activityOf(sent, showing.currency),
          received: activityOf(received, showing.currency),
          events: eventCounts(emitted),
        },
        note: CHAIN_TEXT,
      }
    },
  },
)

const SPAN = {
  first: { min: { field: 'blockNumber.num' } },
  last: { max: { field: 'blockNumber.num' } },
}

const eventCounts = ({ total, aggregations }: SearchResult): AgentAnswer => {
  const { buckets } = aggregations.names as { buckets: { key: string; doc_count: string }[] }
  return { total, names: Object.fromEntries(buckets.map(({ key, doc_count: count }) => [showText(key), count])) }
}

const activityOf = ({ total, hits, aggregations }: SearchResult, currency: string): AgentAnswer => {
  const bound = (name: string) => (aggregations[name] as { value: string | null }).value
  return {
    transactions: total,
    firstBlock: bound('first') === null ? null : String(Number(bound('first'))),
    lastBlock: bound('last') === null ? null : String(Number(bound('last'))),
    latest: hits.map(({ _id, _source }) => ({
      hash: _id,
      ...showDocument(_source, { currency, tokens: new Map() }),
    })),
  }
}

/** Empty where the server tells none: one that only answers searches, or a data folder. */
const abiOf = async (session: AgentSession, network: string, address: string): Promise<AgentAnswer> => {
  const found = await requestJson(session, 'GET', `${networkPath(network)}/abi/${address}`).catch(error => {
    if (error instanceof ChainsieveError && error.code === 'resource_not_found_exception') return null
    throw error
  })
  if (!found) return {}
  const { source, name, probability, implementations, abis } = found as AgentAnswer & { abis?: { name?: string }[] }
  const names = (abis ?? []).map(abi => (abi.name === undefined ? null : showText(abi.name)))
  const own = name == null ? null : showText(String(name))
  return { abi: { source, name: own, probability, implementations, abis: names } }
}
