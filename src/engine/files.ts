import { readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makePrivateFolder } from '../lib/private-files.ts'
import { findEmptied } from '../sqlite/pages.ts'

/** Where the stores of networks are within the data folder: one file each. */

const FOLDER = 'networks'
const ENDING = '.sqlite'
/** What goes with a store's file. */
const STORE_SIDE_FILE = /^(.*\.sqlite)-(?:wal|sums)$/

/** `ethereum/ethereum/mainnet` is kept in `networks/ethereum~ethereum~mainnet.sqlite`. */
export const storeFile = (data: string, network: string): string =>
  join(data, FOLDER, `${network.replaceAll('/', '~')}${ENDING}`)

/** The network that a store belongs to by its name; undefined of one outside of a data folder. */
export const networkOfFile = (store: string): string | undefined => {
  const name = basename(store)
  return name.endsWith(ENDING) && name.includes('~') ? name.slice(0, -ENDING.length).replaceAll('~', '/') : undefined
}

/** What was spent at the nodes of a network: files of months, whose names begin so. */
export const spentStem = (data: string, network: string): string => join(data, 'spent', network.replaceAll('/', '~'))

export const makeStoreFolder = (data: string) => {
  for (const folder of [data, join(data, FOLDER)]) makePrivateFolder(folder)
}

/** Removes the store of a network that nobody has open. */
export const removeStore = (data: string, network: string) => {
  const store = storeFile(data, network)
  // The file goes last: the others without it are what is left of a store that was lost.
  for (const ending of ['-sums', '-wal', '-shm', '']) rmSync(`${store}${ending}`, { force: true })
}

/** The networks that the data folder holds, by name, and those of which only the checksums or the log are left. */
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
