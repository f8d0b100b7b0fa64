import type { DevNews, DevStep } from '../cli/index.ts'

type Tx = Extract<DevNews, { type: 'tx' }>
type Event = Extract<DevNews, { type: 'event' }>
type Log = Extract<DevNews, { type: 'log' }>
export type Item = Tx | Event | Log

/** The `_source` of a document. */
export type Source = Record<string, unknown>

/** Documents of some blocks, by their kinds. */
export interface Sources {
  txs: readonly Source[]
  calls: readonly Source[]
  traces: readonly Source[]
  events: readonly Source[]
  logs: readonly Source[]
}

/** The creation code of a contract, and its block. */
export interface Creation {
  block: number
  input: string
}

export interface Telling {
  /** Name of the contract at an address, where it is known. */
  named(address: unknown): string | null
  /** Whether the calls inside of transactions are told. */
  verbose: boolean
  /** Told of the contracts that the documents create, before names are asked for. */
  onCreated(address: string, creation: Creation): void
}

/** News about some blocks for a developer, in the order of the chain. */
export const itemsOf = (
  { txs: sources, calls, traces, events: decoded, logs: all }: Sources,
  telling: Telling,
): Item[] => {
  const { named } = telling
  learn(traces, telling)
  const insideOf = insides(calls, traces, telling)
  const txs = sources.map(source => txOf(source, insideOf(source.hash as string), telling))
  const placeOf = (source: Source) => ({ ...placeIn(source), contract: named(source.address) })
  const events = decoded.map((source): Event => ({ type: 'event', ...placeOf(source), ...eventOf(source) }))
  const keys = new Set(events.map(keyOf))
  const logs = all
    .map((source): Log => ({ type: 'log', ...placeOf(source), ...logOf(source) }))
    .filter(log => !keys.has(keyOf(log)))
  return [...txs, ...events, ...logs].sort(
    (a, b) => a.block - b.block || a.index - b.index || logIndexOf(a) - logIndexOf(b),
  )
}

const txOf = (source: Source, inside: Inside, { named, verbose, onCreated }: Telling): Tx => {
  const { hash, from, to, method, status, contractAddress, input, value } = source
  const block = numberOf(source.blockNumber)
  const created = (contractAddress ?? null) as string | null
  if (created !== null) onCreated(created, { block, input: input as string })
  return {
    type: 'tx',
    block,
    index: numberOf(source.transactionIndex),
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
    failure: failureOf(source, inside, named),
    steps: verbose ? inside.steps() : [],
  }
}

const failureOf = (
  { error, revertAddress, revertTrace }: Source,
  { callAt }: Inside,
  named: Telling['named'],
): Tx['failure'] => {
  if (typeof error !== 'string') return null
  const path = (revertTrace ?? []) as number[]
  const address = path.length > 0 && typeof revertAddress === 'string' ? revertAddress : null
  return { error, address, contract: named(address), call: path.length > 0 ? callAt(path) : null }
}

interface Inside {
  /** The call at a trace address with its arguments. */
  callAt(path: readonly number[]): string | null
  steps(): DevStep[]
}

/** What is known of the inside of each transaction. */
const insides = (calls: readonly Source[], traces: readonly Source[], { named }: Telling) => {
  const decoded = new Map(calls.map(call => [stepKey(call, call.traceAddress as number[]), call]))
  const byTx = Map.groupBy(traces, ({ transactionHash }) => transactionHash)
  return (transactionHash: string): Inside => {
    const callAt = (path: readonly number[]): string | null =>
      (decoded.get(stepKey({ transactionHash }, path))?.str ?? null) as string | null
    const stepOf = ({ type, traceAddress, action, result, error, revertReason }: Source): DevStep => {
      const path = traceAddress as number[]
      const { callType, to, value, address } = action as Source
      const [called, made] = [decoded.get(stepKey({ transactionHash }, path)), (result as Source | null)?.address]
      const target = (to ?? made ?? address ?? null) as string | null
      return {
        depth: path.length,
        type: (callType ?? type) as string,
        to: target,
        contract: named(target),
        call: (called?.str ?? null) as string | null,
        selector: (called?.selector ?? null) as string | null,
        value: BigInt((value as { raw: string } | undefined)?.raw ?? 0).toString(),
        gasUsed: longOf((result as Source | null)?.gasUsed),
        error: (revertReason ?? error ?? null) as string | null,
      }
    }
    return { callAt, steps: () => (byTx.get(transactionHash) ?? []).map(stepOf).filter(({ depth }) => depth > 0) }
  }
}

/** Contracts that others create are known by the code that they were created with. */
const learn = (traces: readonly Source[], { onCreated }: Telling) => {
  for (const { type, action, result, error, blockNumber } of traces) {
    const address = (result as Source | null)?.address
    if (type !== 'create' || error != null || typeof address !== 'string') continue
    onCreated(address, { block: numberOf(blockNumber), input: (action as { init: string }).init })
  }
}

const placeIn = (source: Source) => ({
  block: numberOf(source.blockNumber),
  index: numberOf(source.transactionIndex),
  logIndex: numberOf(source.logIndex),
  time: `${source.timestamp as string}.000Z`,
  transaction: source.transactionHash as string,
  address: source.address as string,
})

const eventOf = (source: Source) => {
  const { event, str, error, probability } = source as {
    event: string
    str: string | null
    error: string | null
    probability: number
  }
  return { event, text: str, error, probability }
}

const logOf = ({ topics, data }: Source) => ({ topics: topics as string[], data: data as string })

export const numberOf = (value: unknown): number => (value as { num: number }).num
const longOf = (value: unknown): number | null => (value as { num: number } | undefined)?.num ?? null
const stepKey = ({ transactionHash }: Source, path: readonly number[]): string => [transactionHash, ...path].join()
const logIndexOf = (item: Item): number => (item.type === 'tx' ? -1 : item.logIndex)
const keyOf = ({ block, logIndex }: Event | Log): string => `${block} ${logIndex}`
