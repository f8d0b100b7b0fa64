import assert from 'node:assert/strict'
import type { Cluster, ClusterOptions } from '../../src/cluster/connection/cluster.ts'
import { aliasOf, shownId, splitSource } from '../../src/cluster/indices/names.ts'
import { storeFile } from '../../src/engine/files.ts'
import { createDocumentLocation } from '../../src/engine/shipping/document-location.ts'
import { createOffloadedReader } from '../../src/engine/shipping/restore-offloaded.ts'
import type { Hidden } from '../../src/engine/shipping/shipped-ranges.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { readStore } from './indexing.ts'
import { documentsIn, keyOf, SHIPPED, type Shipped } from './ship.ts'
import { createTestStore } from './store.ts'

/** The documents of a real cluster that a search may see, up to 10,000 of a kind. */
export const documentsThere = async (
  cluster: Pick<Cluster, 'ask'>,
  options: Pick<ClusterOptions, 'prefix'>,
  hidden: readonly Hidden[],
): Promise<Map<string, Shipped>> => {
  const found = new Map<string, Shipped>()
  const must_not = hidden.map(({ batches, above }) => ({
    bool: {
      filter: [
        { range: { 'chainsieve.batch': { gte: batches.from, lte: batches.to } } },
        { range: { 'chainsieve.block': { gt: above } } },
      ],
    },
  }))
  for (const kind of KINDS) {
    const { status, text } = await cluster.ask({
      ...{ method: 'POST', path: `/${aliasOf(options, SHIPPED, kind)}/_search` },
      body: { size: 10_000, query: { bool: { must_not } } },
    })
    assert.equal(status, 200, text)
    for (const [, id, whole] of text.matchAll(/"_id":"([^"]*)"[^{]*"_source":(\{.*?"chainsieve":\{[^}]*\}\})/gs)) {
      const { source, meta } = splitSource(whole!)
      const { block, position, routing, parent } = meta
      const document = { kind, id: shownId(id!), source, block, position, routing, parent }
      found.set(keyOf(document), document)
    }
  }
  return found
}

/** Reads the store of a data folder. */
export const stored = <T>(data: string, read: Parameters<typeof readStore<T>>[1]): T =>
  readStore(storeFile(data, SHIPPED), read)
export const emptiedIn = (data: string): number => stored(data, db => createOffloadedReader(db).left().emptied)
export const isInCluster = (data: string): boolean =>
  stored(data, db => createDocumentLocation(db).since() !== undefined)
export const documentsOf = (data: string) => {
  const store = createTestStore([], { path: storeFile(data, SHIPPED) })
  try {
    return documentsIn(store)
  } finally {
    store.close()
  }
}
