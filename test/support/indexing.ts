import type { TestContext } from 'node:test'
import { makeStoreFolder, storeFile } from '../../src/engine/files.ts'
import { openForWriting } from '../../src/engine/open.ts'
import { abiFolder, addAbis } from '../../src/ingest/abis.ts'
import { contentsOf, documentsOf, using } from './contents.ts'
import { dataFolder } from './delivery.ts'
import { createTestStore, sameHashes } from './store.ts'

export const NETWORK = 'ethereum/test/net'

/** A data folder with an empty store of the network, which can be compared with others of its kind. */
export const folderToIndex = async (
  t: TestContext,
  abi?: { file: string; address: string | null },
): Promise<{ data: string; store: string }> => {
  const data = await dataFolder(t)
  makeStoreFolder(data)
  const store = storeFile(data, NETWORK)
  const db = openForWriting(store)
  sameHashes(db)
  db.close()
  if (abi) addAbis(abiFolder(data), [abi.file], { network: null, address: abi.address })
  return { data, store }
}

/** All that a store holds: its index, and its documents. */
export const contentsIn = (path: string): unknown => {
  const store = createTestStore([], { path })
  let found: unknown
  using([store], () => {
    found = { contents: contentsOf(store), documents: documentsOf(store) }
  })
  return found
}
