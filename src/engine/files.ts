import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder } from '../lib/private.ts'

/** Where the stores of networks are within the data folder: one file each. */

const FOLDER = 'networks'
const ENDING = '.sqlite'

/** `ethereum/ethereum/mainnet` is kept in `networks/ethereum~ethereum~mainnet.sqlite`. */
export const storeFile = (data: string, network: string): string =>
  join(data, FOLDER, `${network.replaceAll('/', '~')}${ENDING}`)

export const makeStoreFolder = (data: string) => {
  for (const folder of [data, join(data, FOLDER)]) makePrivateFolder(folder)
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
