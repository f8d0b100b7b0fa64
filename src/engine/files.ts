import { readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makePrivateFolder } from '../lib/files.ts'
import { findEmptied } from '../sqlite/verify-pages.ts'

/** Paths of stores in the data folder: one file per network. */

const FOLDER = 'networks'
const ENDING = '.sqlite'
/** Log and checksums of a store. */
const STORE_SIDE_FILE = /^(.*\.sqlite)-(?:wal|sums)$/

/** Example: `ethereum/ethereum/mainnet` is `networks/ethereum~ethereum~mainnet.sqlite`. */
export const storeFile = (data: string, network: string): string =>
  join(data, FOLDER, `${network.replaceAll('/', '~')}${ENDING}`)

/** Network of a store by its file name; undefined outside of a data folder. */
export const networkOfFile = (store: string): string | undefined => {
  const name = basename(store)
  return name.endsWith(ENDING) && name.includes('~') ? name.slice(0, -ENDING.length).replaceAll('~', '/') : undefined
}

/** Common beginning of the names of a network's monthly spending files. */
export const spentStem = (data: string, network: string): string => join(data, 'spent', network.replaceAll('/', '~'))

export const makeStoreFolder = (data: string) => {
  for (const folder of [data, join(data, FOLDER)]) makePrivateFolder(folder)
}

/** Removes the store of a network. It must not be open. */
export const removeStore = (data: string, network: string) => {
  const store = storeFile(data, network)
  // The file goes last: side files without it mean a lost store.
  for (const ending of ['-sums', '-wal', '-shm', '']) rmSync(`${store}${ending}`, { force: true })
}

/** Networks in the data folder, sorted, including lost stores that left checksums or a log. */
export const storedNetworks = (data: string): string[] => {
  let names: string[]
  try {
    names = readdirSync(join(data, FOLDER))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  const found = new Set(names.filter(name => name.endsWith(ENDING)))
  for (const name of names) {
    const lost = STORE_SIDE_FILE.exec(name)?.[1]
    if (lost !== undefined && !found.has(lost) && findEmptied(join(data, FOLDER, lost))) found.add(lost)
  }
  return [...found].map(name => name.slice(0, -ENDING.length).replaceAll('~', '/')).sort()
}
