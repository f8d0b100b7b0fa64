import { createHash } from 'node:crypto'
import { closeSync, existsSync, fdatasyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Config } from '../config/index.ts'
import { createBlocks } from '../engine/blocks.ts'
import { makeStoreFolder, storeFile } from '../engine/files.ts'
import { readStore } from '../engine/open.ts'
import { SCHEMA_VERSION } from '../engine/schema.ts'
import { startIndexing } from '../ingest/network.ts'
import { PRIVATE_FILE } from '../lib/files.ts'
import { assetFile, isBuilt, readAsset, readBuilt } from '../lib/runtime.ts'
import type { Run } from '../lib/shutdown.ts'
import { findEmptied } from '../sqlite/verify-pages.ts'

const DEMO_HEAD = 420
export const DEMO_TOKEN_MS = 30 * 24 * 3600 * 1000

/** Imports the demo chain unless it is complete: the first start may have been interrupted. */
export const importDemo = async (config: Config, run: Run) => {
  const stored = storeFile(config.data, DEMO_CHAIN)
  // Cheap enough for this thread, and the reading threads start only with the first queries.
  if (
    existsSync(stored) &&
    readStore(stored, db => createBlocks(db).ranges()).some(({ from, to }) => from === 0 && to >= DEMO_HEAD)
  )
    return
  const files = [assetFile('demo.ndjson.gz', config.data)]
  const indexing = startIndexing({
    data: config.data,
    network: DEMO_CHAIN,
    job: { type: 'import', files },
    storeBatch: DEMO_BATCH,
    log: run.log,
  })
  run.shutdown.signal.addEventListener('abort', () => void indexing.stop(), { once: true })
  await indexing.ended
}

export const welcome = (url: string, token: string, hasConsole: boolean): string => `
Chainsieve serves the bundled demo chain (${DEMO_CHAIN}) at ${url}
Token: ${token}
${hasConsole ? `Console: ${url}/console/\n` : ''}
Try it. These are the newest transfers of the demo dollar:

curl -s ${url}/${DEMO_CHAIN}/es/event/search/ -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' \\
  -d '{"query":{"bool":{"filter":[{"term":{"event.raw":"Transfer"}},{"term":{"address":"0x252bfe6ba05b239912fe0f8f514b3564f40a7a96"}}]}},"sort":{"blockNumber.num":"desc"},"size":3}'

`

export const DEMO_CHAIN = 'ethereum/demo/local'
export const DEMO_BATCH = 200

const PACK = 'demo.ndjson.gz'
/** Made by `scripts/demo/store.ts` when the program is built. */
export const DEMO_STORE = 'demo-store.zst'

/** Header of the file: identifies the layout and the pack. */
const demoDigest = (pack: Uint8Array): Buffer =>
  createHash('sha256').update(`chainsieve demo store, layout ${SCHEMA_VERSION}\n`).update(pack).digest()
const DIGEST_BYTES = 32

export const packDemo = (store: Uint8Array, pack: Uint8Array): Buffer => {
  const params = { [constants.ZSTD_c_compressionLevel]: 19 }
  return Buffer.concat([demoDigest(pack), zstdCompressSync(store, { params })])
}

/** Undefined if the file was made of another pack, or has another layout. */
export const unpackDemo = (packed: Buffer, pack: Uint8Array): Buffer | undefined =>
  packed.subarray(0, DIGEST_BYTES).equals(demoDigest(pack))
    ? zstdDecompressSync(packed.subarray(DIGEST_BYTES))
    : undefined

/**
 * Unpacks the prebuilt store of the demo chain, a hundred times faster than an import. False if
 * there is still no store, so the chain must be imported. All copies share their hash keys,
 * which is safe because nobody can add colliding values to a fixed chain.
 */
export const placeDemo = (
  data: string,
  read: (name: string) => Buffer | undefined = name => (isBuilt ? readBuilt(name) : undefined),
): boolean => {
  const path = storeFile(data, DEMO_CHAIN)
  // Does not hide the remains of a lost store.
  if (existsSync(path) || findEmptied(path)) return true
  const packed = read(DEMO_STORE)
  const store = packed && unpackDemo(packed, readAsset(PACK))
  if (!store) return false
  makeStoreFolder(data)
  const aside = `${path}.${process.pid}`
  const file = openSync(aside, 'w', PRIVATE_FILE)
  try {
    for (let at = 0; at < store.length; ) at += writeSync(file, store, at)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
  // Whole, or not at all.
  renameSync(aside, path)
  return true
}
