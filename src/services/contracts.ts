import { promises } from 'node:fs'
import { join } from 'node:path'
import type { NamedContract } from '../engine/query/suggest.ts'
import { abiFolder, type StoredAbi } from '../ingest/abis.ts'

/** A contract's own ABI is far smaller; lists of signatures are not of a contract. */
const LARGEST = 8 * 2 ** 20

/** The contracts of a network that ABIs were given for, under their names. Files are read once each, as they come. */
export const createContracts = (data: string): ((network: string) => Promise<NamedContract[]>) => {
  const folder = abiFolder(data)
  /** By file, whose name changes with its content; null where it is of no contract, or cannot be read. */
  const known = new Map<string, Pick<StoredAbi, 'name' | 'address' | 'network'> | null>()

  const read = async (file: string) => {
    try {
      const path = join(folder, file)
      if ((await promises.stat(path)).size > LARGEST) return null
      const { name, address, network } = JSON.parse(await promises.readFile(path, 'utf8')) as StoredAbi
      return { name, address, network }
    } catch {
      // Indexing says what is wrong with it.
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
