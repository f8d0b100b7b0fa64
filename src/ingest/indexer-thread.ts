import { type MessagePort, parentPort } from 'node:worker_threads'
import { readScans } from '../alerts/alert-store.ts'
import { openSpent } from '../chain/budget/spent-file.ts'
import { chainIdOfFiles, findBlockFiles } from '../chain/files/block-files.ts'
import { createRpcSource } from '../chain/rpc-source.ts'
import type { ChainSource } from '../chain/source.ts'
import { newestTimes } from '../engine/blocks.ts'
import { createStoreLookups } from '../engine/dictionary-reader.ts'
import { spentStem } from '../engine/files.ts'
import { openForReading } from '../engine/open.ts'
import { requireLocalDocuments } from '../engine/shipping/document-location.ts'
import { isReplica } from '../engine/shipping/replica.ts'
import { ChainsieveError, stop, toTransferredError } from '../lib/errors.ts'
import { createThreadLog } from '../lib/log.ts'
import { mergeRanges } from '../lib/ranges.ts'
import { nativeBinding, nativeOption } from '../lib/runtime.ts'
import { aborted } from '../lib/shutdown.ts'
import { createMetrics } from '../metrics/index.ts'
import { openRules } from '../rules/store.ts'
import { shownFilter } from '../search/coverage.ts'
import { keepPages } from '../sqlite/database.ts'
import { openDecoding } from './decoding/open-decoding.ts'
import { createFinality, depthOf, type Finality, watchFinality } from './finality.ts'
import { createJobState, type JobState, runChanges, type Work } from './job-context.ts'
import { indexRange, keepFollowing } from './jobs/follow-head.ts'
import { importFiles } from './jobs/import.ts'
import { narrowAsAsked } from './jobs/narrow.ts'
import {
  forgetAsAsked,
  watchAbis,
  watchAcross,
  watchForgetting,
  watchNarrowing,
  watchRestore,
  watchRules,
  watchState,
  watchWindows,
} from './jobs/watch.ts'
import type { FillingReport, FromIndexer, IndexerData, Report, ToIndexer, ToWriter, WaitReason } from './messages.ts'
import { createStateReplies, type StateRequest } from './past-state.ts'
import { createPipeline, type Pipeline } from './pipeline.ts'
import type { RemoteStore, ShippingReport } from './remote.ts'
import { createRuleWatcher, type RuleWatcher } from './rules/rule-watcher.ts'
import { openStoredBlocks, type StoredBlocks } from './scoped/partial-blocks.ts'
import { createChainPace, createSince, PACE_BLOCKS, silence } from './status/chain-pace.ts'

