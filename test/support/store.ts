import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { generateBlocks } from '../../scripts/bench/generate.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { readCode } from '../../src/decode/abi-finder.ts'
import { createCallDecoder, createCallSignatures, type DecodedCall } from '../../src/decode/calls.ts'
import type { OwnAbi } from '../../src/decode/declarations.ts'
import { createDecoding, type Decoding } from '../../src/decode/decoding.ts'
import { type Functions, openFunctions } from '../../src/decode/functions.ts'
import { createLogDecoder } from '../../src/decode/logs.ts'
import { readAbi } from '../../src/decode/parse-abi.ts'
import { createRegistry, createTokenList, parseRegistry, parseTokens } from '../../src/decode/registry.ts'
import { createErrors, createRevertDecoder, type RevertDecoder } from '../../src/decode/reverts.ts'
import { topicOf } from '../../src/decode/signature.ts'
import type { EventAbi } from '../../src/decode/types.ts'
import { type BlockCall, blockCalls } from '../../src/documents/calls.ts'
import type { BlockContract } from '../../src/documents/contracts.ts'
import type { DecodedBlock, Document } from '../../src/documents/document.ts'
import { blockFailures } from '../../src/documents/failures.ts'
import { asBigint } from '../../src/documents/show.ts'
import { type BlockToken, tokensIn } from '../../src/documents/tokens.ts'
import { createStoredDictionaries, createTokenLookup } from '../../src/engine/dictionary-reader.ts'
import type { SegmentBatch } from '../../src/engine/documents/batch.ts'
import { createBlockEncoder, pieceBuffers } from '../../src/engine/documents/block-encoder.ts'
import { newLogRecord, readLog } from '../../src/engine/documents/records/log.ts'
import { openForWriting } from '../../src/engine/open.ts'
import type { StoredToken } from '../../src/engine/port.ts'
import { createDocuments, type Documents } from '../../src/engine/query/documents.ts'
import { numberedAs, positionOfOrdinal, segmentAt } from '../../src/engine/query/fields/ordinals.ts'
import { evaluatePlan } from '../../src/engine/query/match/evaluate.ts'
import { count, eachOrdinal } from '../../src/engine/query/match/ordinal-set.ts'
import type { Plan } from '../../src/engine/query/plan/plan.ts'
import { planQuery } from '../../src/engine/query/plan/planner.ts'
import { openReader, type StoreReader } from '../../src/engine/reader.ts'
import { positionOf } from '../../src/engine/schema.ts'
import { createWriter, type Writer } from '../../src/engine/writer.ts'
import { createChainContracts } from '../../src/ingest/contracts/contracts.ts'
import { createChainTokens } from '../../src/ingest/contracts/tokens.ts'
import { blockFactsOf } from '../../src/ingest/decoding/builders/thread.ts'
import {
  type BatchRun,
  createDocumentDecoder,
  createPieceContext,
  createPreparer,
  type Preparer,
  type PreparerOptions,
} from '../../src/ingest/decoding/prepare.ts'
import { joinDictionaries, ownDictionaries, type Room } from '../../src/ingest/decoding/shared/dictionaries.ts'
import { silent } from '../../src/lib/log.ts'
import type { Kind } from '../../src/mapping/index.ts'
import type { Node } from '../../src/query/ast.ts'
import { compilePredicate } from '../../src/query/predicate.ts'
import type { WritableDb } from '../../src/sqlite/database.ts'
import { mainnetPack } from './pack.ts'

