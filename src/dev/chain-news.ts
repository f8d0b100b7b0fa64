import type { Accounts } from '../accounts/index.ts'
import type { Config } from '../config/index.ts'
import type { DeliveryThread } from '../delivery/service.ts'
import type { Indexing } from '../ingest/network.ts'
import type { Run } from '../lib/shutdown.ts'
import { readJsonAnswer } from '../search/json-answer.ts'
import type { Pool } from '../search/pool.ts'
import { NO_ACCOUNT } from '../search/service.ts'

type TxNews = Extract<DevNews, { type: 'tx' }>
type EventNews = Extract<DevNews, { type: 'event' }>
type LogNews = Extract<DevNews, { type: 'log' }>
type NewsItem = TxNews | EventNews | LogNews

/** The `_source` of a document. */
type DocumentSource = Record<string, unknown>

/** Documents of some blocks, by their kinds. */
interface BlockSources {
  txs: readonly DocumentSource[]
  calls: readonly DocumentSource[]
  traces: readonly DocumentSource[]
  events: readonly DocumentSource[]
  logs: readonly DocumentSource[]
}

/** The creation code of a contract, and its block. */
export interface Creation {
  block: number
  input: string
}

interface NewsContext {
  /** Name of the contract at an address; null if unknown. */
  named(address: unknown): string | null
  /** Whether inner calls are reported. */
  verbose: boolean
  /** Receives the created contracts before names are requested. */
  onCreated(address: string, creation: Creation): void
}

/** News about some blocks for a developer, in the order of the chain. */
export const newsOfBlocks = (
  { txs: sources, calls, traces, events: decoded, logs: all }: BlockSources,
  context: NewsContext,
): NewsItem[] => {
  const { named } = context
  reportCreations(traces, context)
  const insideOf = createInnerCalls(calls, traces, context)
  const txs = sources.map(source => txOf(source, insideOf(source.hash as string), context))
  const placeOf = (source: DocumentSource) => ({ ...logPlace(source), contract: named(source.address) })
  const events = decoded.map((source): EventNews => ({ type: 'event', ...placeOf(source), ...eventOf(source) }))
  const keys = new Set(events.map(logKey))
  const logs = all
    .map((source): LogNews => ({ type: 'log', ...placeOf(source), ...logOf(source) }))
    .filter(log => !keys.has(logKey(log)))
  return [...txs, ...events, ...logs].sort(
    (a, b) => a.block - b.block || a.index - b.index || logIndexOf(a) - logIndexOf(b),
  )
}

const txOf = (source: DocumentSource, inside: InnerCalls, { named, verbose, onCreated }: NewsContext): TxNews => {
  const { hash, from, to, method, status, contractAddress, input, value } = source
  const block = numIn(source.blockNumber)
  const created = (contractAddress ?? null) as string | null
  if (created !== null) onCreated(created, { block, input: input as string })
  return {
    type: 'tx',
    block,
    index: numIn(source.transactionIndex),
    time: new Date((source.timestamp as number) * 1000).toISOString(),
    hash: hash as string,
    from: from as string,
    to: (to ?? null) as string | null,
    contract: named(to ?? created),
    created,
    method: (method ?? null) as string | null,
    selector: created === null && (input as string).length >= 10 ? (input as string).slice(0, 10) : null,
    value: BigInt((value as { raw: string }).raw).toString(),
    call: inside.callAt([]),
    gasUsed: longOf(source.gasUsed),
    status: (status ?? null) as boolean | null,
    failure: failureNews(source, inside, named),
    steps: verbose ? inside.steps() : [],
  }
}

const failureNews = (
  { error, revertAddress, revertTrace }: DocumentSource,
  { callAt }: InnerCalls,
  named: NewsContext['named'],
): TxNews['failure'] => {
  if (typeof error !== 'string') return null
  const path = (revertTrace ?? []) as number[]
  const address = path.length > 0 && typeof revertAddress === 'string' ? revertAddress : null
  return { error, address, contract: named(address), call: path.length > 0 ? callAt(path) : null }
}

