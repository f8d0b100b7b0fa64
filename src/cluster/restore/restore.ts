import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DecodedBlock } from '../../documents/document.ts'
import { createBlocks } from '../../engine/blocks.ts'
import type { SegmentBatch } from '../../engine/documents/batch.ts'
import { openDocuments, type StoreReader } from '../../engine/reader.ts'
import { blockOf } from '../../engine/schema.ts'
import { DOCUMENT_BYTES } from '../../engine/shipping/journal.ts'
import {
  createOffloadedReader,
  OFFLOADED_KINDS,
  type OffloadedBlocks,
  type OffloadedReader,
  type OffloadedRun,
} from '../../engine/shipping/restore-offloaded.ts'
import { createShippedReader, type Visible } from '../../engine/shipping/shipped-ranges.ts'
import { createDocumentLines, type DocumentLines } from '../../engine/show/document-stream.ts'
import { ChainsieveError, retry, stop } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Range } from '../../lib/ranges.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import type { Kind } from '../../mapping/index.ts'
import { parseSearch } from '../../query/parse.ts'
import { type Cluster, type ClusterOptions, connect } from '../connection/cluster.ts'
import { openPages } from '../pages.ts'
import { createQueryClient } from '../query-client.ts'
import { createShipRequests } from '../ship/requests.ts'
import { createConsistentRead } from '../visibility.ts'
import { createDeclarations } from './declarations.ts'
import { decodedOfDocuments } from './decoded-blocks.ts'

/**
 * Changes to the store, one by one; null lets blocks of the head go first. Each `yield` returns
 * whether the target of the change was still there, or throws why it failed.
 */
export type RestoreChanges = AsyncGenerator<
  /** Blocks in place of the end of an emptied segment. */
  | { type: 'restore'; segment: number; build(): SegmentBatch }
  /** The last restored run equals the cluster's. Done once the store answers searches. */
  | { type: 'verified' }
  | null,
  void,
  { done: boolean }
>

interface RestoreRunsOptions {
  store: Pick<OffloadedReader, 'next' | 'unverified'>
  reader: StoreReader
  fetch: FetchDocuments
  /** Counts the cluster's documents of some blocks by kind. */
  count(blocks: Range): Promise<ReadonlyMap<Kind, { count: number }>>
  /** Builds segments from decoded blocks. */
  preparer: { start(): { add(block: DecodedBlock): void; finish(): SegmentBatch } }
  /** Decimals of a token, as known now. */
  decimals(address: string): number | undefined
  /** Called after restored documents were compared. */
  onCompared?(): void
}

/** Limits of one transaction, which the head waits for. */
const MAX_RESTORED_DOCUMENTS = 4_000
const MAX_RESTORED_BLOCKS = 256

/**
 * Restores documents from a cluster, newest first: each run of blocks is fetched, counted, written
 * in one transaction, and compared. Ends when the store has all documents and answers searches. The
 * next call continues after an interruption.
 */
