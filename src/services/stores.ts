import { storedNetworks, storeFile } from '../engine/files.ts'

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