/** A store in a temporary file, filled by the parts that fill a real one. */
export interface TestStore {
  path: string
  db: WritableDb
  reader: StoreReader
  /** Documents with bigints where an integer is beyond 2^53. */
  documents: Documents
  /** Blocks in any order; neighbours are written together, in runs of the size given at creation. */
  add(blocks: readonly RawBlock[]): void
  rollback(to: number): void
  prepare(blocks: readonly RawBlock[]): SegmentBatch
  /** May be replaced by another one, as after a restart. */
  writer: Writer
  preparer: Preparer
  /** From now on blocks are decoded by these ABIs and the registry. */
  decodeBy(own: readonly OwnAbi[]): Decoding
  /** Decimals of the token at an address of 40 digits. */
  decimals(address: string): number | undefined
  read<T>(run: () => T): T
  plan(kind: Kind, node: Node): Plan
  /** What the plan of a query finds, what its counts add up to, and how many documents had to be asked. */
  evaluate(kind: Kind, node: Node): { positions: number[]; counted: number; asked: number; plan: Plan }
  /** Ids of the documents that a query finds, in chain order. */
  ids(kind: Kind, node: Node): string[]
  /** Every document of a kind, in chain order, and where it stands. */
  all(kind: Kind): Document[]
  positions(kind: Kind): number[]
  /** Closes the connection that writes; what is stored can still be read. */
  endWriting(): void
  close(): void
}

export interface TestStoreOptions {
  /** Neighbouring blocks that are written in one transaction: a number, or one for each run in turn. */
  run?: number | readonly number[]
  /** Declarations that hold beside those of the registry, and go before them. */
  events?: readonly EventAbi[]
  /** See `PreparerOptions`. */
  listedSignatures?: number
  /** ABIs that blocks are decoded by in place of all that. */
  own?: readonly OwnAbi[]
  traces?: 'calls' | 'all'
  /** See `PreparerOptions`. */
  links?: PreparerOptions['links']
  /** So many others build pieces of batches, as threads do. */
  builders?: { count: number; room?: Room }
  /** A file that another store left, to go on with. */
  path?: string
}

/** Functions that transactions may call, by selector. */
export const METHODS: Readonly<Record<string, string>> = {
  '0xa9059cbb': 'transfer',
  '0x095ea7b3': 'approve',
  '0x23b872dd': 'transferFrom',
  '0x38ed1739': 'swapExactTokensForTokens',
  '0x7ff36ab5': 'swapExactETHForTokens',
  '0x3593564c': 'execute',
}

const data = (name: string) => new URL(`../../data/${name}`, import.meta.url)
const text = (name: string) => readFileSync(data(name), 'utf8')

let registry: ReturnType<typeof createRegistry> | undefined
let tokens: ReturnType<typeof createTokenList> | undefined
/** The registry that ships; reading it takes a moment. */
export const shippedRegistry = () => (registry ??= createRegistry(parseRegistry(text('events.txt'))))
const shippedTokens = () =>
  (tokens ??= createTokenList([...parseTokens(text('tokens.txt')), ...parseTokens(text('demo-tokens.txt'))]))

/** Decimals of the token at this address, undefined where it is none that ships. */
export const decimalsOf = (chainId: number, address: string): number | undefined =>
  shippedTokens().find(chainId, address.toLowerCase())?.decimals

/** Declarations that a store takes for a log. */
export const candidatesOf = (topic: string, indexed: number, events: readonly EventAbi[]) => [
  ...events
    .filter(event => topicOf(event) === topic && event.inputs.filter(input => input.indexed).length === indexed)
    .map(event => ({ event, probability: 1 })),
  ...shippedRegistry()
    .find(topic, indexed)
    .map(event => ({ event, probability: 0.9 })),
]

let functions: Functions | undefined
const shippedFunctions = () => (functions ??= openFunctions(readFileSync(data('functions.bin'))))
export const decodeCall = (to: string, input: string): DecodedCall => {
  callDecoder ??= createCallDecoder(shippedFunctions())
  return callDecoder(to, input)
}
let callDecoder: ReturnType<typeof createCallDecoder> | undefined
const callSignature = createCallSignatures()
export const callsOf = (raw: RawBlock): BlockCall[] =>
  blockCalls(raw, raw.traces && failuresOf(raw).traces, decodeCall, callSignature)

let errors: ReturnType<typeof createErrors> | undefined
const shippedErrors = () => (errors ??= createErrors(text('errors.txt')))
let revertDecoder: RevertDecoder | undefined
const decodeRevert: RevertDecoder = (...asked) => {
  revertDecoder ??= createRevertDecoder(shippedErrors(), [])
  return revertDecoder(...asked)
}
export const failuresOf = (raw: RawBlock) => blockFailures(raw, decodeRevert)