export async function* restoreRuns(options: RestoreRunsOptions): RestoreChanges {
  const { store, reader, fetch, count, preparer, decimals, onCompared } = options
  const declarations = createDeclarations(of => during(reader, () => reader.signatures(of)))
  const lines = createDocumentLines(reader)
  const { hash } = createBlocks(reader.db)

  async function* verify(documents: readonly RemoteDocument[]): RestoreChanges {
    for (const some of byBlock(documents)) {
      yield null
      const difference = during(reader, () => {
        // It may have been reorganised away since.
        const isHere = some[0]!.kind === 'block' && some[0]!.id === hash(blockOf(some[0]!.position))
        return isHere ? differenceIn(lines, some) : undefined
      })
      if (difference !== undefined)
        throw stop(
          'return_differs',
          `${difference} after it came back: searches keep asking the cluster. Set store = "opensearch", or index the network again into a new data folder`,
        )
    }
  }

  /** Blocks of the last segment whose documents were counted. */
  let counted: Range | undefined
  /** Undefined if the run has changed since. */
  const fetchRun = async (run: OffloadedRun): Promise<RemoteDocument[] | undefined> => {
    /** Only a whole segment knows how many of its logs are events. */
    const isCounted = counted && counted.from <= run.from && counted.to >= run.to
    const whole = isCounted ? undefined : await count(run.all)
    const documents = await fetch(run)
    const kinds = Map.groupBy(documents, ({ kind }) => kind)
    const lack =
      (whole && lackIn(run.all, kind => whole.get(kind)?.count)) ?? lackIn(run, kind => kinds.get(kind)?.length)
    counted = run.all
    if (lack === undefined) return documents
    counted = undefined
    const now = store.next(MAX_RESTORED_DOCUMENTS, MAX_RESTORED_BLOCKS)
    if (now?.segment !== run.segment || now.from !== run.from) return undefined
    throw stop(
      'return_incomplete',
      `the cluster has ${lack}: restore a snapshot of it, or index the network again into a new data folder`,
    )
  }

  for (;;) {
    yield null
    const unverified = store.unverified()
    if (unverified) yield* verify(await fetch(unverified))
    const run = store.next(MAX_RESTORED_DOCUMENTS, MAX_RESTORED_BLOCKS)
    if (unverified || !run) {
      onCompared?.()
      if ((yield VERIFIED).done) return
      continue
    }
    const documents = await fetchRun(run)
    if (!documents) continue
    const decoded: DecodedBlock[] = []
    for (const some of byBlock(documents)) {
      yield null
      decoded.push(decodedOfDocuments(some, { declarations, decimals }))
    }
    const build = (): SegmentBatch => {
      const building = preparer.start()
      for (const block of decoded) building.add(block)
      return building.finish()
    }
    if (!(yield { type: 'restore', segment: run.segment, build }).done) continue
    yield* verify(documents)
    onCompared?.()
    if ((yield VERIFIED).done) return
  }
}

const VERIFIED = { type: 'verified' } as const

const during = <T>(reader: StoreReader, look: () => T): T => {
  reader.begin()
  try {
    return look()
  } finally {
    reader.end()
  }
}

const byBlock = (documents: readonly RemoteDocument[]): RemoteDocument[][] => [
  ...Map.groupBy(documents, ({ position }) => blockOf(position)).values(),
]

const lackIn = (
  { from, to, counts }: OffloadedBlocks,
  countOf: (kind: Kind) => number | undefined,
): string | undefined => {
  for (const [kind, expected] of Object.entries(counts)) {
    const count = countOf(kind as Kind) ?? 0
    if (count !== expected)
      return `${count} instead of ${expected} documents of the entity ${kind} of blocks ${from} to ${to}`
  }
  return undefined
}

/** Time between two attempts. */
const RESTORE_RETRY_MS = 5_000

/** Resources of a network's thread for restoring documents. */
export interface RestoreWork extends Pick<RestoreRunsOptions, 'preparer'> {
  /** File of the network's store. */
  store: string
  network: string
  tokens: { of: RestoreRunsOptions['decimals'] }
  state: { trouble: { why: string; since: string } | null }
  signal: AbortSignal
  log: Log
}

/** Restores until all documents are back, and retries temporary failures. */
export async function* restoreDocuments(naming: ClusterOptions, work: RestoreWork): RestoreChanges {
  const { store, network, preparer, tokens, state, signal, log } = work
  const cluster = connect(naming)
  const reader = openDocuments(store, nativeBinding())
  const returns = createOffloadedReader(reader.db)
  const { visible } = createShippedReader(reader.db)
  const { tally } = createShipRequests(cluster, naming, network, () => signal)
  try {
    checkRoom(store, returns)
    log.info('Brings documents back from the cluster', { ...returns.left() })
    for (;;) {
      try {
        yield* restoreRuns({
          ...{ store: returns, reader, preparer, decimals: tokens.of },
          fetch: createDocumentFetch(cluster, naming, { network, visible, signal }),
          count: blocks => tally(blocks, visible().hidden),
          onCompared() {
            state.trouble = null
          },
        })
        break
      } catch (error) {
        if (!mayPass(error, signal)) throw error
        state.trouble ??= { why: error.message, since: new Date().toISOString() }
        log.warn('Cannot bring documents back from the cluster now, will retry', { why: error.message })
        await sleep(error.retryAfterMs ?? RESTORE_RETRY_MS, undefined, { signal })
      }
    }
    log.info('Searches ask the file from now on', { blocks: returns.left().blocks })
  } finally {
    reader.close()
    await cluster.close()
  }
}

const mayPass = (error: unknown, signal: AbortSignal): error is ChainsieveError =>
  !signal.aborted && error instanceof ChainsieveError && error.next === 'retry'