export const runIndexer = async (data: IndexerData & { port: MessagePort }, remote?: RemoteStore) => {
  const stopping = new AbortController()
  const failing = new AbortController()
  const signal = AbortSignal.any([stopping.signal, failing.signal])
  const tell = (message: FromIndexer) => parentPort!.postMessage(message)
  const log = createThreadLog(tell)
  let readState: ((request: StateRequest) => void) | undefined
  parentPort!.on('message', (message: ToIndexer) => {
    if (message.type !== 'stop') return readState?.(message)
    stopping.abort()
    data.port.postMessage({ type: 'stop' } satisfies ToWriter)
  })

  const db = openForReading(data.store, nativeBinding())
  if (data.cacheMb !== undefined) keepPages(db, data.cacheMb)
  const lookups = createStoreLookups(db)
  const metrics = createMetrics()
  const source =
    'node' in data.job
      ? createRpcSource({
          ...{ ...data.job.node, limits: data.limits, log, metrics },
          ...chainOf(data.job, lookups.chainId()),
          spent: openSpent(spentStem(data.data, data.network), log),
        })
      : undefined
  readState = source && createStateReplies(source.pastStateAt!, tell, signal)
  const state = createJobState()
  const pace = createChainPace({ stored: newestTimes(db, PACE_BLOCKS), staleMs: staleAfter(data.job) })
  let pipeline: Pipeline | undefined
  let storedBlocks: StoredBlocks | undefined
  let ruleWatcher: RuleWatcher | undefined
  let finality: Finality | undefined
  const startedAt = performance.now()
  const since = createSince()
  const head = () => source?.highest?.() ?? state.head
  const waiting = () =>
    since(pipeline?.stuck() ?? forRules(ruleWatcher)) ??
    source?.waitsForBudget?.() ??
    silence(source?.endpoints() ?? [], {
      answered: state.head !== null,
      forMs: performance.now() - startedAt,
      now: Date.now(),
    }) ??
    pace.stale(data.job.type === 'follow' ? head() : null)
  const report = (): Report => ({
    ...(pipeline?.counts ?? { blocks: 0, logs: 0, events: 0 }),
    done: state.done,
    total: state.total,
    head: head(),
    newest: pace.newest(),
    blockTime: pace.blockTime(),
    asked: state.asked,
    reading: state.reading,
    added: pipeline?.added() ?? [],
    waiting: waiting() ?? null,
    endpoints: source?.endpoints() ?? [],
    withoutTraces: withoutTraces(source),
    alerts: pipeline?.alerts() ?? {},
    redecoding: state.redecoding,
    filling: fillingOf(state),
    missing: state.missing,
    finality: finality?.report() ?? null,
    shipping: shippingReport(pipeline, state),
    metrics: [...metrics.snapshot(), ...(pipeline?.metrics() ?? [])],
    troubles: new Map([...state.acrossNotes, ...(pipeline?.notes() ?? []), ...(ruleWatcher?.troubles ?? [])]),
    accountTroubles: ruleWatcher?.accountTroubles ?? new Map(),
  })
  const reporting = setInterval(() => tell({ type: 'report', report: report() }), INDEXER_REPORT_MS)

  let failure: unknown
  try {
    if (isReplica(db))
      throw stop(
        'store_is_mirror',
        `${data.store} was made by a server with role = "search", and holds no blocks: choose another data folder, or remove the file`,
      )
    if (!remote) requireLocalDocuments(db)
    const chainId = await checkedChainId(data, source, lookups.chainId(), signal)
    const opened = openDecoding(data, db, lookups, chainId, source, log)
    const { tokens, contracts, links, preparer } = opened
    const rules = openRules(data.data, { ...nativeOption(), limits: data.limits })
    const { network, limits, port, storeBatch } = data
    ruleWatcher = createRuleWatcher({
      ...{ network, rules, tokens, contracts, links, log, limits, metrics },
      scans: readScans(db),
    })
    // Applies rule changes since the last run; blocks already stored count as earlier.
    const newestPartial = lookups.partial({ from: 0, to: Number.MAX_SAFE_INTEGER }).at(-1)
    const partly = newestPartial ? [{ from: newestPartial.last, to: newestPartial.last }] : []
    ruleWatcher.refresh(mergeRanges([...lookups.ranges(), ...partly]))
    const openStored = () => (storedBlocks ??= openStoredBlocks(data.store, chainId))
    pipeline = createPipeline({
      ...{ port, preparer, ruleWatcher, blocks: lookups, storedBlocks: openStored, signal, storeBatch, log },
      onAlerts: () => tell({ type: 'alerts' }),
      onFailure: error => failing.abort(error),
    })
    const { stored, tell: tellWriter } = pipeline
    finality = createFinality({
      source,
      // Scopes store only blocks with content.
      stored: number => stored(number) ?? lookups.coverage.looked(number),
      tell: marks => tellWriter({ hits: [], marks }),
      depth: depthOf(data.job),
    })
    const work: Work = {
      ...{ ...data, ...opened, pipeline, ruleWatcher, lookups, storedBlocks: openStored },
      ...{ remote, source, chainId, state, pace, finality, log, signal },
    }
    if (source === undefined) await finality.look(signal)
    // Finite jobs read rules and ABIs with their blocks; only endless jobs search history.
    if (data.job.type === 'follow' || data.job.type === 'watch')
      for (const attend of [
        watchRules,
        watchWindows,
        watchAcross,
        watchAbis,
        watchNarrowing,
        watchForgetting,
        watchRestore,
        ...(source ? [watchFinality, watchState] : []),
      ])
        attend(work).catch(error => failing.abort(error))
    await runJob(work)
    if (work.remote && endsByItself(data.job)) {
      await pipeline.settled()
      await pipeline.shipped()
    }
  } catch (error) {
    failure = error
  }
  if (stopping.signal.aborted && !(failure instanceof ChainsieveError)) failure = undefined
  failing.abort()
  // Waits until blocks under way are written: a stop loses no finished block.
  await pipeline?.settled().catch(error => {
    failure ??= error
  })
  clearInterval(reporting)
  await source?.close?.()
  ruleWatcher?.close()
  storedBlocks?.close()
  data.port.postMessage({ type: 'close' } satisfies ToWriter)
  db.close()
  tell({ type: 'ended', failure: failure === undefined ? undefined : toTransferredError(failure), report: report() })
  parentPort!.close()
}

