import type { RawBlock, RpcLog } from '../../chain/wire.ts'
import type { DecodedLog, Signature } from '../../decode/types.ts'
import type { BlockCall } from '../../documents/calls.ts'
import type { DecodedBlock } from '../../documents/document.ts'
import type { Failure } from '../../documents/failures.ts'
import { asJson, readDocument } from '../../documents/show.ts'
import { type DecodedTrace, REVERT } from '../../documents/traces.ts'
import { placeOf } from '../../engine/schema.ts'
import { type ExportedSource, rawOfDocuments } from '../../export/from-documents.ts'
import { stop } from '../../lib/errors.ts'
import { type Declarations, type Declared, shownDecoding } from './declarations.ts'
import type { RemoteDocument } from './restore.ts'

interface Placed {
  place: number
  source: ExportedSource
}

/**
 * Restores a decoded block from its documents, without decoding by newer ABIs. Its contracts and
 * tokens are in the store.
 */
export const decodedOfDocuments = (
  documents: readonly RemoteDocument[],
  { declarations, decimals }: { declarations: Declarations; decimals(address: string): number | undefined },
): DecodedBlock => {
  const of = Map.groupBy(documents, ({ kind }) => kind)
  const placed = (kind: RemoteDocument['kind']): Placed[] =>
    (of.get(kind) ?? []).map(({ position, source }) => ({
      place: placeOf(position),
      // Chains may add numbers of any size; calculations with arguments need plain numbers.
      source: (kind === 'event' || kind === 'call'
        ? JSON.parse(source)
        : readDocument(source, asJson)) as ExportedSource,
    }))
  const sourcesOf = (all: readonly Placed[]) => all.map(({ source }) => source)
  const [block] = placed('block')
  const [txs, logs, traces] = [placed('tx'), placed('log'), placed('trace')]
  const raw = rawOfDocuments(block!.source, {
    chainId: undefined,
    txs: sourcesOf(txs),
    logs: sourcesOf(logs),
    traces: sourcesOf(traces),
  })
  const likely = (address: string) => decimals(address.slice(2).toLowerCase())

  const events = new Map(placed('event').map(({ place, source }) => [place, source]))
  const logOf = (log: RpcLog, place: number): DecodedLog => {
    const event = events.get(place)
    if (!event) return { signature: unknownLog(log), args: null }
    const shown = shownDecoding(event, 'event')
    return declarations.log(shown, log, likely(log.address)) ?? lost('event', event)
  }
  const decodedTraces = (raw.traces ?? []).map((trace, i) => decodedTrace(trace, traces[i]!.source))
  return {
    raw,
    logs: raw.receipts.flatMap(({ logs }) => logs).map((log, i) => logOf(log, logs[i]!.place)),
    methods: txs.map(({ source }) => (source.method as string | null | undefined) ?? null),
    failures: txs.map(({ source }) => failureOf(source)),
    traces: decodedTraces,
    calls: placed('call').map(callReader(raw, decodedTraces, { declarations, likely })),
    contracts: [],
    tokens: [],
  }
}

/** As the decoder of logs creates it. */
const unknownLog = ({ topics }: RpcLog): Signature => {
  const topic = topics[0]?.toLowerCase() ?? null
  const indexed = topic === null ? 0 : topics.length - 1
  return { of: 'log', key: `${topic}/${indexed}`, topic, indexed, event: null, probability: 0, error: null }
}

/** As the decoder of calls creates it. */
const unknownCall = (selector: string): Signature => ({
  ...{ of: 'call', key: `call/${selector}/0//null`, topic: selector, indexed: 0 },
  ...{ event: null, probability: 0, error: null },
})

const failureOf = (source: ExportedSource): Failure | undefined => {
  const { error, revertReason, revertName, revertData, revertAddress, revertTrace } = source
  if (error === undefined || error === null) return undefined
  return {
    error: error as string,
    revertReason: (revertReason as string | null) ?? undefined,
    revertName: (revertName as string | null) ?? undefined,
    revertData: (revertData as string | null) ?? undefined,
    revertAddress: (revertAddress as string | null | undefined)?.toLowerCase(),
    revertTrace: (revertTrace as number[] | null) ?? undefined,
  }
}

const revertIn = ({ revertReason, revertName }: ExportedSource) =>
  revertReason === undefined && revertName === undefined
    ? undefined
    : { name: (revertName as string | null) ?? null, reason: (revertReason as string | null) ?? null }

const decodedTrace = (trace: NonNullable<RawBlock['traces']>[number], source: ExportedSource): DecodedTrace => {
  const revert = revertIn(source)
  return revert ? { ...trace, [REVERT]: revert } : trace
}

const callReader = (
  raw: RawBlock,
  traces: readonly DecodedTrace[],
  { declarations, likely }: { declarations: Declarations; likely(address: string): number | undefined },
) => {
  const steps = new Map(
    traces.flatMap((trace, i) =>
      trace.type === 'reward' ? [] : [[stepKey(trace.transactionPosition, trace.traceAddress), i] as const],
    ),
  )
  const txs = new Map(raw.block.transactions.map(tx => [Number(tx.transactionIndex), tx]))
  return ({ source }: Placed): BlockCall => {
    const tx = Number((source.transactionIndex as { raw: string }).raw)
    const way = source.traceAddress as number[]
    const [from, to] = [(source.from as string).toLowerCase(), (source.to as string).toLowerCase()]
    const trace = steps.get(stepKey(tx, way)) ?? null
    const step = trace === null ? undefined : traces[trace]
    const { input, value } = step?.type === 'call' ? step.action : txs.get(tx)!
    const declared = source.method === null ? undefined : declaredOf(source, input, declarations, likely(to))
    return {
      ...{ tx, trace, from, to, value },
      ...(declared ?? { signature: unknownCall(source.selector as string), args: null }),
      callType: source.callType as string,
      depth: way.length,
      error: source.error as string | null,
      reverted: source.reverted as boolean,
      revert: revertIn(source),
    }
  }
}

const stepKey = (tx: number, way: readonly number[]): string => `${tx}/${way.join()}`

const declaredOf = (
  source: ExportedSource,
  input: string,
  declarations: Declarations,
  likely: number | undefined,
): Declared => declarations.call(shownDecoding(source, 'method'), input, likely) ?? lost('call', source)

const lost = (kind: string, source: ExportedSource): never => {
  throw stop(
    'return_undeclared',
    `the store has no declaration by which the ${kind} ${String(source.event ?? source.method)} of transaction ${String(source.transactionHash)} was decoded: its document cannot come back. Keep the documents in the cluster, or index the network again into a new data folder`,
  )
}