/** Some contracts have an ABI; only traces tell their codes. */
const contracts = createChainContracts({
  state: undefined,
  readCode,
  abiOf({ address, code }) {
    if (/[0248a]$/.test(address)) return { name: `Silo of ${address.at(-1)}`, source: 'address', probability: 1 }
    return { name: null, source: code && 'signatures', probability: code && 0.5 }
  },
  log: silent,
})

const answersOf = (address: string): StoredToken => {
  const last = address.at(-1)!
  const asked = { asked: true, name: null, symbol: null, decimals: null, error: null, standard: null }
  if (/[0-3]/.test(last)) return { ...asked, name: `Token no. ${last}`, symbol: `T${last}` }
  if (/[457]/.test(last)) return { ...asked, name: 'Gold Coin', symbol: 'GLD-1', error: 'wrong' }
  return asked
}

/** What blocks show of steps, contracts and tokens, asked of each in the order of the chain. */
export const createShows = () => {
  const seen = new Set<string>()
  return (
    raw: RawBlock,
  ): Pick<DecodedBlock, 'traces' | 'failures'> & { contracts: BlockContract[]; tokens: BlockToken[] } => {
    const created = contracts.in(raw)
    const tokens = [...tokensIn(raw, created)].flatMap(([address, standard], place) => {
      if (seen.has(address)) return []
      seen.add(address)
      const { name = null, symbol, decimals, error = null } = answersOf(address)
      const listed = shippedTokens().find(raw.chainId ?? 1, address)
      const told = { symbol: symbol ?? listed?.symbol ?? null, decimals: listed?.decimals ?? decimals ?? null }
      return [{ address, standard, place, name, ...told, error }]
    })
    const { txs: failures, traces } = failuresOf(raw)
    return { traces, failures, contracts: created, tokens }
  }
}

/** Hashes are the same in all stores then, so that their indexes can be compared. */
export const sameHashes = (db: WritableDb) => db.exec("UPDATE meta SET value = 7 WHERE key LIKE 'hash_key_%'")

