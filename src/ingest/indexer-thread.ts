import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type MessagePort, parentPort } from 'node:worker_threads'
import { linkPackBlock, type PackLine, parsePackLine, readPackLines } from '../chain/pack.ts'
import { createPackSource } from '../chain/pack-source.ts'
import { createRpcSource } from '../chain/rpc-source.ts'
import type { BlockRef, ChainSource } from '../chain/source.ts'
import type { RawBlock } from '../chain/wire.ts'
import type { BlockPoint } from '../config/kinds.ts'
import { createAbiFinder } from '../decode/contract-abi.ts'
import { createCodeReader } from '../decode/contract-code.ts'
import { boundKeys, createFunctionDeclarations, holderOf, type LinksOf } from '../decode/declarations.ts'
import { openFunctions } from '../decode/functions.ts'
import { createRegistry, createTokenList, parseRegistry, parseTokens } from '../decode/registry.ts'
import { tokensIn } from '../documents/tokens.ts'
import { ChainsieveError, refuse, stop } from '../lib/errors.ts'
import { toFailure } from '../lib/failure.ts'
import type { Log } from '../lib/log.ts'
import { systemClock } from '../lib/retry.ts'
import { nativeBinding, readAsset, readTextAsset } from '../lib/runtime.ts'
import { createThreadLog } from '../lib/thread-log.ts'
import type { Limits } from '../limits/index.ts'
import { openRules } from '../rules/store.ts'
import { type Db, openForReading } from '../store/database.ts'
import { positionOf } from '../store/schema.ts'
import { createAbiWatch } from './abis.ts'
import { type Contracts, createContracts } from './contracts.ts'
import { createDecoding, type Decoding } from './decoding.ts'
import { createHistory } from './history.ts'
import { createLikeness, createStoredFeatures } from './likeness.ts'
import { createLinks, createStoredLinks, type Links } from './links.ts'
import type { FromIndexer, IndexerData, Job, Order, RedecodingReport, Report, ToIndexer, ToWriter } from './messages.ts'
import { createPipeline, type LaneOf, type Pipeline } from './pipeline.ts'
import { createPreparer, type Preparer } from './prepare.ts'
import { heldRanges, holesIn } from './ranges.ts'
import { redecode } from './redecode.ts'
import { redecodeFolder } from './redecodings.ts'
import { createRuling, type Ruling } from './ruling.ts'
import { createStoredTokens, createTokens, type Tokens } from './tokens.ts'
import { createSince, silence } from './waiting.ts'

/** The thread of a network that reads its source, decodes, and hands batches to the thread that writes. */
export const runIndexer = async (data: IndexerData & { port: MessagePort }) => {
  const stopping = new AbortController()
  const failing = new AbortController()
  const signal = AbortSignal.any([stopping.signal, failing.signal])
  const tell = (message: FromIndexer) => parentPort!.postMessage(message)
  const log = createThreadLog(tell)
  parentPort!.on('message', (_: ToIndexer) => {
    stopping.abort()
    data.port.postMessage({ type: 'stop' } satisfies ToWriter)
  })

  const db = openForReading(data.store, nativeBinding())
  const source = 'node' in data.job ? createRpcSource({ ...data.job.node, limits: data.limits, log }) : undefined
  const state: State = { done: 0, total: 0, head: null, headAt: Number.NEGATIVE_INFINITY, redecoding: null }
  let pipeline: Pipeline | undefined
  let ruling: Ruling | undefined
  const startedAt = Date.now()
  const since = createSince()
  const waiting = () =>
    since(pipeline?.stuck ?? ruling?.waiting) ??
    silence(source?.endpoints() ?? [], { answered: state.head !== null, startedAt, now: Date.now() })
  const report = (): Report => ({
    ...(pipeline?.counts ?? { blocks: 0, logs: 0, events: 0 }),
    done: state.done,
    total: state.total,
    head: state.head,
    added: pipeline?.added() ?? [],
    waiting: waiting() ?? null,
    endpoints: source?.endpoints() ?? [],
    withoutTraces: withoutTraces(source),
    alerts: pipeline?.alerts() ?? {},
    redecoding: state.redecoding,
    troubles: ruling?.troubles ?? new Map(),
    accountTroubles: ruling?.accountTroubles ?? new Map(),
  })
  const reporting = setInterval(() => tell({ type: 'report', report: report() }), REPORT_MS)

  let failure: unknown
  try {
    const chainId = await chainIdOf(data, source, db, signal)
    const { tokens, contracts, links, preparer, decoding } = openDecoding(data, db, chainId, source, log)
    const { port, storeBatch } = data
    const rules = openRules(data.data, { ...nativeOption(), limits: data.limits })
    ruling = createRuling({ network: data.network, rules, db, tokens, contracts, links, log, limits: data.limits })
    // What was changed since the last run is taken up at once: blocks that are stored already are those from before.
    ruling.refresh(heldRanges(db))
    pipeline = createPipeline({
      port,
      preparer,
      ruling,
      db,
      signal,
      storeBatch,
      log,
      onAlerts: () => tell({ type: 'alerts' }),
      onFailure: error => failing.abort(error),
    })
    const work = {
      ...data,
      pipeline,
      ruling,
      tokens,
      contracts,
      links,
      preparer,
      decoding,
      source,
      chainId,
      state,
      log,
      signal,
    }
    // What ends by itself takes rules and ABIs up with its blocks; history is for whoever goes on.
    if (data.job.type === 'follow' || data.job.type === 'watch')
      for (const attend of [attendToRules, attendToAbis]) attend(work).catch(error => failing.abort(error))
    await runJob(work)
  } catch (error) {
    failure = error
  }
  if (stopping.signal.aborted && !(failure instanceof ChainsieveError)) failure = undefined
  // With the job ends what goes on beside it.
  failing.abort()
  // What was handed over is still written: a stop loses no finished block.
  await pipeline?.settled().catch(error => {
    failure ??= error
  })
  clearInterval(reporting)
  await source?.close?.()
  ruling?.close()
  data.port.postMessage({ type: 'close' } satisfies ToWriter)
  db.close()
  tell({ type: 'ended', failure: failure === undefined ? undefined : toFailure(failure), report: report() })
  parentPort!.close()
}

