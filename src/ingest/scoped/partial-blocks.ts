import type { RawBlock, RpcLog, RpcReceipt, RpcTrace } from '../../chain/wire.ts'
import type { Document } from '../../documents/document.ts'
import type { SegmentBatch } from '../../engine/documents/batch.ts'
import { FULL_SEGMENT } from '../../engine/index/segments.ts'
import type { Lookups } from '../../engine/port.ts'
import { createSearcher } from '../../engine/query/searcher.ts'
import { openReader } from '../../engine/reader.ts'
import { type ExportedSource, rawOfDocuments } from '../../export/from-documents.ts'
import { stop } from '../../lib/errors.ts'
import { holds, type Range } from '../../lib/ranges.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import type { Kind } from '../../mapping/index.ts'
import { parseSearch } from '../../query/parse.ts'
import type { BatchRun, Preparer } from '../decoding/prepare.ts'

export interface ReplacingOptions {
  lookups: Pick<Lookups, 'partial'>
  stored(): StoredBlocks
  preparer: Pick<Preparer, 'start' | 'decode' | 'carry'>
}

export interface Replacing {
  batches: SegmentBatch[]
  replaces: number[]
}

const MAX_BATCH_BLOCKS = 4_096

/** Joins partial blocks with stored neighbours, as segments never overlap; skips whole blocks. */
export const joinStored = (
  fresh: readonly RawBlock[],
  range: Range,
  held: readonly Range[],
  { lookups, stored, preparer }: ReplacingOptions,
): Replacing => {
  const segments = lookups.partial(range)
  const blocks = new Map<number, RawBlock>()
  for (const { first, last } of segments)
    for (const raw of stored().read(first, last)) blocks.set(blockNumberOf(raw), markPartial(raw))
  for (const raw of fresh) {
    const there = blocks.get(blockNumberOf(raw))
    const joined = markPartial(there ? joinParts(there, raw) : raw)
    preparer.carry(raw, joined)
    blocks.set(blockNumberOf(raw), joined)
  }
  return { batches: batchBlocks(blocks, held, preparer), replaces: segments.map(({ id }) => id) }
}

/** Returns the part of a block to keep; undefined if nothing stays. */
export type ScopeCut = (raw: RawBlock) => RawBlock | undefined

export const cutStored = (
  range: Range,
  cut: ScopeCut,
  held: readonly Range[],
  { lookups, stored, preparer }: ReplacingOptions,
): Replacing => {
  const segments = lookups.partial(range)
  const blocks = new Map<number, RawBlock>()
  let isSame = true
  for (const { first, last } of segments)
    for (const raw of stored().read(first, last)) {
      const rest = cut(raw)
      if (rest) blocks.set(blockNumberOf(raw), markPartial(rest))
      isSame &&= rest !== undefined && countParts(rest) === countParts(raw)
    }
  if (isSame) return { batches: [], replaces: [] }
  return { batches: batchBlocks(blocks, held, preparer), replaces: segments.map(({ id }) => id) }
}

const countParts = ({ receipts, traces = [] }: RawBlock): number =>
  receipts.reduce((sum, { logs }) => sum + 1 + logs.length, traces.length)

const batchBlocks = (
  blocks: ReadonlyMap<number, RawBlock>,
  held: readonly Range[],
  preparer: ReplacingOptions['preparer'],
): SegmentBatch[] => {
  const batches: SegmentBatch[] = []
  let run: BatchRun | undefined
  let last = -1
  for (const [number, raw] of [...blocks].sort(([a], [b]) => a - b)) {
    if (holds(held, number)) continue
    const isApart = held.some(({ from }) => from > last && from < number)
    if (run && (isApart || run.blocks >= MAX_BATCH_BLOCKS || run.documents >= FULL_SEGMENT)) {
      batches.push(run.finish())
      run = undefined
    }
    run ??= preparer.start()
    run.add(preparer.decode(raw))
    last = number
  }
  if (run) batches.push(run.finish())
  return batches
}

const blockNumberOf = ({ block }: RawBlock): number => Number(block.number)

const markPartial = (raw: RawBlock): RawBlock => ({ ...raw, block: { ...raw.block, partial: true }, partial: true })

