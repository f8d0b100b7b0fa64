import { refuse } from '../../lib/errors.ts'
import type { Kind } from '../../mapping/index.ts'
import { type AgentSession, type FoundHit, networkPath, requestJson, searchIn } from '../ask.ts'
import { fittingRows } from '../fit.ts'
import { CHAIN_TEXT, showDocument } from '../show.ts'
import { resolveTokens, tokensAmong } from '../tokens.ts'
import {
  agentTool,
  comparablePath,
  countUpTo,
  entityName,
  networkInput,
  optionalInput,
  queryInput,
  sameEntity,
  textInput,
  textList,
  toClause,
} from './tool.ts'

const MAX_ROWS = 50
const ROWS = 10

/** What of a document is worth its tokens. */
const SHOWN_COLUMNS: Readonly<Record<Kind, readonly string[]>> = {
  block: ['number', 'timestamp', 'hash', 'miner', 'gasUsed', 'gasLimit', 'baseFeePerGas'],
  tx: ['_id', 'blockNumber', 'timestamp', 'from', 'to', 'method', 'value', 'gasUsed', 'gasPrice', 'status', 'error'],
  log: ['_id', 'blockNumber', 'address', 'topics', 'data'],
  event: ['_id', 'blockNumber', 'timestamp', 'address', 'event', 'args'],
  trace: ['_id', 'blockNumber', 'type', 'callType', 'action.from', 'action.to', 'action.value', 'error'],
  call: ['_id', 'blockNumber', 'from', 'to', 'method', 'args', 'value', 'revertReason'],
  contract: ['address', 'name', 'standard', 'creator', 'blockNumber', 'transactionHash'],
  token: ['address', 'symbol', 'name', 'decimals', 'standard', 'firstSeen'],
}

export const searchTool = agentTool(
  'search',
  `Finds documents, newest first. entity: block tx log event call trace contract token. query: Lucene text or Elasticsearch DSL. Integers end in .num ("blockNumber.num:400", sort "gasUsed.num:desc"); exact names in .raw. "token:DUSD" stands for the address of that token. Examples:
"status:false" (entity tx) failed transactions
"blockNumber.num:[10 TO 20] AND from:0x12"
"event.raw:Transfer AND address:\\"token:DUSD\\""
{"bool":{"filter":[{"term":{"address":"token:DUSD"}},{"nested":{"path":"args","query":{"bool":{"filter":[{"term":{"args.name":"value"}},{"range":{"args.value.scaled":{"gte":100000}}}]}}}}]}} transfers of at least 100,000
Ids of events are <tx hash>_e_<n>.`,
  {
    scope: 'search',
    input: {
      network: networkInput,
      entity: entityName,
      query: optionalInput(queryInput),
      columns: optionalInput(textList),
      sort: optionalInput(textInput),
      size: optionalInput(countUpTo(MAX_ROWS)),
      cursor: optionalInput(textInput),
    },
    output: { total: 'string', columns: 'array', rows: 'array', truncated: 'boolean', cursor: 'string' },
    async run({ network, entity, query, columns = SHOWN_COLUMNS[entity], sort, size = ROWS, cursor }, session) {
      const { value: clause, resolved } = await resolveTokens(session, network, toClause(query))
      const { total, hits } = await searchIn(session, network, entity, {
        query: clause,
        size,
        sort: [...sortKeys(entity, sort), { _shard_doc: 'desc' }],
        _source: [...new Set([...columns.filter(name => !name.startsWith('_')), ...OWNERS[entity]])],
        ...(cursor !== undefined && { search_after: readCursor(cursor) }),
      })
      const rows = await tableRows(session, network, hits, columns)
      const answerWith = (kept: readonly unknown[][]) => {
        const isMore = kept.length < hits.length || (hits.length === size && BigInt(total) > BigInt(kept.length))
        return {
          ...{ total, columns, rows: kept },
          ...(Object.keys(resolved).length > 0 && { resolved }),
          ...(isMore && {
            truncated: true,
            cursor: writeCursor(hits[kept.length - 1]!.sort!),
            next: 'For more, repeat the call with this cursor.',
          }),
          note: CHAIN_TEXT,
        }
      }
      return answerWith(fittingRows(rows, answerWith) as unknown[][])
    },
  },
)

/** Fields that say whose amounts the arguments are. */
const OWNERS: Readonly<Record<Kind, readonly string[]>> = {
  ...{ block: [], tx: [], log: [], trace: [], contract: [], token: [] },
  event: ['address'],
  call: ['to'],
}

const tableRows = async (
  session: AgentSession,
  network: string,
  hits: readonly FoundHit[],
  columns: readonly string[],
): Promise<unknown[][]> => {
  const tokens = columns.some(name => /^args/.test(name))
    ? await tokensAmong(
        session,
        network,
        hits.map(({ _source: { address, to } }) => address ?? to),
      )
    : new Map()
  const showing = { currency: session.currencyOf(network), tokens }
  return hits.map(hit => {
    const shown = showDocument(hit._source, showing)
    return columns.map(name => (name === '_id' ? hit._id : (at(shown, name) ?? null)))
  })
}

/** The value at a path, or at the longest part of it that was shown whole. */
const at = (shown: Record<string, unknown>, path: string): unknown => {
  let value: unknown = shown
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

const sortKeys = (entity: Kind, sort: string | undefined): object[] =>
  (sort ?? '')
    .split(',')
    .filter(key => key.trim() !== '')
    .map(key => {
      const [, field = '', order = 'desc'] = /^\s*([\w.]+)(?:[:\s]+(asc|desc))?\s*$/.exec(key) ?? []
      if (field === '') throw refuse('bad_sort', `sort: write "gasUsed.num:desc", not ${JSON.stringify(key)}.`)
      return { [comparablePath(entity, field)]: order }
    })

const writeCursor = (sort: readonly string[]): string => Buffer.from(JSON.stringify(sort)).toString('base64url')

const readCursor = (cursor: string): string[] => {
  try {
    const sort = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown
    if (Array.isArray(sort) && sort.every(one => typeof one === 'string' || one === null)) return sort as string[]
  } catch {
    // Refused below.
  }
  throw refuse('bad_cursor', 'cursor: send the cursor of the answer before, with the same arguments otherwise.')
}

export const queryCheckTool = agentTool(
  'query_check',
  'Whether a query is valid, or what is wrong with it and the nearest names.',
  {
    scope: 'search',
    input: { network: networkInput, entity: sameEntity, query: queryInput },
    output: { valid: 'boolean', error: 'string' },
    async run({ network, entity, query }, session) {
      const { value } = await resolveTokens(session, network, toClause(query))
      const path = `${networkPath(network)}/es/${entity}/_validate/query?explain=true`
      const { valid, error } = await requestJson(session, 'POST', path, { query: value })
      return valid === true ? { valid } : { valid, error: String(error).replace(/^\w+: /, '') }
    },
  },
)