const REPORT_MS = 250

const withoutTraces = (source: ChainSource | undefined): string | null => {
  const tracing = source?.tracing?.()
  return tracing?.method === null ? tracing.why : null
}

const nativeOption = () => {
  const native = nativeBinding()
  return native === undefined ? {} : { native }
}

interface State {
  done: number
  total: number
  head: number | null
  /** When the last block of the head was taken, as of `performance.now`. */
  headAt: number
  redecoding: RedecodingReport | null
}

interface Work extends IndexerData {
  pipeline: Pipeline
  ruling: Ruling
  preparer: Preparer
  decoding(age?: number): Decoding
  tokens: Tokens
  contracts: Contracts
  links: Links
  source: ChainSource | undefined
  chainId: number | undefined
  state: State
  log: Log
  signal: AbortSignal
}

const runJob = async (work: Work) => {
  const { job } = work
  switch (job.type) {
    case 'import':
      return importPacks(work, job.files)
    case 'index':
      return indexRange(work, job)
    case 'follow':
      return keepFollowing(work, job)
    case 'watch':
      return untilStopped(work.signal)
  }
}

/** Time between two looks at whether rules have changed, where no block comes. */
const RULES_MS = 200

/** Has rules take effect also where no block comes, and what is stored gone through where they ask for it. */
const attendToRules = async (work: Work) => {
  const { pipeline, ruling, store, log, signal } = work
  const refresh = () => ruling.refresh(pipeline.held())
  const scanHistory = createHistory({
    store,
    native: nativeBinding(),
    ruling,
    refresh,
    tell: pipeline.tell,
    settled: pipeline.flush,
    log,
    signal,
  })
  // Also what changed before a crash, and was not told any more.
  let told = 0
  while (!signal.aborted) {
    refresh()
    const { generation } = ruling
    if (generation !== told) await pipeline.tell({ hits: [] })
    told = generation
    try {
      await scanHistory()
      await systemClock.sleep(RULES_MS, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

/** Time between two looks at whether something is to be decoded anew. */
const REDECODE_MS = 1000

/** Has what is stored decoded anew where that is asked for. */
const attendToAbis = async (work: Work) => {
  const { network, data, store, abis, pipeline, preparer, links, decoding, state, log, signal } = work
  while (!signal.aborted) {
    try {
      await redecode({
        network,
        store,
        native: nativeBinding(),
        abis,
        folder: redecodeFolder(data),
        decoding,
        preparer,
        askLinks: addresses => links.know(addresses, state.head ?? pipeline.held().at(-1)?.to ?? 0, signal),
        revise: pipeline.revise,
        caughtUp: pipeline.caughtUp,
        letHeadPass: () => letHeadPass(state, signal),
        onReport: report => {
          state.redecoding = report
        },
        log,
        signal,
      })
      await systemClock.sleep(REDECODE_MS, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

const untilStopped = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Reads packs from front to back. Blocks that are stored already are passed over, so that an import can be repeated. */
const importPacks = async (work: Work, files: string[]) => {
  const { pipeline, links, signal, state, chainId, limits } = work
  state.total = files.reduce((sum, file) => sum + sizeOf(file), 0)
  const lane = pipeline.lane('fill')
  let before = 0
  try {
    for (const file of files) {
      const onRead = (bytes: number) => {
        state.done = before + bytes
      }
      let previous: BlockRef | undefined
      for await (const line of readPackLines(file, { signal, onRead, limits })) {
        const raw = parsePackLine(line, chainId === undefined ? { limits } : { chainId, limits })
        previous = linkPackBlock(line, previous, raw)
        await links.learn([raw], -1, signal)
        await addFromPack(raw, line, pipeline, lane)
        signal.throwIfAborted()
        await breath()
      }
      before += sizeOf(file)
    }
  } finally {
    // The good blocks before a fault, and before a stop, are kept.
    await lane.flush()
  }
  state.done = state.total
}

const addFromPack = async (raw: RawBlock, { path, line }: PackLine, pipeline: Pipeline, lane: LaneOf) => {
  const { number, hash } = raw.block
  const stored = pipeline.stored(Number(number))
  if (stored?.hash === hash) return
  if (stored)
    throw refuse(
      'block_stored',
      `${path}, line ${line}: block ${Number(number)} is ${hash} here, but ${stored.hash} is stored: they are of different branches or chains. Import it into another data folder`,
    )
  try {
    await lane.add(raw)
  } catch (error) {
    if (!(error instanceof ChainsieveError) || error.code !== 'block_unlinked') throw error
    throw refuse(error.code, `${path}, line ${line}: ${error.message}`, error)
  }
}

const sizeOf = (file: string): number => {
  try {
    return statSync(file).size
  } catch (error) {
    throw refuse('pack_unreadable', `${file} cannot be read: ${(error as Error).message}`, error)
  }
}

/** Back-fills a range once. */
const indexRange = async (work: Work, job: Extract<Job, { type: 'index' }>) => {
  const { source, signal, state } = work
  const head = await source!.head(signal)
  state.head = head
  const from = resolvePoint(job.from, head, 0)
  const to = resolvePoint(job.to, head, head)
  if (to > head)
    throw refuse('beyond_head', `block ${to} is beyond the head of the chain, which is ${head}: lower --to`)
  if (from > to)
    throw refuse(
      'empty_range',
      `there are no blocks from ${from} to ${to}: check --from and --to (the head is ${head})`,
    )
  // What was the head last time may have been reorganised since.
  const tip = work.pipeline.held().at(-1)?.to
  if (tip !== undefined && tip <= head) await leaveOldBranch(work, tip, job.finality)
  await fill(work, from, to, job.order)
}

/** Begins anew after whatever passes; each time it goes by what is stored then. */
const keepFollowing = async (work: Work, job: Extract<Job, { type: 'follow' }>) => {
  const { signal, log, state } = work
  for (;;) {
    try {
      return await followAndFill(work, job)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
      log.warn('Was interrupted, begins anew in a moment', { error })
      state.total = state.done
      await systemClock.sleep(ANEW_MS, signal)
    }
  }
}

const ANEW_MS = 5_000

/** Follows the head, and fills what is missing below at the same time. */
const followAndFill = async (work: Work, job: Extract<Job, { type: 'follow' }>) => {
  const { source, signal, state, pipeline, ruling } = work
  const head = await source!.head(signal)
  state.head = head
  ruling.fixStarts(head)
  const from = Math.min(resolvePoint(job.from, head, 0), head)
  const tip = pipeline.held().at(-1)?.to
  // What a node for development has instead of the stored blocks only following finds out.
  const near = tip !== undefined && (job.node.shrinks === true || (tip >= from - 1 && head - tip <= CATCH_UP))
  if (tip !== undefined && !near) await leaveOldBranch(work, tip, job.finality)
  // Blocks that may still be reorganised are left to following; a back-fill touches settled ones alone.
  const first = near ? tip + 1 : Math.max(from, head - job.finality + 1)
  const stopAll = new AbortController()
  const both = AbortSignal.any([signal, stopAll.signal])
  const inside = { ...work, signal: both }
  const parts = [follow(inside, first, near ? tip : undefined, job.finality), fill(inside, from, first - 1, job.order)]
  try {
    await Promise.all(parts)
  } finally {
    stopAll.abort()
    await Promise.allSettled(parts)
  }
}

/** Blocks behind the head up to which a stored tip is simply followed on; a longer gap is a back-fill of its own. */
const CATCH_UP = 2000

const follow = async (work: Work, from: number, tip: number | undefined, finality: number) => {
  const { source, pipeline, tokens, links, state, signal, log } = work
  const lane = pipeline.lane('head')
  const held = tip === undefined ? undefined : pipeline.stored(tip)
  try {
    for await (const event of source!.follow({ from, stored: pipeline.stored, tip: held, finality, signal })) {
      if (event.type === 'rollback') {
        await lane.flush()
        await pipeline.rollback(event.to)
        for (const known of [tokens, links]) known.forget(positionOf(event.to + 1, 0))
        log.info('Followed a reorganisation', { keptUpTo: event.to })
        continue
      }
      const number = Number(event.block.block.number)
      await learn(work, [event.block])
      await lane.add(event.block)
      state.headAt = performance.now()
      if (number > (state.head ?? -1)) state.head = number
      // At the head every block is a transaction of its own; far behind it they go together.
      if (number > (state.head ?? 0) - finality) await lane.flush()
    }
  } finally {
    await lane.flush()
  }
}

/**
 * Blocks of a back-fill that are held in memory at a time: a node's answers are several times larger as objects, and cleaning up beside a
 * large heap takes more time than all the rest.
 */
const RUN = 50

const fill = async (work: Work, from: number, to: number, order: Order) => {
  const { source, pipeline, storeBatch, state, signal } = work
  const holes = holesIn(pipeline.held(), from, to)
  state.total += holes.reduce((sum, hole) => sum + hole.to - hole.from + 1, 0)
  const lane = pipeline.lane('fill')
  try {
    for (const hole of order === 'newest' ? holes.toReversed() : holes)
      for await (const blocks of source!.range({ ...hole, order, run: Math.min(storeBatch, RUN), signal })) {
        await learn(work, blocks)
        for (const block of blocks) {
          await letHeadPass(state, signal)
          await lane.add(block)
          state.done++
        }
        await lane.flush()
      }
  } finally {
    await lane.flush()
  }
}

/** What only the chain itself tells of the contracts and tokens in these blocks. */
const learn = async ({ contracts, links, tokens, state, signal }: Work, blocks: readonly RawBlock[]) => {
  await contracts.learn(blocks, signal)
  await links.learn(blocks, state.head ?? -1, signal)
  const shown = blocks.flatMap(raw => [...tokensIn(raw, contracts.in(raw)).keys()])
  await tokens.learn(
    shown.map(address => address.slice(2)),
    signal,
  )
}

/** A block of the head that came so lately is mostly followed by the next one: a back-fill waits for that. */
const HEAD_GAP_MS = 15
/** Longest that one block of a back-fill waits: a head that never rests must not stop it for good. */
const MOST_PATIENCE_MS = 1000

/** Before each block of a back-fill: blocks of the head go first. */
const letHeadPass = async (state: State, signal: AbortSignal) => {
  await breath()
  const until = performance.now() + MOST_PATIENCE_MS
  while (performance.now() < Math.min(until, state.headAt + HEAD_GAP_MS)) await sleep(HEAD_GAP_MS / 3)
  signal.throwIfAborted()
}

/** Lets messages and answers in between two blocks. */
const breath = () => new Promise<void>(resolve => setImmediate(resolve))

/** After a long pause the stored tip may lie on a branch that the chain has left: then it is rolled back to where they part. */
const leaveOldBranch = async (
  { source, pipeline, tokens, links, signal, log }: Work,
  tip: number,
  finality: number,
) => {
  for (let number = tip; number >= 0 && number > tip - finality; number--) {
    const stored = pipeline.stored(number)
    if (stored) {
      const [blocks] = await collect(source!.range({ from: number, to: number, order: 'oldest', run: 1, signal }))
      if (blocks?.[0]?.block.hash !== stored.hash) continue
      if (number === tip) return
    }
    // Below what is held without a gap there is nothing left to differ.
    await pipeline.rollback(number)
    for (const known of [tokens, links]) known.forget(positionOf(number + 1, 0))
    log.info('Followed a reorganisation', { keptUpTo: number })
    return
  }
  throw stop(
    'reorg_too_deep',
    `the stored blocks up to ${tip} are not those of the chain any more, for more than ${finality} blocks: is this the same chain? Index it into another data folder, or raise finality`,
  )
}

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

const resolvePoint = (point: BlockPoint | undefined, head: number, fallback: number): number => {
  if (point === undefined) return fallback
  return 'block' in point ? point.block : Math.max(0, head - point.latest)
}

/** The chain of the source, which must be the chain of the store. */
const chainIdOf = async (
  { job, limits }: Pick<IndexerData, 'job' | 'limits'>,
  source: ChainSource | undefined,
  db: Db,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const stored = db.prepare("SELECT value FROM meta WHERE key = 'chain_id'").pluck().get() as number | undefined
  if (job.type === 'watch') return stored
  if (job.type === 'import') return stored ?? packChainId(job.files, limits, signal)
  const chainId = await source!.chainId(signal)
  const mayDiffer = 'node' in job && job.node.shrinks === true
  if (stored !== undefined && stored !== chainId && !mayDiffer)
    throw stop(
      'wrong_chain',
      `the node is of chain ${chainId}, but this network's store holds chain ${stored}: check --rpc and --network, or choose another data folder`,
    )
  return chainId
}

/** What the first block of the packs says; undefined where packs do not tell. */
const packChainId = async (
  files: readonly string[],
  limits: Limits,
  signal: AbortSignal,
): Promise<number | undefined> => {
  try {
    return await createPackSource(files, { limits }).chainId(signal)
  } catch (error) {
    if (error instanceof ChainsieveError && error.code === 'pack_without_chain_id') return undefined
    throw error
  }
}

const openDecoding = (
  data: IndexerData,
  db: Db,
  chainId: number | undefined,
  source: ChainSource | undefined,
  log: Log,
) => {
  const registry = createRegistry(parseRegistry(readTextAsset('events.txt')))
  const functions = openFunctions(readAsset('functions.bin'))
  const list = createTokenList([
    ...parseTokens(readTextAsset('tokens.txt')),
    ...parseTokens(readTextAsset('demo-tokens.txt')),
  ])
  const tokens = createTokens({
    listed: address => (chainId === undefined ? undefined : list.find(chainId, `0x${address}`)),
    stored: createStoredTokens(db),
    call: source?.call,
    log,
  })
  const likeness = createLikeness(createStoredFeatures(db))
  const linksOf: LinksOf = (address, at, selector) => links.of(address, at, selector)
  const decoding = createAbiWatch({ folder: data.abis, network: data.network, log }, own => {
    const called = createFunctionDeclarations(functions, own, linksOf)
    return {
      ...createDecoding(registry, functions, own, linksOf),
      abiOf: createAbiFinder(own, selector => called.find(selector).length > 0, linksOf, likeness.nearest),
      keys: boundKeys(own),
      holders: own.flatMap(abi => holderOf(abi) ?? []),
    }
  })
  let current = decoding()
  const read = createCodeReader()
  const readCode = (text: string) => {
    const code = read(text)
    if (code) likeness.note(code)
    return code
  }
  const contracts = createContracts({
    state: source?.state,
    readCode,
    abiOf: (contract, at) => current.abiOf(contract, at),
    implementationOf: (address, at) => links.implementationOf(address, at),
    log,
  })
  const links = createLinks({
    state: source?.state,
    call: source?.call,
    readCode,
    stored: createStoredLinks(db),
    keys: () => decoding().keys,
    holders: () => decoding().holders,
    likeness,
    created: contracts.in,
    log,
  })
  const preparer = createPreparer({
    db,
    decodeLog: (log, at) => current.log(log, at),
    methodOf: (input, to, at) => current.methodOf(input, to, at),
    decodeCall: (to, input, at) => current.call(to, input, at),
    tokens,
    contracts,
    links,
    traces: 'node' in data.job && data.job.node.traces === 'calls' ? 'calls' : 'all',
    chainId,
    bloomsChecked: !('node' in data.job) || data.job.node.bloom !== false,
  })
  return {
    tokens,
    contracts,
    links,
    decoding,
    preparer: {
      ...preparer,
      // All of a block is decoded by the same ABIs.
      decode(raw: RawBlock) {
        current = decoding()
        return preparer.decode(raw)
      },
    },
  }
}