/** Space needed per byte restored: merging temporarily writes twice. */
const ROOM = 1.3

const checkRoom = (store: string, { left }: OffloadedReader) => {
  const { bavail, bsize } = statfsSync(dirname(store))
  const needed = left().documents * DOCUMENT_BYTES * ROOM
  if (bavail * bsize < needed)
    throw retry(
      'return_room',
      `the documents of ${store} need some ${gigabytes(needed)} GB, and its disk has ${gigabytes(bavail * bsize)} GB left: free some space, or keep store = "opensearch"`,
      { retryAfterMs: 60_000 },
    )
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1)

/** Restores in the background; returns whether all are back. Other failures wait for a restart. */
export const restoreInBackground = async (
  naming: ClusterOptions,
  work: RestoreWork,
  run: (changes: RestoreChanges) => Promise<void>,
): Promise<boolean> => {
  const { state, signal, log } = work
  while (!signal.aborted) {
    try {
      await run(restoreDocuments(naming, work))
      return true
    } catch (error) {
      if (signal.aborted) break
      if (!(error instanceof ChainsieveError)) throw error
      state.trouble = { why: error.message, since: state.trouble?.since ?? new Date().toISOString() }
      log.error('Cannot bring documents back from the cluster', { error })
      if (error.next !== 'retry') break
      await sleep(error.retryAfterMs ?? RESTORE_RETRY_MS, undefined, { signal }).catch(() => {})
    }
  }
  return false
}

/** First difference between fetched and stored documents of a block; undefined if equal. */
const differenceIn = (
  lines: Pick<DocumentLines, 'block'>,
  documents: readonly RemoteDocument[],
): string | undefined => {
  const left = new Map(documents.map(one => [keyOf(one), one]))
  for (const { source, ...line } of lines.block(blockOf(documents[0]!.position))) {
    if (!KINDS.has(line.kind)) continue
    const there = left.get(keyOf(line))
    if (!there) return `${documentName(line)} is not in the cluster`
    const here = Buffer.from(source).toString()
    if (here !== there.source) return `${documentName(line)} is ${shortly(there.source, here)}`
    left.delete(keyOf(line))
  }
  const [lost] = left.values()
  return lost && `${documentName(lost)} is not in the file`
}

const KINDS: ReadonlySet<string> = new Set(OFFLOADED_KINDS)
const keyOf = ({ kind, position, id }: Pick<RemoteDocument, 'kind' | 'position' | 'id'>): string =>
  `${kind} ${position} ${id}`
const documentName = ({ kind, id }: Pick<RemoteDocument, 'kind' | 'id'>): string => `the ${kind} ${id}`

/** Both texts from a little before the first difference. */
const shortly = (there: string, here: string): string => {
  let at = 0
  while (there[at] === here[at] && at < there.length) at++
  const from = Math.max(0, at - 40)
  return `…${there.slice(from, at + 40)}… in the cluster, and …${here.slice(from, at + 40)}… in the file`
}

/** A document as the cluster has it. */
export interface RemoteDocument {
  kind: Kind
  id: string
  position: number
  /** `_source` as shown before shipping. */
  source: string
}

/** Documents of some blocks in the order of the chain. */
export type FetchDocuments = (run: Range) => Promise<RemoteDocument[]>

/** Time for one request. */
const MAX_FETCH_MS = 60_000

const createDocumentFetch = (
  cluster: Cluster,
  naming: ClusterOptions,
  { network, visible, signal }: { network: string; visible(): Visible; signal: AbortSignal },
): FetchDocuments => {
  const asker = createQueryClient({ cluster, naming, network })
  const settle = createConsistentRead({ visible })
  const body = JSON.stringify({ sort: [{ _doc: 'asc' }], size: -1 })
  return async ({ from, to }) => {
    const request = { ...parseSearch(body, OFFLOADED_KINDS, Date.now()), within: [[from, to] as const] }
    const options = () => ({ deadline: performance.now() + MAX_FETCH_MS, signal })
    const pages = await openPages(request, { asker, options, visible, settle })
    const found: RemoteDocument[] = []
    try {
      for (;;) {
        await pages.ready()
        const page = pages.take()
        if (!page) return found
        for (const { kind, id, position, source } of page.hits) found.push({ kind, id, position, source })
      }
    } finally {
      pages.close()
    }
  }
}
