import { constants, copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { storedNetworks, storeFile } from '../../src/engine/files.ts'
import { refuse } from '../../src/lib/errors.ts'
import { type Filling, fill, generatePack, type Held, heldIn, type Sizes, sizesOf } from './fill.ts'
import type { Options } from './options.ts'
import type { Served } from './serving.ts'

export interface Filled {
  served: Served
  store: string
  /** The blocks that are in it; undefined where the store was there already. */
  pack: string | undefined
  filling: Filling | undefined
  held: Held
  sizes: Sizes
}

export type Note = (what: string) => void

/** Fills a store where there is none yet; packs that are made go into the folder `temporary`. */
export const fillStore = async (options: Options, temporary: string, note: Note): Promise<Filled> => {
  const { events, seed, keep, data, program } = options
  const folder = resolve(data ?? keep ?? join(temporary, 'data'))
  const [network = NETWORK] = storedNetworks(folder)
  const store = storeFile(folder, network)
  if (data !== undefined && !existsSync(store))
    throw refuse('no_store', `${data} holds no store: leave --data out to fill one, and keep it by --keep`)
  if (keep !== undefined && existsSync(store))
    throw refuse('store_exists', `${keep} holds a store already: measure it by --data, or name another folder`)
  const served = { program, data: folder, network }
  let pack: string | undefined
  let filling: Filling | undefined
  if (data === undefined) {
    pack = options.pack ?? join(temporary, 'pack.ndjson')
    if (options.pack === undefined) {
      note(`Making blocks with ${events} logs`)
      await generatePack(pack, { events, seed })
    }
    note(`Importing ${pack}`)
    filling = await fill({ ...served, pack, store })
  }
  note('Measuring the size')
  return { served, store, pack, filling, held: heldIn(store), sizes: sizesOf(store) }
}

export const copyStore = (store: string, data: string, network: string): { data: string } => {
  const copy = storeFile(data, network)
  mkdirSync(dirname(copy), { recursive: true })
  // Free where the file system can share blocks between files.
  for (const ending of ['', '-wal'])
    if (existsSync(`${store}${ending}`))
      copyFileSync(`${store}${ending}`, `${copy}${ending}`, constants.COPYFILE_FICLONE)
  return { data }
}

const NETWORK = 'ethereum/ethereum/mainnet'
