import { platform, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { type Question, readBodyOf } from '../../../chain/blocks/read-blocks.ts'
import type { CheckOptions } from '../../../chain/check/check-block.ts'
import { parseBlockLine, parserReady } from '../../../chain/files/block-files.ts'
import type { PackLine, PackOptions } from '../../../chain/files/pack.ts'
import type { RawBlock } from '../../../chain/wire.ts'
import { createDecoding } from '../../../decode/decoding.ts'
import { type ContractCreation, creationsIn } from '../../../documents/contracts.ts'
import type { DecodedDocuments } from '../../../documents/document.ts'
import { hasInteger } from '../../../documents/logs.ts'
import { emittersIn, type TokenStandard } from '../../../documents/tokens.ts'
import { type CodeUpgrade, upgradesIn } from '../../../documents/upgrades.ts'
import { createStoredDictionaries, createTokenLookup } from '../../../engine/dictionary-reader.ts'
import {
  type BlockEncoder,
  createBlockEncoder,
  type EncodedBlocks,
  type EncodingContext,
  pieceBuffers,
} from '../../../engine/documents/block-encoder.ts'
import { addressDigits } from '../../../engine/documents/derived-rows.ts'
import { openForReading } from '../../../engine/open.ts'
import { keccakReady } from '../../../lib/keccak.ts'
import { silent } from '../../../lib/log.ts'
import { nativeBinding } from '../../../lib/runtime.ts'
import type { Limits } from '../../../limits/index.ts'
import { createChainTokens } from '../../contracts/tokens.ts'
import { abiVersion, createAbiWatch } from '../abi-files.ts'
import { openSignatures, openStoredTokens } from '../open-decoding.ts'
import { createDocumentDecoder, createPieceContext } from '../prepare.ts'
import { type DictionariesMemory, joinDictionaries } from '../shared/dictionaries.ts'

/** Builds pieces in a thread; returns unreadable input unchanged, for decoding block by block. */
export const runBuilder = async (data: BuilderData) => {
  const { network, store, abis, chainId, limits, memory, bloom, traces, yields } = data
  // Elsewhere than on Linux, this would apply to the whole process.
  if (yields && platform() === 'linux') setPriority(NICENESS)
  const db = openForReading(store, nativeBinding())
  const stored = createStoredDictionaries(db)
  const { registry, functions, errors, list } = openSignatures()
  const tokens = createChainTokens({
    listed: address => (chainId === undefined ? undefined : list.find(chainId, `0x${address}`)),
    ...openStoredTokens(stored, createTokenLookup(db)),
    call: undefined,
    log: silent,
  })
  const decoding = createAbiWatch({ folder: abis, network, log: silent }, own => ({
    ...createDecoding(registry, functions, errors, own),
    version: abiVersion(own),
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
        return movedBody(answers.giveBack(message.id))
      case 'drop':
        answers.drop(message.id)
        return [undefined]
    }
  }

  // Messages follow so closely that nothing else gets a turn.
  await keccakReady
  const answer = async (message: ToBuilder) => {
    let taken: ReturnType<typeof take>
    try {
      if (message.type === 'lines') await parserReady(message.lines[0]?.form)
      taken = take(message)
    } catch {
      taken = message.type === 'read' ? movedBody(message.body) : [undefined]
    }
    parentPort!.postMessage(...taken)
  }
  let last = Promise.resolve()
  parentPort!.on('message', (message: ToBuilder) => {
    last = last.then(() => answer(message))
  })
}

/** Under load, two threads that have it get as much time as one without. */
const NICENESS = 3

const movedBody = (body: Uint8Array): [Uint8Array, ArrayBuffer[]] => [body, [body.buffer as ArrayBuffer]]

interface BuilderOptions {
  context: EncodingContext
  decode(raw: RawBlock): DecodedDocuments
  pack: Pick<PackOptions, 'chainId' | 'limits'>
}

/** Builds a piece for each run of neighbouring blocks. Throws on a bad line. */
const createBuilder =
  ({ context, decode, pack }: BuilderOptions) =>
  (lines: readonly PackLine[]): BuiltPiece[] => {
    const built: BuiltPiece[] = []
    let piece: BlockEncoder | undefined
    let blocks: BlockFacts[] = []
    const close = () => {
      if (piece) built.push({ piece: piece.finish(), blocks })
      piece = undefined
      blocks = []
    }
    for (const line of lines) {
      const raw = parseBlockLine(line, pack)
      const facts = blockFactsOf(raw, creationsIn(raw))
      const last = blocks.at(-1)
      if (last && (facts.number !== last.number + 1 || facts.parentHash !== last.hash)) close()
      piece ??= createBlockEncoder(context)
      piece.add(decode(raw))
      blocks.push(facts)
    }
    close()
    return built
  }
interface AnswerBuilderOptions {
  context: EncodingContext
  decode(raw: RawBlock): DecodedDocuments
  check: CheckOptions
}

interface HeldAnswer {
  body: Uint8Array
  blocks: DecodedDocuments[]
}

/** Reads and builds node answers in two steps; decimals are requested in between. */
const createAnswerBuilder = ({ context, decode, check }: AnswerBuilderOptions) => {
  const held = new Map<number, HeldAnswer>()
  return {
    read(id: number, body: Uint8Array, question: Question): Omit<ReadBlocks, 'abis'> {
      const raws = readBodyOf(body, question, check)
      const blocks = raws.map(decode)
      held.set(id, { body, blocks })
      return {
        blocks: raws.map(raw => blockFactsOf(raw, creationsIn(raw))),
        decimals: [...new Set(blocks.flatMap(scaledAddresses))],
      }
    },
    build(id: number, decimals: ReadonlyMap<string, number>): EncodedBlocks {
      const { blocks, body } = held.get(id)!
      held.set(id, { body, blocks: [] })
      const piece = createBlockEncoder({ ...context, decimals: address => decimals.get(address) })
      for (const block of blocks) piece.add(block)
      return piece.finish()
    },
    giveBack(id: number): Uint8Array {
      const { body } = held.get(id)!
      held.delete(id)
      return body
    },
    drop: (id: number) => void held.delete(id),
  }
}

const scaledAddresses = ({ raw, logs, calls }: DecodedDocuments): string[] => {
  const found: string[] = []
  let index = 0
  for (const receipt of raw.receipts)
    for (const { address } of receipt.logs) {
      const { args } = logs[index++]!
      if (args && hasInteger(args)) found.push(addressDigits(address))
    }
  for (const { to, args } of calls) if (args && hasInteger(args)) found.push(addressDigits(to))
  return found
}

export interface BuilderData {
  network: string
  store: string
  abis: string
  chainId: number | undefined
  limits: Limits
  memory: DictionariesMemory
  bloom: boolean
  traces: 'calls' | 'all'
  youngMb: number
  /** Whether other threads go first: those that follow the head and search. */
  yields: boolean
}

/** Requests are answered in order. */
export type ToBuilder =
  /** Lines of a pack, in memory that all threads share. Answered by `Built`. */
  | { type: 'lines'; lines: readonly PackLine[] }
  /** An answer of a node. The reply is `Read`, or the bytes. */
  | { type: 'read'; id: number; body: Uint8Array; question: Question }
  /** Builds a read answer with the requested decimals. Answered by a piece. */
  | { type: 'build'; id: number; decimals: ReadonlyMap<string, number> }
  /** Drops a read answer. Answered by the bytes. */
  | { type: 'giveBack'; id: number }
  | { type: 'drop'; id: number }
/** Undefined if it could not be built: the blocks are then taken one by one. */
export type FromBuilder = Built | ReadBlocks | EncodedBlocks | Uint8Array | undefined
export interface ReadBlocks {
  blocks: BlockFacts[]
  /** Contracts whose decimals the build needs, by 40 lower-case digits. */
  decimals: string[]
  abis: string
}

export interface Built {
  pieces: BuiltPiece[]
  abis: string
}

/** Neighbouring blocks, built independently of those before them. */
export interface BuiltPiece {
  piece: EncodedBlocks
  blocks: BlockFacts[]
}

export interface BlockFacts {
  number: number
  hash: string
  parentHash: string
  creations: readonly ContractCreation[]
  /** By their addresses in lower case. */
  emitters: ReadonlyMap<string, TokenStandard>
  upgrades: readonly CodeUpgrade[]
}

export const blockFactsOf = (raw: RawBlock, creations: readonly ContractCreation[]): BlockFacts => ({
  number: Number(raw.block.number),
  hash: raw.block.hash,
  parentHash: raw.block.parentHash,
  creations,
  emitters: emittersIn(raw),
  upgrades: upgradesIn(raw),
})
