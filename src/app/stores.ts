import { promises } from 'node:fs'
import { join } from 'node:path'
import { createBlocks } from '../engine/blocks.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import { readStore } from '../engine/open.ts'
import type { NamedContract } from '../engine/query/suggest.ts'
import { createDocumentLocation } from '../engine/shipping/document-location.ts'
import { abiFolder, findAbi, jsonFileNames, type StoredAbi } from '../ingest/decoding/abi-files.ts'
import { refuse } from '../lib/errors.ts'
import type { Range } from '../lib/ranges.ts'
import type { OwnAbis } from '../rules/argument-types.ts'

/** The stores of a data folder: file by network. */
type Stores = (wanted?: string) => ReadonlyMap<string, string>

const STORE_LIST_MAX_AGE_MS = 250

/** Caches the list; reads the folder again when it is old or a wanted network is missing. */
export const createStores = (data: string, now: () => number = () => performance.now()): Stores => {
  let known: ReadonlyMap<string, string> = new Map()
  let readAt = Number.NEGATIVE_INFINITY
  return wanted => {
    if (now() - readAt >= STORE_LIST_MAX_AGE_MS || (wanted !== undefined && !known.has(wanted))) {
      known = new Map(storedNetworks(data).map(network => [network, storeFile(data, network)]))
      readAt = now()
    }
    return known
  }
}

/** The store of a network; throws if there is none. */
export const storeOf = (data: string, network: string): string => {
  if (!storedNetworks(data).includes(network))
    throw refuse('index_not_found_exception', `There is no network ${network} in ${data}.`)
  return storeFile(data, network)
}

/** Stores that a command applies to: of one network, or all. */
export const storesOf = (data: string, network: string | undefined): [network: string, store: string][] =>
  (network === undefined ? storedNetworks(data) : [network]).map(name => [name, storeOf(data, name)])

/** Whether the documents of a store are searched in a cluster. */
export const isInCluster = (store: string): boolean =>
  readStore(store, db => createDocumentLocation(db).since() !== undefined)

/** The blocks that a store holds. */
export const rangesOf = (store: string): Range[] => readStore(store, db => createBlocks(db).ranges())

/** Larger files are general lists of signatures, not the ABI of a contract. */
const MAX_CONTRACT_ABI = 8 * 2 ** 20

/** Contracts of a network with user ABIs, by name. Each file is read once, when it appears. */
export const createContracts = (data: string): ((network: string) => Promise<NamedContract[]>) => {
  const folder = abiFolder(data)
  /** By file name, which changes with content; null if it has no contract or is unreadable. */
  const known = new Map<string, Pick<StoredAbi, 'name' | 'address' | 'network'> | null>()

  const read = async (file: string) => {
    try {
      const path = join(folder, file)
      if ((await promises.stat(path)).size > MAX_CONTRACT_ABI) return null
      const { name, address, network } = JSON.parse(await promises.readFile(path, 'utf8')) as StoredAbi
      return { name, address, network }
    } catch {
      // Indexing reports its faults.
      return null
    }
  }

  return async network => {
    const files = (await promises.readdir(folder).catch(() => [])).filter(file => file.endsWith('.json')).sort()
    for (const file of files) if (!known.has(file)) known.set(file, await read(file))
    return files.flatMap(file => {
      const abi = known.get(file)
      if (typeof abi?.address !== 'string' || (abi.network !== null && abi.network !== network)) return []
      return [{ name: abi.name, address: abi.address }]
    })
  }
}

/** User ABIs of all networks. Each file is read once: its name changes with its content. */
export const createOwnAbis = (data: string): OwnAbis => {
  const folder = abiFolder(data)
  let known = new Map<string, StoredAbi | undefined>()
  const read = (file: string): StoredAbi | undefined => {
    try {
      return findAbi(folder, file)
    } catch {
      // Indexing reports its faults.
      return undefined
    }
  }
  return () => {
    known = new Map(jsonFileNames(folder).map(file => [file, known.get(file) ?? read(file)]))
    return [...known.values()].filter(abi => abi !== undefined)
  }
}
