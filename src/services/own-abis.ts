import { abiFolder, fileNames, findAbi, type StoredAbi } from '../ingest/abis.ts'
import type { OwnAbis } from '../rules/declared.ts'

/** The ABIs that the user gave, of all networks. Each file is read once: its name changes with its content. */
export const createOwnAbis = (data: string): OwnAbis => {
  const folder = abiFolder(data)
  let known = new Map<string, StoredAbi | undefined>()
  const read = (file: string): StoredAbi | undefined => {
    try {
      return findAbi(folder, file)
    } catch {
      // Indexing says what is wrong with it.
      return undefined
    }
  }
  return () => {
    known = new Map(fileNames(folder).map(file => [file, known.get(file) ?? read(file)]))
    return [...known.values()].filter(abi => abi !== undefined)
  }
}