interface InnerCalls {
  /** The call at a trace address with its arguments. */
  callAt(path: readonly number[]): string | null
  steps(): DevStep[]
}

/** Inner calls by transaction. */
const createInnerCalls = (
  calls: readonly DocumentSource[],
  traces: readonly DocumentSource[],
  { named }: NewsContext,
) => {
  const decoded = new Map(calls.map(call => [traceKey(call, call.traceAddress as number[]), call]))
  const byTx = Map.groupBy(traces, ({ transactionHash }) => transactionHash)
  return (transactionHash: string): InnerCalls => {
    const callAt = (path: readonly number[]): string | null =>
      (decoded.get(traceKey({ transactionHash }, path))?.str ?? null) as string | null
    const stepOf = ({ type, traceAddress, action, result, error, revertReason }: DocumentSource): DevStep => {
      const path = traceAddress as number[]
      const { callType, to, value, address } = action as DocumentSource
      const [called, made] = [
        decoded.get(traceKey({ transactionHash }, path)),
        (result as DocumentSource | null)?.address,
      ]
      const target = (to ?? made ?? address ?? null) as string | null
      return {
        depth: path.length,
        type: (callType ?? type) as string,
        to: target,
        contract: named(target),
        call: (called?.str ?? null) as string | null,
        selector: (called?.selector ?? null) as string | null,
        value: BigInt((value as { raw: string } | undefined)?.raw ?? 0).toString(),
        gasUsed: longOf((result as DocumentSource | null)?.gasUsed),
        error: (revertReason ?? error ?? null) as string | null,
      }
    }
    return { callAt, steps: () => (byTx.get(transactionHash) ?? []).map(stepOf).filter(({ depth }) => depth > 0) }
  }
}

/** Contracts created by others are recognized by their creation code. */
const reportCreations = (traces: readonly DocumentSource[], { onCreated }: NewsContext) => {
  for (const { type, action, result, error, blockNumber } of traces) {
    const address = (result as DocumentSource | null)?.address
    if (type !== 'create' || error != null || typeof address !== 'string') continue
    onCreated(address, { block: numIn(blockNumber), input: (action as { init: string }).init })
  }
}

const logPlace = (source: DocumentSource) => ({
  block: numIn(source.blockNumber),
  index: numIn(source.transactionIndex),
  logIndex: numIn(source.logIndex),
  time: `${source.timestamp as string}.000Z`,
  transaction: source.transactionHash as string,
  address: source.address as string,
})

const eventOf = (source: DocumentSource) => {
  const { event, str, error, probability } = source as {
    event: string
    str: string | null
    error: string | null
    probability: number
  }
  return { event, text: str, error, probability }
}

const logOf = ({ topics, data }: DocumentSource) => ({ topics: topics as string[], data: data as string })

const numIn = (value: unknown): number => (value as { num: number }).num
const longOf = (value: unknown): number | null => (value as { num: number } | undefined)?.num ?? null
const traceKey = ({ transactionHash }: DocumentSource, path: readonly number[]): string =>
  [transactionHash, ...path].join()
const logIndexOf = (item: NewsItem): number => (item.type === 'tx' ? -1 : item.logIndex)
const logKey = ({ block, logIndex }: EventNews | LogNews): string => `${block} ${logIndex}`

interface ChainNewsOptions {
  pool: Pick<Pool, 'search'>
  network: string
  /** Name of the contract that this creation code makes; undefined if unknown. */
  nameOf(input: string): string | undefined
  /** Whether inner calls are reported. */
  verbose: boolean
  /** `_source` of a failed transaction, with the node's reason; undefined if unavailable. */
  explain(hash: string): Promise<DocumentSource | undefined>
  signal: AbortSignal
}

/** Blocks per request. */
const NEWS_BLOCKS = 200

