import { parentPort } from 'node:worker_threads'
import { parserReady } from '../../../chain/files/block-files.ts'
import { createDecoding } from '../../../decode/decoding.ts'
import { pieceBuffers } from '../../../engine/documents/piece.ts'
import { createStoredDictionaries } from '../../../engine/lookups/dictionaries.ts'
import { createTokenLookup } from '../../../engine/lookups/index.ts'
import { openForReading } from '../../../engine/open.ts'
import { keccakReady } from '../../../lib/keccak.ts'
import { silent } from '../../../lib/log.ts'
import { nativeBinding } from '../../../lib/runtime.ts'
import { createTokens } from '../../contracts/tokens.ts'
import { createAbiWatch, versionOf } from '../abis.ts'
import { createDocumentDecoder, createPieceContext } from '../decode-documents.ts'
import { openSignatures } from '../open-decoding.ts'
import { joinDictionaries } from '../shared/dictionaries.ts'
import { createAnswerBuilder, createBuilder } from './builder.ts'
import type { BuilderData, FromBuilder, ToBuilder } from './messages.ts'

/**
 * A thread that builds pieces of batches. It knows nothing of other blocks than those at hand, and tells no fault: lines and answers that
 * it can make nothing of go back as they came, to be taken in one by one.
 */
export const runBuilder = async (data: BuilderData) => {
  const { network, store, abis, chainId, limits, memory, bloom, traces } = data
  const db = openForReading(store, nativeBinding())
  const stored = createStoredDictionaries(db)
  const { registry, functions, errors, list } = openSignatures()
  const tokens = createTokens({
    listed: address => (chainId === undefined ? undefined : list.find(chainId, `0x${address}`)),
    stored: createTokenLookup(db),
    call: undefined,
    log: silent,
  })
  const decoding = createAbiWatch({ folder: abis, network, log: silent }, own => ({
    ...createDecoding(registry, functions, errors, own),
    version: versionOf(own),
  }))
  let current = decoding()
  const context = createPieceContext({
    ...joinDictionaries(memory, stored),
    hashKeys: stored.hashKeys,
    decimals: tokens.of,
    bloomsChecked: bloom,
  })
  const decode = createDocumentDecoder({
    decoding: () => current,
    traces,
  })
  const build = createBuilder({ context, decode, pack: chainId === undefined ? { limits } : { chainId, limits } })
  const answers = createAnswerBuilder({ context, decode, check: { bloom, limits } })

  /** With the buffers that move to the other thread. */
  const take = (message: ToBuilder): [answer: FromBuilder, buffers?: ArrayBuffer[]] => {
    switch (message.type) {
      case 'lines': {
        current = decoding()
        const pieces = build(message.lines)
        return [{ pieces, abis: current.version }, pieces.flatMap(({ piece }) => pieceBuffers(piece))]
      }
      case 'read':
        current = decoding()
        return [{ ...answers.read(message.id, message.body, message.question), abis: current.version }]
      case 'build': {
        const piece = answers.build(message.id, message.decimals)
        return [piece, pieceBuffers(piece)]
      }
      case 'giveBack':
        return moved(answers.giveBack(message.id))
      case 'drop':
        answers.drop(message.id)
        return [undefined]
    }
  }

  // Messages follow so closely that nothing else would get its turn.
  await keccakReady
  const answer = async (message: ToBuilder) => {
    let taken: ReturnType<typeof take>
    try {
      if (message.type === 'lines') await parserReady(message.lines[0]?.form)
      taken = take(message)
    } catch {
      taken = message.type === 'read' ? moved(message.body) : [undefined]
    }
    parentPort!.postMessage(...taken)
  }
  let last = Promise.resolve()
  parentPort!.on('message', (message: ToBuilder) => {
    last = last.then(() => answer(message))
  })
}

const moved = (body: Uint8Array): [Uint8Array, ArrayBuffer[]] => [body, [body.buffer as ArrayBuffer]]
