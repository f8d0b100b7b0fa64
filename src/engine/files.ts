import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder } from '../lib/private.ts'

/** Where the stores of networks are within the data folder: one file each. */

const FOLDER = 'networks'
const ENDING = '.sqlite'

/** `ethereum/ethereum/mainnet` is kept in `networks/ethereum~ethereum~mainnet.sqlite`. */
export const storeFile = (data: string, network: string): string =>
  join(data, FOLDER, `${network.replaceAll('/', '~')}${ENDING}`)

/** What was spent at the nodes of a network: files of months, whose names begin so. */
export const spentStem = (data: string, network: string): string => join(data, 'spent', network.replaceAll('/', '~'))

export const makeStoreFolder = (data: string) => {
  for (const folder of [data, join(data, FOLDER)]) makePrivateFolder(folder)
}

/** Removes the store of a network that nobody has open. */
export const removeStore = (data: string, network: string) => {
  const store = storeFile(data, network)
  // The checksums go last: a store without them could not be told from one that was copied.
  for (const ending of ['', '-wal', '-shm', '-sums']) rmSync(`${store}${ending}`, { force: true })
}

/** The networks that the data folder holds, by name. */
export const storedNetworks = (data: string): string[] => {
  let names: string[]
  try {
    names = readdirSync(join(data, FOLDER))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return names
    .filter(name => name.endsWith(ENDING))
    .map(name => name.slice(0, -ENDING.length).replaceAll('~', '/'))
    .sort()
}