/** Changes of a network's store since the last look. */
export const createChainNews = ({ pool, network, nameOf, verbose, explain, signal }: ChainNewsOptions) => {
  /** Hashes of the blocks that were seen, by number. */
  const seen: string[] = []
  let first: number | undefined
  let quietBelow = 0
  /** Creation code by contract address; names are looked up again, as a rebuild may change them. */
  const creations = new Map<string, Creation>()

  const search = async (entity: string, query: unknown, options: object): Promise<DocumentSource[]> => {
    const body = Buffer.from(JSON.stringify({ query, ...options }))
    const answer = await pool.search({ network, entities: entity, body, account: NO_ACCOUNT, signal })
    const { hits } = await readJsonAnswer<{ hits: { hits: { _source: DocumentSource }[] } }>(answer)
    return hits.hits.map(({ _source }) => _source)
  }
  const blocks = async (from: number, to: number): Promise<Block[]> => {
    const query = { range: { 'number.num': { gte: from, lte: to } } }
    const found = await search('block', query, {
      sort: { 'number.num': 'asc' },
      size: NEWS_BLOCKS,
      _source: ['number', 'hash'],
    })
    return found.map(source => ({ number: numIn(source.number), hash: source.hash as string }))
  }

  /** The newest reported block that is still on the chain; -1 if none. */
  const common = async (): Promise<number> => {
    for (let to = seen.length - 1; to >= (first ?? 0); to -= NEWS_BLOCKS) {
      const held = await blocks(Math.max(first ?? 0, to - NEWS_BLOCKS + 1), to)
      const same = held.findLast(({ number, hash }) => seen[number] === hash)
      if (same) return same.number
    }
    return -1
  }

  const named = (address: unknown): string | null => {
    const creation = typeof address === 'string' ? creations.get(address) : undefined
    return (creation && nameOf(creation.input)) ?? null
  }

  /** Asks the node why transactions failed, if blocks have no traces. */
  const explained = async (txs: readonly DocumentSource[]): Promise<DocumentSource[]> => {
    const all: DocumentSource[] = []
    for (const tx of txs) {
      const isOpen = tx.status === false && tx.revertTrace == null && numIn(tx.blockNumber) >= quietBelow
      const known = isOpen ? await explain(tx.hash as string) : undefined
      const { error, revertAddress, revertTrace } = known ?? tx
      all.push({ ...tx, error, revertAddress, revertTrace })
    }
    return all
  }

  /** Drops documents of other blocks: a fork between two searches is handled by the next poll. */
  const newsOf = async (fresh: readonly Block[]): Promise<NewsItem[]> => {
    const range = { 'blockNumber.num': { gte: fresh[0]!.number, lte: fresh.at(-1)!.number } }
    const of = async (entity: string, fields: readonly string[]) =>
      (await search(entity, { range }, { size: -1, sort: '_doc', _source: [...PLACE_FIELDS, ...fields] })).filter(
        ({ blockHash, blockNumber }) => hashes.get(numIn(blockNumber)) === blockHash,
      )
    const hashes = new Map(fresh.map(({ number, hash }) => [number, hash]))
    const txs = await explained(await of('tx', TX_FIELDS))
    const [calls, traces] = [await of('call', CALL_FIELDS), await of('trace', TRACE_FIELDS)]
    const [events, logs] = [await of('event', EVENT_FIELDS), await of('log', LOG_FIELDS)]
    return newsOfBlocks(
      { txs, calls, traces, events, logs },
      { named, verbose, onCreated: (...it) => creations.set(...it) },
    )
  }

  const forget = (to: number) => {
    seen.length = Math.max(0, Math.min(seen.length, to + 1))
    if (to < (first ?? 0)) first = undefined
    for (const [address, { block }] of creations) if (block > to) creations.delete(address)
  }

  return {
    /** Blocks below this one are read, but not reported. */
    skipTo(block: number) {
      quietBelow = block
    },
    /** In the order of the chain; a rollback precedes its replacement blocks. */
    async look(): Promise<DevNews[]> {
      const news: DevNews[] = []
      const tip = seen.length - 1
      if (tip >= 0 && (await blocks(tip, tip))[0]?.hash !== seen[tip]) {
        const to = await common()
        forget(to)
        quietBelow = Math.min(quietBelow, to + 1)
        news.push({ type: 'rollback', to })
      }
      // The first block of a fork has a high number.
      const fresh = await blocks(seen.length, Number.MAX_SAFE_INTEGER)
      if (fresh.length === 0) return news
      const found = await newsOf(fresh)
      first ??= fresh[0]!.number
      for (const { number, hash } of fresh) seen[number] = hash
      return [...news, ...found.filter(({ block }) => block >= quietBelow)]
    },
  }
}

