import { statfsSync, statSync } from 'node:fs'
import { createSearcher, type Searcher } from '../engine/query/searcher.ts'
import { type KeptMemory, openReader, type StoreReader } from '../engine/reader.ts'
import { createByteWriter } from '../lib/bytes.ts'
import { messageOf, stop, systemFault } from '../lib/errors.ts'
import { nativeBinding } from '../lib/runtime.ts'
import type { Limits } from '../limits/index.ts'
import { byKind, KINDS, type Kind } from '../mapping/index.ts'
import { ALL_NODE } from '../query/ast.ts'
import { asDamage } from '../sqlite/damage.ts'
import type { Holdings } from './service.ts'

export interface OpenStore {
  reader: StoreReader
  searcher: Searcher
}

/** Opens a network's store for searching. `kept`: the thread's. `waitMs`: see `openReader`. */
export const openStore = (store: string, limits: Limits, kept: KeptMemory, waitMs?: number): OpenStore => {
  const reader = readable(store, kept, waitMs)
  return { reader, searcher: createSearcher(reader, limits) }
}

const readable = (store: string, kept: KeptMemory, waitMs: number | undefined): StoreReader => {
  try {
    return openReader(store, nativeBinding(), waitMs, kept.store(store))
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (/^SQLITE_(READONLY|CANTOPEN)/.test(code))
      throw stop(
        'store_unreadable',
        `the store ${store} cannot be opened (${messageOf(error)}): readers also need permission to write to its folder, where SQLite keeps the index of its log`,
        error,
      )
    throw systemFault(asDamage(error, store), store) ?? error
  }
}

/** Documents of each kind in a store, by stored counts, and the bytes of its file. */
export const holdingsOf = ({ searcher }: OpenStore, store: string): Holdings => ({
  counts: byKind(KINDS, kind => countDocuments(searcher, kind)),
  bytes: statSync(store).size,
  disk: diskOf(store),
})

const diskOf = (store: string): NonNullable<Holdings['disk']> => {
  const { bavail, blocks, bsize } = statfsSync(store)
  return { free: bavail * bsize, size: blocks * bsize }
}

const countDocuments = (searcher: OpenStore['searcher'], kind: Kind): number => {
  const request = { parts: [{ kind, query: ALL_NODE }], sort: [], from: 0, size: 0, source: false, trackTotal: true }
  return searcher.write(request, { deadline: Number.POSITIVE_INFINITY }, { index: '', out: createByteWriter(64) }).total
}
