import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeStoreFolder, storeFile } from '../../src/engine/files.ts'
import { openForReading, openForWriting } from '../../src/engine/open.ts'
import { abiFolder, storeAbiFiles } from '../../src/ingest/decoding/abi-files.ts'
import type { IndexJob, NodeOptions, Report } from '../../src/ingest/messages.ts'
import { type Indexing, type IndexingOptions, startIndexing } from '../../src/ingest/network.ts'
import { createLog, silent } from '../../src/lib/log.ts'
import type { Db } from '../../src/sqlite/database.ts'
import { contentsOf, documentsOf, using } from './contents.ts'
import { dataFolder } from './delivery.ts'
import type { FakeNode } from './node.ts'
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
  if (abi) storeAbiFiles(abiFolder(data), [abi.file], { network: null, address: abi.address })
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

type Rest<Type extends IndexJob['type']> = Partial<Omit<Extract<IndexJob, { type: Type }>, 'type' | 'node'>> & {
  node?: Partial<NodeOptions>
}

export const indexJob = ({ url }: Pick<FakeNode, 'url'>, { node, ...rest }: Rest<'index'> = {}): IndexJob => ({
  ...{ type: 'index', node: { urls: [url], pollMs: 20, timeoutMs: 5000, ...node } },
  ...{ from: undefined, to: undefined, order: 'newest', finality: 64, ...rest },
})

export const followJob = (
  { url }: Pick<FakeNode, 'url'>,
  { node, ...rest }: Rest<'follow'> = {},
): Extract<IndexJob, { type: 'follow' }> => ({
  ...{ type: 'follow', node: { urls: [url], pollMs: 20, timeoutMs: 5000, ...node } },
  ...{ from: undefined, order: 'newest', finality: 8, followed: [NETWORK], ...rest },
})

/** Indexes the network of a data folder, at most until the test ends. */
export const indexIn = (
  t: TestContext,
  data: string,
  job: IndexJob,
  options: Partial<Omit<IndexingOptions, 'data' | 'job'>> = {},
): Indexing => {
  const indexing = startIndexing({ data, network: NETWORK, job, storeBatch: 10, log: silent, ...options })
  t.after(() => indexing.stop())
  return indexing
}

export const logLines = (json = false) => {
  const lines: string[] = []
  return { lines, log: createLog({ write: line => void lines.push(line), json }) }
}

export const until = async (isSo: () => boolean, what: () => unknown = () => 'what is waited for') => {
  const end = performance.now() + 120_000
  for (; !isSo(); await sleep(10)) assert.ok(performance.now() < end, JSON.stringify(what()))
}

export const reported = (indexing: Indexing, holds: (report: Report) => boolean) =>
  until(
    () => {
      if (holds(indexing.report())) return true
      if (indexing.error()) throw indexing.error()
      return false
    },
    () => indexing.report(),
  )

export const readStore = <T>(store: string, read: (db: Db) => T): T => {
  const db = openForReading(store)
  try {
    return read(db)
  } finally {
    db.close()
  }
}

/** A node with contracts, of which none is a token. */
export const serveContracts = ({ methods }: Pick<FakeNode, 'methods'>) => {
  methods.set('eth_call', () => '0x')
  methods.set('eth_getCode', () => '0x6001600255')
}

/** The same, but some are tokens: those whose addresses end with their decimals. */
export const serveTokens = (node: Pick<FakeNode, 'methods'>) => {
  serveContracts(node)
  node.methods.set('eth_call', params => {
    const { to } = (params as [{ to: string }])[0]
    return /[0-9]$/.test(to) ? `0x${to.at(-1)!.padStart(64, '0')}` : '0x'
  })
}