const PLACE_FIELDS = ['blockHash', 'blockNumber', 'transactionIndex', 'timestamp']

const TX_FIELDS = [
  'hash',
  'from',
  'to',
  'method',
  'status',
  'contractAddress',
  'input',
  'value',
  'gasUsed',
  'error',
  'revertAddress',
  'revertTrace',
]

const CALL_FIELDS = ['transactionHash', 'traceAddress', 'selector', 'str']
const TRACE_FIELDS = [
  'transactionHash',
  'traceAddress',
  'type',
  'callType',
  'action',
  'result',
  'error',
  'revertReason',
]
const EVENT_FIELDS = ['event', 'str', 'error', 'probability', 'address', 'transactionHash', 'logIndex']
const LOG_FIELDS = ['topics', 'data', 'address', 'transactionHash', 'logIndex']

interface Block {
  number: number
  hash: string
}

interface DevServer {
  url: string
  accounts: Pick<Accounts, 'createToken'>
  pool: Pick<Pool, 'search'>
  delivery: Pick<DeliveryThread, 'wake'>
}

export interface DevOptions {
  /** Opens the data folder and serves it. `indexings` may change; they stop with the server. */
  serve(config: Config, indexings: readonly Indexing[], run: Run): Promise<DevServer>
  /** Folder of the contract project. */
  folder: string
  /** Whether inner calls are reported. */
  verbose: boolean
  report(news: DevNews): void
}

export interface ReplayOptions {
  /** Folder of the contract project. */
  folder: string
  report(news: DevNews): void
}

/** News for a developer: ISO 8601 times, decimal amounts, names of contracts seen at creation. */
export type DevNews =
  | { type: 'serving'; url: string; console: string | null; network: string; token: string }
  /** The ABIs that decode; `again` after a rebuild. */
  | { type: 'artifacts'; projects: readonly { tool: string; artifacts: string }[]; contracts: number; again: boolean }
  | { type: 'broken'; file: string; why: string }
  | { type: 'waiting'; node: string; why: string }
  /** The node is reachable again and has the same chain. */
  | { type: 'back'; node: string }
  /** `fork`: block of another chain at which this one forks off; null if it does not. */
  | { type: 'node'; node: string; chainId: number; head: number; from: number; fork: number | null }
  /** All blocks above `to` were removed; -1: all blocks. */
  | { type: 'rollback'; to: number }
  | {
      type: 'tx'
      block: number
      index: number
      time: string
      hash: string
      from: string
      /** Null for a creation. */
      to: string | null
      /** Name of the contract that is called or created. */
      contract: string | null
      created: string | null
      method: string | null
      selector: string | null
      value: string
      /** The call with its arguments; null if not decoded. */
      call: string | null
      gasUsed: number | null
      /** False if it failed. */
      status: boolean | null
      failure: DevFailure | null
      /** Inner calls and creations in the order of execution; empty unless verbose. */
      steps: DevStep[]
    }
  | (DevLog & { type: 'event'; event: string; text: string | null; error: string | null; probability: number })
  /** Why there are no traces, and what explains failures instead. */
  | { type: 'untraced'; why: string }
  /** A log that no known declaration decodes. */
  | (DevLog & { type: 'log'; topics: string[]; data: string })

/** Why a transaction failed. */
export interface DevFailure {
  error: string
  /** The failing contract and call; null for the transaction itself, or if unknown. */
  address: string | null
  contract: string | null
  call: string | null
}

/** A call or a creation. */
export interface DevStep {
  depth: number
  type: string
  to: string | null
  contract: string | null
  /** The call with its arguments; null if not decoded. */
  call: string | null
  selector: string | null
  value: string
  gasUsed: number | null
  error: string | null
}

interface DevLog {
  block: number
  /** Index of the transaction. */
  index: number
  logIndex: number
  time: string
  transaction: string
  address: string
  contract: string | null
}