export const joinParts = (one: RawBlock, other: RawBlock): RawBlock => {
  if (one.block.hash !== other.block.hash)
    throw stop(
      'block_unlinked',
      `block ${Number(one.block.number)} is stored as ${one.block.hash}, but the node has ${other.block.hash}: they belong to different branches or chains. Index them into different data folders, or remove the stored ones`,
    )
  const transactions = byPlace([...one.block.transactions, ...other.block.transactions], tx => tx.transactionIndex)
  const logsOf = new Map<string, RpcLog[]>()
  for (const { transactionHash, logs } of [...one.receipts, ...other.receipts])
    logsOf.set(transactionHash, [...(logsOf.get(transactionHash) ?? []), ...logs])
  const receipts = byPlace<RpcReceipt>([...one.receipts, ...other.receipts], receipt => receipt.transactionIndex).map(
    receipt => ({ ...receipt, logs: byPlace(logsOf.get(receipt.transactionHash)!, log => log.logIndex) }),
  )
  const traces = byTransaction(one.traces ?? [], other.traces ?? [])
  return {
    ...other,
    block: { ...other.block, transactions },
    receipts,
    ...(traces.length > 0 && { traces }),
    partial: true,
  }
}

const byTransaction = (one: readonly RpcTrace[], other: readonly RpcTrace[]): RpcTrace[] => {
  const positionOf = (it: RpcTrace) => (it.type === 'reward' ? Number.POSITIVE_INFINITY : it.transactionPosition)
  const there = new Set(one.map(positionOf))
  return [...one, ...other.filter(it => !there.has(positionOf(it)))].sort((a, b) => positionOf(a) - positionOf(b))
}

const byPlace = <T>(all: readonly T[], placeOf: (one: T) => string): T[] => {
  const found = new Map<number, T>()
  for (const one of all) found.set(Number(placeOf(one)), one)
  return [...found].sort(([a], [b]) => a - b).map(([, one]) => one)
}

export type StoredBlocks = ReturnType<typeof openStoredBlocks>
const STORED_PAGE = 5_000
export const openStoredBlocks = (store: string, chainId: number | undefined) => {
  const reader = openReader(store, nativeBinding())
  const { search } = createSearcher(reader)
  const within = (kind: Kind, from: number, to: number): ExportedSource[] => {
    const found: ExportedSource[] = []
    const query = { range: { 'blockNumber.num': { gte: from, lte: to } } }
    const ofBlock = { range: { 'number.num': { gte: from, lte: to } } }
    let after: unknown[] | undefined
    for (;;) {
      const more = after ? { search_after: after } : {}
      const body = { query: kind === 'block' ? ofBlock : query, sort: [{ _doc: 'asc' }], size: STORED_PAGE, ...more }
      const request = parseSearch(JSON.stringify(body), [kind], Date.now())
      const { hits } = search(request, { deadline: Number.POSITIVE_INFINITY })
      for (const { document } of hits) found.push((document as Document)._source as ExportedSource)
      if (hits.length < STORED_PAGE) return found
      after = hits.at(-1)!.sort as unknown[]
    }
  }
  return {
    read(from: number, to: number) {
      const [txsOf, logsOf, tracesOf] = (['tx', 'log', 'trace'] as const).map(kind =>
        Map.groupBy(within(kind, from, to), blockHashOf),
      )
      return within('block', from, to)
        .filter(({ partial }) => partial === true)
        .map(block => {
          const hash = block.hash as string
          const [txs = [], logs = [], traces = []] = [txsOf, logsOf, tracesOf].map(of => of!.get(hash))
          return rawOfDocuments(block, { chainId, txs, logs, traces })
        })
    },
    transactions(hashes: readonly string[]) {
      const query = { terms: { hash: hashes } }
      const request = parseSearch(JSON.stringify({ query, size: hashes.length }), ['tx'], Date.now())
      const { hits } = search(request, { deadline: Number.POSITIVE_INFINITY })
      return new Set(hits.map(({ document }) => (document as Document)._source.hash as string))
    },
    close: reader.close,
  }
}

const blockHashOf = ({ blockHash }: ExportedSource): string => blockHash as string
