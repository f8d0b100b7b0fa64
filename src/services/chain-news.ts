import type { DevNews } from '../cli/index.ts'
import type { Pool } from '../search/pool.ts'
import { NO_ACCOUNT } from '../search/service.ts'
import { type Creation, type Item, itemsOf, numberOf, type Source } from './dev.ts'

interface ChainNewsOptions {
  pool: Pick<Pool, 'search'>
  network: string
  /** Name of the contract that a creation transaction's input makes, where it is known. */
  nameOf(input: string): string | undefined
  /** Whether the calls inside of transactions are told. */
  verbose: boolean
  /** Asks the node why a transaction failed: its `_source`, undefined where the node cannot say. */
  explain(hash: string): Promise<Source | undefined>
  signal: AbortSignal
}

/** Blocks that are asked for in one go. */
const BLOCKS = 200

export type ChainNews = ReturnType<typeof createChainNews>

/** Changes of a network's store since the last look. */
export const createChainNews = ({ pool, network, nameOf, verbose, explain, signal }: ChainNewsOptions) => {
  /** Hashes of the blocks that were seen, by number. */
  const seen: string[] = []
  let first: number | undefined
  let quietBelow = 0
  /** Inputs of creation transactions by the contract's address: a rebuilt project may know them by another name. */
  const creations = new Map<string, Creation>()

  const search = async (entity: string, query: unknown, options: object): Promise<Source[]> => {
    const body = Buffer.from(JSON.stringify({ query, ...options }))
    const answer = await pool.search({ network, entities: entity, body, account: NO_ACCOUNT, signal })
    const text = answer.body instanceof Uint8Array ? Buffer.from(answer.body).toString() : await textOf(answer.body)
    if (answer.status !== 200) throw new Error(`a search of ${entity} was answered ${answer.status}: ${text}`)
    return (JSON.parse(text) as { hits: { hits: { _source: Source }[] } }).hits.hits.map(({ _source }) => _source)
  }
  const blocks = async (from: number, to: number): Promise<Block[]> => {
    const query = { range: { 'number.num': { gte: from, lte: to } } }
    const found = await search('block', query, {
      sort: { 'number.num': 'asc' },
      size: BLOCKS,
      _source: ['number', 'hash'],
    })
    return found.map(source => ({ number: numberOf(source.number), hash: source.hash as string }))
  }

  /** The newest block that was seen and is still there; -1 where none is. */
  const common = async (): Promise<number> => {
    for (let to = seen.length - 1; to >= (first ?? 0); to -= BLOCKS) {
      const held = await blocks(Math.max(first ?? 0, to - BLOCKS + 1), to)
      const same = held.findLast(({ number, hash }) => seen[number] === hash)
      if (same) return same.number
    }
    return -1
  }

  const named = (address: unknown): string | null => {
    const creation = typeof address === 'string' ? creations.get(address) : undefined
    return (creation && nameOf(creation.input)) ?? null
  }

  /** Blocks without traces do not tell why a transaction failed. */
  const explained = async (txs: readonly Source[]): Promise<Source[]> => {
    const all: Source[] = []
    for (const tx of txs) {
      const isOpen = tx.status === false && tx.revertTrace == null && numberOf(tx.blockNumber) >= quietBelow
      const known = isOpen ? await explain(tx.hash as string) : undefined
      const { error, revertAddress, revertTrace } = known ?? tx
      all.push({ ...tx, error, revertAddress, revertTrace })
    }
    return all
  }

  /** Of these blocks alone: between two searches others may have taken their place, which the next look finds out. */
  const newsOf = async (fresh: readonly Block[]): Promise<Item[]> => {
    const range = { 'blockNumber.num': { gte: fresh[0]!.number, lte: fresh.at(-1)!.number } }
    const of = async (entity: string, fields: readonly string[]) =>
      (await search(entity, { range }, { size: -1, sort: '_doc', _source: [...PLACE, ...fields] })).filter(
        ({ blockHash, blockNumber }) => hashes.get(numberOf(blockNumber)) === blockHash,
      )
    const hashes = new Map(fresh.map(({ number, hash }) => [number, hash]))
    const txs = await explained(await of('tx', TX))
    const [calls, traces] = [await of('call', CALL), await of('trace', TRACE)]
    const [events, logs] = [await of('event', EVENT), await of('log', LOG)]
    return itemsOf({ txs, calls, traces, events, logs }, { named, verbose, onCreated: (...it) => creations.set(...it) })
  }

  const forget = (to: number) => {
    seen.length = Math.max(0, Math.min(seen.length, to + 1))
    if (to < (first ?? 0)) first = undefined
    for (const [address, { block }] of creations) if (block > to) creations.delete(address)
  }

  return {
    /** Blocks below this one are not told, only learnt from. */
    skipTo(block: number) {
      quietBelow = block
    },
    /** In the order of the chain; a rollback goes before what replaces the blocks. */
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

const PLACE = ['blockHash', 'blockNumber', 'transactionIndex', 'timestamp']
const TX = [
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
const CALL = ['transactionHash', 'traceAddress', 'selector', 'str']
const TRACE = ['transactionHash', 'traceAddress', 'type', 'callType', 'action', 'result', 'error', 'revertReason']
const EVENT = ['event', 'str', 'error', 'probability', 'address', 'transactionHash', 'logIndex']
const LOG = ['topics', 'data', 'address', 'transactionHash', 'logIndex']

interface Block {
  number: number
  hash: string
}

const textOf = async (body: ReadableStream<Uint8Array>): Promise<string> => new Response(body).text()
