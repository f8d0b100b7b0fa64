import type { KeptMemory } from '../engine/kept.ts'
import { createSearcher, type Searcher } from '../engine/query/searcher.ts'
import { openReader, type Reader } from '../engine/reader.ts'
import { messageOf, stop, systemFault } from '../lib/errors.ts'
import { nativeBinding } from '../lib/runtime.ts'
import type { Limits } from '../limits/index.ts'
import { readDamage } from '../sqlite/damage.ts'

export interface OpenStore {
  reader: Reader
  searcher: Searcher
}

/** Opens the file of a network's store for searching. `kept`: that of the thread. `waitMs`: see `openReader`. */
export const openStore = (store: string, limits: Limits, kept: KeptMemory, waitMs?: number): OpenStore => {
  const reader = readable(store, kept, waitMs)
  return { reader, searcher: createSearcher(reader, limits) }
}

const readable = (store: string, kept: KeptMemory, waitMs: number | undefined): Reader => {
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
    throw systemFault(readDamage(error, store), store) ?? error
  }
}