const INDEXER_REPORT_MS = 250

const staleAfter = (job: IndexerData['job']): number | undefined =>
  job.type === 'follow' && job.node.shrinks !== true ? job.staleMs : 0

const forRules = (rules: RuleWatcher | undefined): Omit<WaitReason, 'since'> | undefined =>
  rules?.waiting ? { kind: 'rules', for: rules.waiting } : undefined

const withoutTraces = (source: ChainSource | undefined): string | null => {
  const tracing = source?.tracing?.()
  return tracing?.method === null ? tracing.why : null
}

const shippingReport = (pipeline: Pipeline | undefined, { trouble }: JobState): ShippingReport | null => {
  const shipping = pipeline?.shipping()
  if (!shipping) return null
  return trouble && shipping.trouble === null
    ? { ...shipping, trouble: trouble.why, troubleSince: trouble.since }
    : shipping
}

const endsByItself = ({ type }: IndexerData['job']): boolean => type !== 'follow' && type !== 'watch'

const fillingOf = ({ filling }: JobState): FillingReport | null => {
  if (!filling) return null
  const { filter, ...range } = filling
  return { ...shownFilter(filter), ...range }
}

const runJob = async (work: Work) => {
  const { job } = work
  switch (job.type) {
    case 'import':
      return importFiles(work, job.files)
    case 'index':
      return indexRange(work, job)
    case 'follow':
      return keepFollowing(work, job)
    case 'move':
      if (work.remote && work.returning) {
        await runChanges(work, work.remote.restore(work))
        work.remote = undefined
      }
      return
    case 'narrow':
      return runChanges(work, narrowAsAsked(work))
    case 'forget':
      return runChanges(work, forgetAsAsked(work))
    case 'watch':
      return aborted(work.signal)
  }
}

/** Chain that nodes must be of; others have to wait. Development nodes may be reset to another. */
const chainOf = (job: IndexerData['job'], stored: number | undefined): { chainId?: number } => {
  if (job.type !== 'follow' || job.node.shrinks === true) return {}
  const chainId = job.node.chainId ?? stored
  return chainId === undefined ? {} : { chainId }
}

const checkedChainId = async (
  { job, limits }: Pick<IndexerData, 'job' | 'limits'>,
  source: ChainSource | undefined,
  stored: number | undefined,
  signal: AbortSignal,
): Promise<number | undefined> => {
  if (job.type === 'watch' || job.type === 'narrow' || job.type === 'forget' || job.type === 'move') return stored
  if (job.type === 'import') return stored ?? chainIdOfFiles(await findBlockFiles(job.files), { limits, signal })
  const chainId = await source!.chainId(signal)
  const mayDiffer = 'node' in job && job.node.shrinks === true
  if (stored !== undefined && stored !== chainId && !mayDiffer)
    throw stop(
      'wrong_chain',
      `the node is on chain ${chainId}, but the store of this network has chain ${stored}: check --rpc, --chain-id and --network, or choose another data folder`,
    )
  return chainId
}
