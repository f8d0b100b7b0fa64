import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { RawBlock } from '../../src/chain/wire.ts'
import { type Cluster, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { shownId, splitSource } from '../../src/cluster/indices/names.ts'
import { createShipper, type Shipper } from '../../src/cluster/ship/shipper.ts'
import type { Visible } from '../../src/engine/shipping/shipped-ranges.ts'
import { createDocumentLines, type DocumentLine } from '../../src/engine/show/document-stream.ts'
import { createWriter } from '../../src/engine/writer.ts'
import { silent } from '../../src/lib/log.ts'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { createMetrics } from '../../src/metrics/index.ts'
import type { TestStore } from './store.ts'

export const SHIPPED = 'ethereum/made-up/mainnet'

/** A document as stores and clusters can be compared by it. */
export interface Shipped {
  kind: Kind
  id: string
  source: string
  block: number
  position: number
  routing: string | undefined
  parent: string | undefined
}

/** All documents that a store shows, by kind, position and id. */
export const documentsIn = (store: TestStore): Map<string, Shipped> => {
  const lines = createDocumentLines(store.reader)
  const found = new Map<string, Shipped>()
  const take = (some: Iterable<DocumentLine>) => {
    for (const { source, ...line } of some) {
      const shipped = { ...line, source: Buffer.from(source).toString() }
      found.set(keyOf(shipped), shipped)
    }
  }
  store.read(() => {
    for (const { first, last } of store.reader.segments())
      for (let block = first; block <= last; block++) take(lines.block(block))
    take(lines.tokens(undefined, 0, () => true))
  })
  return found
}

const isHiddenBy = (
  { batches, above, below = Number.POSITIVE_INFINITY, butTokens }: Visible['hidden'][number],
  { batch, block, kind }: { batch: number; block: number; kind: number },
): boolean =>
  !(butTokens && KINDS[kind] === 'token') &&
  batch >= batches.from &&
  batch <= batches.to &&
  block > above &&
  block <= below

export const keyOf = ({ kind, position, id }: Pick<Shipped, 'kind' | 'position' | 'id'>): string =>
  `${kind} ${position} ${id}`

/** The documents of a cluster that a search may see; none of them twice. */
export const visibleIn = (documents: ReadonlyMap<string, string>, { hidden }: Visible): Map<string, Shipped> => {
  const found = new Map<string, Shipped>()
  for (const [key, text] of documents) {
    const { source, meta } = splitSource(text)
    const { block, position, routing, parent } = meta
    if (hidden.some(clause => isHiddenBy(clause, meta))) continue
    const document = {
      kind: KINDS[meta.kind]!,
      id: shownId(key.split(' ')[1]!),
      block,
      position,
      routing,
      parent,
      source,
    }
    assert.ok(!found.has(keyOf(document)), `${key} is there twice`)
    found.set(keyOf(document), document)
  }
  return found
}

export const withoutTokens = (all: ReadonlyMap<string, Shipped>, test = (_: Shipped) => true): Map<string, Shipped> =>
  new Map([...all].filter(([, document]) => document.kind !== 'token' && test(document)))

export interface TestShipper extends Shipper {
  /** Resolves when all is shipped; rejects with why that cannot be. */
  rested(): Promise<void>
  troubles: string[]
}

export const startShipper = (
  store: TestStore,
  cluster: Cluster,
  {
    prefix = 'test',
    blocksPerIndex = 100,
    fresh = true,
    batchBytes,
    ...sharing
  }: {
    prefix?: string
    blocksPerIndex?: number
    fresh?: boolean
    batchBytes?: number
    ttlMs?: number
    lookMs?: number
  } = {},
): TestShipper => {
  // As after a restart.
  if (fresh) store.writer = createWriter(store.db)
  const troubles: string[] = []
  let failure: unknown
  let told = () => {}
  const shipper: Shipper = createShipper({
    store: store.path,
    native: undefined,
    db: store.db,
    writer: store.writer,
    network: SHIPPED,
    cluster,
    options: { ...DEFAULT_CLUSTER, urls: [], prefix, blocksPerIndex },
    log: silent,
    sharing,
    ...(batchBytes !== undefined && { batchBytes }),
    waits: { baseMs: 4, capMs: 30 },
    metrics: createMetrics(),
    onReady: () => setImmediate(() => shipper.turn()),
    onTrouble: why => why !== null && troubles.push(why),
    onProgress() {},
    onRest: () => told(),
    onFailure(error) {
      failure = error
      told()
    },
  })
  return {
    ...shipper,
    troubles,
    async rested() {
      while (!shipper.isResting()) {
        if (failure) throw failure
        await new Promise<void>(resolve => {
          told = resolve
        })
      }
    },
  }
}

/** Whole numbers below a bound, the same ones for the same seed. */
export const createRandom = (seed: number) => {
  let state = seed * 0x9e3779b9
  return (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}

/** A recorded block as one of another number and branch: its transactions keep their hashes, so that documents move between blocks. */
export const movedBlock = (raw: RawBlock, number: number, parent: RawBlock | undefined, salt: number): RawBlock => {
  const hash = `0x${number.toString(16).padStart(16, '0')}${salt.toString(16).padStart(8, '0')}${raw.block.hash.slice(26)}`
  const text = JSON.stringify(raw)
    .replaceAll(raw.block.hash, hash)
    .replaceAll(`"blockNumber":"${raw.block.number}"`, `"blockNumber":"0x${number.toString(16)}"`)
    .replaceAll(`"blockNumber":${Number(raw.block.number)},`, `"blockNumber":${number},`)
  const moved = JSON.parse(text) as RawBlock
  Object.assign(moved.block, { number: `0x${number.toString(16)}`, ...(parent && { parentHash: parent.block.hash }) })
  return moved
}

export const partOf = (raw: RawBlock, count: number): RawBlock => {
  const transactions = raw.block.transactions.slice(0, count)
  const hashes = new Set(transactions.map(({ hash }) => hash))
  return {
    ...raw,
    block: { ...raw.block, transactions, partial: true },
    receipts: raw.receipts.slice(0, count),
    ...(raw.traces && { traces: raw.traces.filter(it => it.type !== 'reward' && hashes.has(it.transactionHash)) }),
    partial: true,
  }
}

export const closing = (t: TestContext, shipper: () => Shipper | undefined, ...stores: TestStore[]) =>
  t.after(async () => {
    await shipper()?.close()
    for (const store of stores) store.close()
  })
