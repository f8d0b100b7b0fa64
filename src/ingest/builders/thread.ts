import { parentPort } from 'node:worker_threads'
import { createDecoding } from '../../decode/decoding.ts'
import { pieceBuffers } from '../../engine/documents/piece.ts'
import { createStoredDictionaries } from '../../engine/lookups/dictionaries.ts'
import { createTokenLookup } from '../../engine/lookups/tokens.ts'
import { openForReading } from '../../engine/open.ts'
import { keccakReady } from '../../lib/keccak.ts'
import { silent } from '../../lib/log.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import { createAbiWatch, versionOf } from '../abis.ts'
import { createDocumentDecoder } from '../decode-documents.ts'
import { openSignatures } from '../open-decoding.ts'
import { createPieceContext } from '../piece-context.ts'
import { joinDictionaries } from '../shared/dictionaries.ts'
import { createTokens } from '../tokens.ts'
import { createBuilder } from './builder.ts'
import type { BuilderData, Built, FromBuilder, ToBuilder } from './messages.ts'

/**
 * A thread that builds pieces of batches. It knows nothing of other blocks than those at hand, and tells no fault: lines that it can make
 * nothing of go back as they came, to be taken in one by one.
 */
export const runBuilder = async ({ network, store, abis, chainId, limits, memory }: BuilderData) => {
  const db = openForReading(store, nativeBinding())
  const stored = createStoredDictionaries(db)
  const { registry, functions, list } = openSignatures()
  const tokens = createTokens({
    listed: address => (chainId === undefined ? undefined : list.find(chainId, `0x${address}`)),
    stored: createTokenLookup(db),
    call: undefined,
    log: silent,
  })
  const decoding = createAbiWatch({ folder: abis, network, log: silent }, own => ({
    ...createDecoding(registry, functions, own),
    version: versionOf(own),
  }))
  let current = decoding()
  const build = createBuilder({
    context: createPieceContext({
      ...joinDictionaries(memory, stored),
      hashKeys: stored.hashKeys,
      decimals: tokens.of,
      bloomsChecked: true,
    }),
    decode: createDocumentDecoder({
      decodeLog: (log, at) => current.log(log, at),
      methodOf: (input, to, at) => current.methodOf(input, to, at),
      decodeCall: (to, input, at) => current.call(to, input, at),
      traces: 'all',
    }),
    pack: chainId === undefined ? { limits } : { chainId, limits },
  })

  const take = (lines: ToBuilder['lines']): Built | undefined => {
    current = decoding()
    try {
      return { pieces: build(lines), abis: current.version }
    } catch {
      return undefined
    }
  }

  // Messages follow so closely that nothing else would get its turn.
  await keccakReady
  parentPort!.on('message', ({ lines }: ToBuilder) => {
    const built = take(lines)
    const buffers = (built?.pieces ?? []).flatMap(({ piece }) => pieceBuffers(piece))
    parentPort!.postMessage(built satisfies FromBuilder, buffers)
  })
}