export const createTestStore = (blocks: readonly RawBlock[] = [], options: TestStoreOptions = {}): TestStore => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-store-'))
  const { path = join(folder, 'network.sqlite') } = options
  const db = openForWriting(path)
  const endWriting = () => void db.close()
  sameHashes(db)
  const chainId = blocks[0]?.chainId ?? 1
  const { run = 16, events = [], own, listedSignatures, links, traces } = options
  const found = new Map<string, ReturnType<typeof candidatesOf>>()
  const log = createLogDecoder({
    find(topic, indexed) {
      const key = `${topic}/${indexed}`
      if (!found.has(key)) found.set(key, candidatesOf(topic, indexed, events))
      return found.get(key)!
    },
    compile: createEventDecoder,
  })
  let decoding: Decoding = {
    log,
    call: decodeCall,
    revert: decodeRevert,
    methodOf: input => METHODS[input.slice(0, 10).toLowerCase()] ?? null,
  }
  const storedTokens = createTokenLookup(db)
  const tokens = createChainTokens({
    listed: address => shippedTokens().find(chainId, `0x${address}`),
    stored: address => storedTokens(address) ?? answersOf(address),
    call: undefined,
    log: silent,
  })
  const { builders } = options
  const stored = createStoredDictionaries(db)
  const shared = builders && ownDictionaries(stored, builders.room)
  const decodeDocuments = createDocumentDecoder({ decoding: () => decoding, traces: traces ?? 'all' })
  const contexts = Array.from({ length: builders?.count ?? 0 }, () =>
    createPieceContext({
      ...joinDictionaries(shared!.memory, stored),
      hashKeys: stored.hashKeys,
      decimals: tokens.of,
      bloomsChecked: false,
      listedSignatures,
    }),
  )
  /** Builds most blocks in pieces, by one builder after the other, and some without. */
  const addInPieces = (building: BatchRun, blocks: readonly RawBlock[]) => {
    for (const [i, some] of runsOf(blocks, [1, 3, 2]).entries()) {
      if (i % 4 === 3) for (const block of some) building.add(preparer.decode(block))
      else {
        const builder = createBlockEncoder(contexts[i % contexts.length]!)
        for (const block of some) builder.add(decodeDocuments(block))
        const piece = builder.finish()
        const facts = some.map(block => blockFactsOf(block, contracts.creations(block)))
        building.addPiece(structuredClone({ piece, blocks: facts }, { transfer: pieceBuffers(piece) }))
      }
    }
  }
  const preparer = createPreparer({
    db,
    decoding: () => decoding,
    dictionaries: shared,
    tokens,
    contracts,
    ...(listedSignatures !== undefined && { listedSignatures }),
    ...(links && { links }),
    ...(traces !== undefined && { traces }),
  })
  const writer = createWriter(db)
  const reader = openReader(path)
  const documents = createDocuments(reader, asBigint)

  /** Documents that conditions were asked of, in the present state of the store: tests ask the same ones again and again. */
  const asked = { documents: new Map<Kind, Map<number, Document>>(), version: -1 }
  const documentAt = (kind: Kind, position: number): Document => {
    if (asked.version !== reader.version()) asked.documents.clear()
    asked.version = reader.version()
    const known = asked.documents.get(kind) ?? new Map<number, Document>()
    asked.documents.set(kind, known)
    const document = known.get(position) ?? documents.load(kind, [position])[0]!
    known.set(position, document)
    return document
  }

  const read = <T>(work: () => T): T => {
    reader.begin()
    try {
      return work()
    } finally {
      reader.end()
    }
  }
  const store: TestStore = {
    path,
    db,
    reader,
    documents,
    read,
    writer,
    preparer,
    decimals: tokens.of,
    decodeBy(own) {
      decoding = createDecoding(shippedRegistry(), shippedFunctions(), shippedErrors(), own)
      return decoding
    },
    prepare(blocks) {
      const building = preparer.start()
      if (contexts.length > 0) addInPieces(building, blocks)
      else for (const block of blocks) building.add(preparer.decode(block))
      return building.finish()
    },
    add(blocks) {
      for (const neighbours of runsOf(blocks, run)) {
        const batch = store.prepare(neighbours)
        writer.apply(batch)
        while (writer.merge(batch.first));
        preparer.committed(batch.added)
        if (shared?.isFilling()) shared.reset()
      }
    },
    rollback(to) {
      store.writer.rollback(to)
      tokens.forget(positionOf(to + 1, 0))
    },
    plan: (kind, node) => read(() => planQuery(kind, node, reader)),
    evaluate: (kind, node) =>
      read(() => {
        const plan = planQuery(kind, node, reader)
        let asked = 0
        const evaluation = evaluatePlan({
          kind,
          plan,
          reader,
          ask(kind, node, positions) {
            const test = compilePredicate(kind, node)
            asked += positions.length
            return positions.map(position => test(documentAt(kind, position)))
          },
        })
        const positions: number[] = []
        let counted = 0
        const where = evaluation.where?.()
        for (const segment of reader.segments()) {
          counted += evaluation.count(segment)
          const set = evaluation.matches(segment)
          if (where && !where.has(segment.id) && count(set) > 0) throw new Error('matches are where none should be')
          const before = positions.length
          eachOrdinal(set, ordinal =>
            positions.push(positionOfOrdinal(reader.header(segment), numberedAs(kind), ordinal)),
          )
          if (positions.length - before !== count(set)) throw new Error('a set does not hold what it counts')
        }
        return { positions, counted, asked, plan }
      }),
    ids(kind, node) {
      const { positions } = store.evaluate(kind, node)
      return read(() => documents.load(kind, positions).map(document => document!._id))
    },
    all: kind => read(() => documents.load(kind, listedOf(kind, reader)) as Document[]),
    positions: kind => read(() => listedOf(kind, reader)),
    endWriting,
    close() {
      reader.close()
      endWriting()
      rmSync(folder, { recursive: true })
    },
  }
  if (own) store.decodeBy(own)
  store.add(blocks)
  return store
}

