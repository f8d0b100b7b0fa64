import { createUnseenBlocks } from '../../alerts/rebuild.ts'
import { createStepKnowledge } from '../../alerts/step-rebuild.ts'
import { timeOfBlock } from '../../engine/blocks.ts'
import { storeFile } from '../../engine/files.ts'
import { openForReading } from '../../engine/open.ts'
import { openSearcher } from '../../engine/query/searcher.ts'
import { ChainsieveError, retry } from '../../lib/errors.ts'
import { systemClock } from '../../lib/retry.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import { runChanges, type Work } from '../job-context.ts'
import type { JobChanges } from '../pipeline.ts'
import type { RemoteStore } from '../remote.ts'
import { openForgetRequest, redecodeFolder } from '../requests.ts'
import { createAcrossRules } from '../rules/across.ts'
import { createHistory } from '../rules/history.ts'
import { createStateReadings } from '../rules/state-readings.ts'
import { createWindowRebuild } from '../rules/window-rebuild.ts'
import { narrowAsAsked } from './narrow.ts'
import { redecode } from './redecode.ts'

const repeat = async ({ signal }: Pick<Work, 'signal'>, ms: number, run: () => Promise<void>) => {
  while (!signal.aborted) {
    try {
      await run()
      await systemClock.sleep(ms, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

const RULES_MS = 200
const FILL_MS = 1_000
const REQUESTS_MS = 1000

/** Applies changed rules also where no block comes, and searches history where they ask for it. */
export const watchRules = async (work: Work) => {
  const { network, pipeline, ruleWatcher, log, signal } = work
  const refresh = () => ruleWatcher.refresh(pipeline.seen())
  const scanHistory = createHistory({
    ...{ network, ruleWatcher, refresh, log, signal },
    open: () => work.remote?.openReader() ?? openSearcher(work.store, nativeBinding()),
    tell: pipeline.tell,
    settled: pipeline.flush,
  })
  // Also what changed before a crash and was not sent any more.
  let told = 0
  await repeat(work, RULES_MS, async () => {
    refresh()
    const { generation } = ruleWatcher
    if (generation !== told) await pipeline.tell({ hits: [] })
    told = generation
    await scanHistory()
  })
}

/** Reads state for rules as blocks are stored. */
export const watchState = async (work: Work) => {
  const { network, pipeline, ruleWatcher, lookups, source, signal } = work
  const db = openForReading(work.store, nativeBinding())
  const readState = createStateReadings({
    network,
    rules: {
      ofState: ruleWatcher.ofState,
      rule: ruleWatcher.rule,
      scans: ruleWatcher.scans,
      listsOf: ruleWatcher.listsOf,
      trouble: ruleWatcher.stateTrouble,
    },
    read: source!.stateAt!,
    blocks: lookups,
    isFilling: () => !work.state.filled,
    timeOf: number => timeOfBlock(db, number),
    tell: pipeline.tell,
    clock: systemClock,
    signal,
  })
  try {
    await repeat(work, RULES_MS, readState)
  } finally {
    db.close()
  }
}

/** Fills windows of new, changed and resumed rules from stored blocks. */
export const watchWindows = async (work: Work) => {
  const { pipeline, ruleWatcher, log, signal } = work
  const db = openForReading(work.store, nativeBinding())
  const rebuild = createWindowRebuild({
    ...{ rules: ruleWatcher, log, signal },
    open: () => work.remote?.openReader() ?? openSearcher(work.store, nativeBinding()),
    unseen: () => createUnseenBlocks(db),
    known: createStepKnowledge(db),
    timeOf: number => timeOfBlock(db, number),
    tell: pipeline.tell,
  })
  try {
    await repeat(work, FILL_MS, rebuild)
  } finally {
    db.close()
  }
}

/** Decides rules over several networks whenever one of their stores has changed. */
export const watchAcross = async (work: Work) => {
  const { network, data, job, limits, pipeline, ruleWatcher, state, log, signal } = work
  // Without new blocks, nothing is decided.
  if (job.type !== 'follow') return
  const files = new Map(job.followed.map(one => [one, storeFile(data, one)]))
  const across = createAcrossRules({
    ...{ network, rules: ruleWatcher.ofWindows, tell: pipeline.tell, limits, log, signal },
    generation: () => ruleWatcher.generation,
    stores: () => files,
    open: () => work.remote?.openReader() ?? openSearcher(work.store, nativeBinding()),
    now: systemClock.now,
  })
  state.acrossNotes = across.notes
  try {
    await repeat(work, RULES_MS, across.look)
  } finally {
    across.close()
  }
}

export const watchAbis = (work: Work) => {
  const { network, data, store, abis, pipeline, preparer, links, decoding, tokens, state, log, signal } = work
  return repeat(work, REQUESTS_MS, async () => {
    // Documents are restored as they are there: the store is gone through when it has all of them.
    if (work.returning && work.remote) return
    const changes = redecode({
      ...{ network, store, abis, decoding, preparer, log, signal },
      native: nativeBinding(),
      folder: redecodeFolder(data),
      askLinks: addresses => links.know(addresses, state.head ?? pipeline.seen().at(-1)?.to ?? 0, signal),
      elsewhere: work.remote?.redecoder({ decimals: tokens.of, revise: preparer.revise }),
      caughtUp: pipeline.caughtUp,
      onReport: report => {
        state.redecoding = report
      },
    })
    await runChanges(work, changes)
  })
}

export const watchNarrowing = (work: Work) => repeat(work, REQUESTS_MS, () => runChanges(work, narrowAsAsked(work)))

export const watchForgetting = (work: Work) => repeat(work, REQUESTS_MS, () => runChanges(work, forgetAsAsked(work)))

export const watchRestore = async (work: Work) => {
  if (!work.remote || !work.returning) return
  if (await work.remote.watchRestore(work, changes => runChanges(work, changes))) work.remote = undefined
}

const FORGET_LOOK_MS = 1000
const RETRY_FORGET_MS = 5_000
/** Forgets blocks whose documents were lost remotely, as requested: they are then fetched again. */
export async function* forgetAsAsked(work: Work): JobChanges {
  for (let told: string | undefined; ; ) {
    const open = openForgetRequest(work.store)
    if (!open) return
    try {
      if (work.remote) yield* forget(work, work.remote)
      open.end()
    } catch (error) {
      work.signal.throwIfAborted()
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
      if (told !== error.code) work.log.warn('Cannot forget blocks now, will retry', { why: error.message })
      told = error.code
      await systemClock.sleep(error.retryAfterMs ?? RETRY_FORGET_MS, work.signal)
    }
  }
}

async function* forget({ store, state, log }: Work, remote: RemoteStore): JobChanges {
  const db = openForReading(store, nativeBinding())
  try {
    const { blocks, indices } = await remote.findLost(db, log)
    let step = yield { type: 'forget', blocks, indices }
    while (!step.done) step = yield { type: 'forget', blocks: [], indices: [] }
    if (blocks.length === 0) return
    state.forgotten++
    log.warn('Forgot blocks of which the cluster lost documents', { blocks, indices })
  } finally {
    db.close()
  }
}

export const BLOCKS_FORGOTTEN = 'blocks_forgotten'
export const untilForgotten = async ({ state, signal }: Pick<Work, 'state' | 'signal'>): Promise<never> => {
  const before = state.forgotten
  while (state.forgotten === before) await systemClock.sleep(FORGET_LOOK_MS, signal)
  throw retry(BLOCKS_FORGOTTEN, 'blocks were forgotten, so what is missing is looked for again')
}
