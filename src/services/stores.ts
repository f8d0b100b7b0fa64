import { createBlocks } from '../engine/blocks.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import { createMoved } from '../engine/moved.ts'
import { openForReading } from '../engine/open.ts'
import { refuse } from '../lib/errors.ts'
import type { Range } from '../lib/ranges.ts'
import { nativeBinding } from '../lib/runtime.ts'

/** The stores of a data folder: file by network. */
export type Stores = (wanted?: string) => ReadonlyMap<string, string>

/** How old the list may be: other processes may add to the folder and take from it. */
const FRESH_MS = 250

/** Keeps the list in memory, and reads the folder again now and then, or where a network that is wanted is not there. */
export const createStores = (data: string, now: () => number = () => performance.now()): Stores => {
  let known: ReadonlyMap<string, string> = new Map()
  let readAt = Number.NEGATIVE_INFINITY
  return wanted => {
    if (now() - readAt >= FRESH_MS || (wanted !== undefined && !known.has(wanted))) {
      known = new Map(storedNetworks(data).map(network => [network, storeFile(data, network)]))
      readAt = now()
    }
    return known
  }
}

/** The store of a network that is stored. */
export const storeOf = (data: string, network: string): string => {
  if (!storedNetworks(data).includes(network))
    throw refuse('index_not_found_exception', `There is no network ${network} in ${data}.`)
  return storeFile(data, network)
}

/** The stores that a command is about: that of one network, or all. */
export const storesOf = (data: string, network: string | undefined): [network: string, store: string][] =>
  (network === undefined ? storedNetworks(data) : [network]).map(name => [name, storeOf(data, name)])

/** Whether the documents of a store are searched in a cluster. */
export const isInCluster = (store: string): boolean => {
  const db = openForReading(store, nativeBinding())
  try {
    return createMoved(db).since() !== undefined
  } finally {
    db.close()
  }
}

/** The blocks that a store holds. */
export const rangesOf = (store: string): Range[] => {
  const db = openForReading(store, nativeBinding())
  try {
    return createBlocks(db).ranges()
  } finally {
    db.close()
  }
}