/** Without what stays of blocks that were pruned. */
const listedOf = (kind: Kind, reader: StoreReader): number[] =>
  positionsOf(kind, reader).filter(position => segmentAt(position, reader))

const positionsOf = (kind: Kind, reader: StoreReader): number[] => {
  if (kind === 'block')
    return (reader.db.prepare('SELECT number FROM block ORDER BY number').pluck().all() as number[]).map(number =>
      positionOf(number, 0),
    )
  if (kind === 'contract' || kind === 'token')
    return reader.db.prepare(`SELECT pos FROM ${kind} WHERE pos IS NOT NULL ORDER BY pos`).pluck().all() as number[]
  const positions: number[] = []
  const log = newLogRecord()
  reader.records.each(kind === 'event' ? 'log' : kind, 0, Number.MAX_SAFE_INTEGER, (position, { bytes, start }) => {
    if (kind === 'event') readLog(bytes, start, log)
    if (kind !== 'event' || reader.signature(log.signature).event) positions.push(position)
  })
  return positions
}

const runsOf = (blocks: readonly RawBlock[], size: number | readonly number[]): RawBlock[][] => {
  const runs: RawBlock[][] = []
  let current: RawBlock[] = []
  for (const block of blocks) {
    const most = typeof size === 'number' ? size : size[Math.max(0, runs.length - 1) % size.length]!
    const last = current.at(-1)
    if (!last || Number(block.block.number) !== Number(last.block.number) + 1 || current.length >= most) {
      current = []
      runs.push(current)
    }
    current.push(block)
  }
  return runs
}

const readPack = (file: string | URL): RawBlock[] =>
  gunzipSync(readFileSync(file))
    .toString()
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as RawBlock)

/** Real blocks; see `hasMainnet` in pack.ts. */
export const mainnetBlocks = (): RawBlock[] => readPack(mainnetPack)
/** The chain that ships, which anvil recorded. */
export const demoBlocks = (): RawBlock[] => readPack(data('demo.ndjson.gz'))
export const demoEvents = (): EventAbi[] => readAbi(text('demo-abi.json'), 'demo-abi.json').events
export const generatedBlocks = (count: number, seed = 1, from?: number): RawBlock[] => [
  ...generateBlocks({ seed, count, ...(from === undefined ? {} : { from }) }),
]

/** The part of a block that some of its transactions are, as an export of a few of them has it. */
export const excerptOf = (
  { block, receipts, traces, ...rest }: RawBlock,
  keep: (index: number) => boolean,
): RawBlock => ({
  ...rest,
  ...(traces && { traces: traces.filter(trace => trace.type === 'reward' || keep(trace.transactionPosition)) }),
  block: {
    ...block,
    transactionCount: block.transactions.length,
    transactions: block.transactions.filter((_, index) => keep(index)),
  },
  receipts: receipts.filter((_, index) => keep(index)),
})

export const VERSION_WITHOUT_SHELF = 12
/** Takes back what versions from 13 on brought. */
export const WITHOUT_SHELF = `DROP INDEX segment_journal; ALTER TABLE segment DROP COLUMN emptied; ALTER TABLE alert DROP COLUMN windows;
  DROP INDEX outbox_repeat; ALTER TABLE outbox DROP COLUMN repeat;
  ${['shelf', 'batch', 'hidden', 'quiet', 'rule_window', 'rule_rows', 'row_list', 'episode', 'held', 'repeat', 'across', 'across_alert'].map(table => `DROP TABLE ${table}`).join(';')};`

/** What a kill leaves of a file of SQLite before that has its write-ahead log: pages, and what rolls them back. */
export const leaveUnmade = (path: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-unmade-'))
  const half = join(folder, 'half.sqlite')
  const killed = new Database(half)
  killed.pragma('cache_size = 1')
  killed.exec('BEGIN; CREATE TABLE pages (bytes)')
  for (let page = 0; page < 50; page++) killed.exec('INSERT INTO pages VALUES (zeroblob(4000))')
  for (const suffix of ['', '-journal']) copyFileSync(half + suffix, path + suffix)
  killed.close()
  rmSync(folder, { recursive: true })
}
