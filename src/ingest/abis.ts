import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readAbi } from '../decode/abi-file.ts'
import type { OwnAbi } from '../decode/declarations.ts'
import type { FunctionAbi } from '../decode/signature.ts'
import type { EventAbi } from '../decode/types.ts'
import { messageOf, refuse, stop } from '../lib/errors.ts'

/** The ABIs that the user gave, kept as JSON files in the data folder: one for each that was added, named by what is in it. */
export interface StoredAbi {
  name: string
  /** Lower-case address, or null where it is for whichever contract it fits. */
  address: string | null
  network: string | null
  events: EventAbi[]
  functions: FunctionAbi[]
}

export const abiFolder = (data: string): string => join(data, 'abis')

/** Reads ABI files and keeps them; nothing is kept where one of them is bad. */
export const addAbis = (
  folder: string,
  files: readonly string[],
  where: Pick<StoredAbi, 'address' | 'network'>,
): StoredAbi[] => {
  const abis = files.map((file): StoredAbi => {
    let text: string
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      throw refuse('abi_unreadable', `${file} cannot be read: ${messageOf(error)}`, error)
    }
    const name = basename(file).replace(/\.(json|abi)$/, '')
    return { name, address: where.address?.toLowerCase() ?? null, network: where.network, ...readAbi(text, file) }
  })
  mkdirSync(folder, { recursive: true })
  for (const abi of abis) {
    const text = `${JSON.stringify(abi, undefined, 2)}\n`
    const path = join(folder, `${createHash('sha256').update(text).digest('hex').slice(0, 16)}.json`)
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  return abis
}

export const listAbis = (folder: string): StoredAbi[] => {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return names
    .filter(name => name.endsWith('.json'))
    .sort()
    .map(name => {
      try {
        return JSON.parse(readFileSync(join(folder, name), 'utf8')) as StoredAbi
      } catch (error) {
        throw stop(
          'abi_broken',
          `${join(folder, name)} is broken (${messageOf(error)}): remove it and add that ABI again`,
          error,
        )
      }
    })
}

/** Those that hold on a network. */
export const readOwnAbis = (folder: string, network: string): OwnAbi[] =>
  listAbis(folder).filter(abi => abi.network === null || abi.network === network)
