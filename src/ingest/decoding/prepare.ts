import type { RawBlock } from '../../chain/wire.ts'
import type { Code } from '../../decode/contract-code.ts'
import type { DecodedBlock } from '../../documents/decoded-block.ts'
import { type BlockToken, type TokenStandard, tokensIn, tokensOf } from '../../documents/tokens.ts'
import type { Additions } from '../../engine/documents/additions.ts'
import { type BatchBuilder, type BatchContext, createBatch } from '../../engine/documents/batch.ts'
import type { Findings } from '../../engine/documents/findings.ts'
import { createDictionary } from '../../engine/index/dictionary.ts'
import { createRevision } from '../../engine/index/revision.ts'
import { createStoredDictionaries, type StoredDictionaries } from '../../engine/lookups/dictionaries.ts'
import { positionOf } from '../../engine/schema.ts'
import type { Db } from '../../sqlite/database.ts'
import type { Contracts } from '../contracts/contracts.ts'
import type { ProxyResolver } from '../contracts/proxy-resolver.ts'
import type { Tokens } from '../contracts/tokens.ts'
import type { BuiltPiece } from './builders/messages.ts'
import { createDocumentDecoder, createPieceContext, type DocumentDecoderOptions } from './decode-documents.ts'
import { createDictionaries, type Dictionaries } from './dictionaries.ts'

export type Preparer = ReturnType<typeof createPreparer>

export interface Run extends Pick<BatchBuilder, 'blocks' | 'documents' | 'finish'> {
  add(block: DecodedBlock): void
  /** Blocks that were built elsewhere. */
  addPiece(built: BuiltPiece): void
}

export interface PreparerOptions extends Omit<DocumentDecoderOptions, 'traces'> {
  /** The network's store, for what its dictionaries hold already. */
  db: Db
  tokens: Pick<Tokens, 'of' | 'facts' | 'seen' | 'sighted' | 'takeLearnt'>
  contracts: Pick<Contracts, 'in' | 'of' | 'carry'>
  /** Default: what is learnt of proxies is not kept. */
  links?: Pick<ProxyResolver, 'takeLearnt'>
  /** Which steps are kept of blocks that come with some; default all. */
  traces?: 'calls' | 'all'
  /** EIP-155 chain id, where it is known. */
  chainId?: number | undefined
  /** Whether the receipts' logs blooms were found to be those of their logs (`checkBlock`); else that is found out here. */
  bloomsChecked?: boolean
  /** Signatures of which unknown ones are kept apart; default three quarters of all there is room for. */
  listedSignatures?: number
  /** Default: those of a thread that builds all batches by itself. */
  dictionaries?: Dictionaries | undefined
}

/** Turns checked blocks into batches that the writer takes as they are: decodes, numbers and sorts. */
export const createPreparer = (options: PreparerOptions) => {
  const { db, decoding, tokens, contracts, links, traces = 'all', chainId, bloomsChecked = false } = options
  const { listedSignatures, dictionaries } = options
  const stored = createStoredDictionaries(db)
  const { addresses, names, signatures } = dictionaries ?? createDictionaries(stored)
  const decodeDocuments = createDocumentDecoder({ decoding, traces })
  const codes = createCodes(stored)
  const context: BatchContext = {
    ...createPieceContext({
      addresses,
      names,
      signatures,
      listedSignatures,
      hashKeys: stored.hashKeys,
      decimals: tokens.of,
      bloomsChecked,
    }),
    addresses,
    names,
    takeSignatures: signatures.takeAdded,
    chainId,
    code: codes.id,
    takeCodes: codes.takeAdded,
    takeTokens: tokens.takeLearnt,
    takeLinks: () => links?.takeLearnt() ?? [],
  }
  /** Tokens of a block that no lower one is known to have shown. */
  const newTokens = (number: number, shown: ReadonlyMap<string, TokenStandard>): BlockToken[] =>
    [...shown].flatMap(([address, sighted], place) => {
      const seen = tokens.seen(address.slice(2))
      if (seen !== undefined && seen <= positionOf(number, place)) return []
      const { standard, ...facts } = tokens.facts(address.slice(2))
      return [{ address, place, standard: standard === 'ERC-4626' ? standard : sighted, ...facts }]
    })

  return {
    decode(raw: RawBlock) {
      const created = contracts.in(raw)
      return {
        ...decodeDocuments(raw),
        contracts: created,
        tokens: newTokens(Number(raw.block.number), tokensIn(raw, created)),
      }
    },
    /** What was asked for a block holds for another form of it as well. */
    carry: contracts.carry,
    /** Starts a run of neighbouring blocks. Several may be under way at once. */
    start(): Run {
      const batch = createBatch(context)
      const noteTokens = (number: number, shown: readonly BlockToken[]) => {
        for (const { address, place } of shown) tokens.sighted(address.slice(2), positionOf(number, place))
      }
      return {
        add(block) {
          noteTokens(Number(block.raw.block.number), block.tokens)
          batch.add(block)
        },
        addPiece({ piece, blocks }) {
          const findings = blocks.map(({ number, creations, emitters, upgrades }): Findings => {
            const created = contracts.of(creations, number)
            const shown = newTokens(number, tokensOf(emitters, created))
            noteTokens(number, shown)
            return { number, contracts: created, tokens: shown, upgrades }
          })
          batch.addPiece(piece, findings)
        },
        get blocks() {
          return batch.blocks
        },
        get documents() {
          return batch.documents
        },
        finish: batch.finish,
      }
    },
    /** Starts a revision of what a segment holds; `digitsOf` tells the address of a dictionary id. */
    revise: (segment: number, digitsOf: (address: number) => string) => createRevision(context, segment, digitsOf),
    /** The writer has committed what this batch added to the dictionaries. */
    committed({ addresses, names, codes: added }: Pick<Additions, 'addresses' | 'names' | 'codes'>) {
      codes.written(added)
      context.addresses.written(addresses.first + addresses.texts.length - 1)
      context.names.written(names.first + names.texts.length - 1)
    },
  }
}

/** Ids of codes, by their hashes. */
const createCodes = (stored: StoredDictionaries) => {
  const ids = createDictionary({
    last: stored.last('code'),
    find: stored.code,
    capacity: 20_000,
  })
  const named = new Map<string, Code>()
  return {
    id(code: Code): number {
      named.set(code.hash, code)
      return ids.id(code.hash)
    },
    takeAdded() {
      const { first, texts } = ids.takeAdded()
      const taken = texts.map((hash, i) => ({ id: first + i, code: named.get(hash)! }))
      named.clear()
      return taken
    },
    written(added: Additions['codes']) {
      const newest = added.at(-1)
      if (newest) ids.written(newest.id)
    },
  }
}
