import { connect } from '../cluster/client.ts'
import type { ClusterOptions } from '../cluster/options.ts'
import { openClusterReader } from '../cluster/reader.ts'
import { openDocumentReader } from '../engine/document-reader.ts'
import type { DocumentReader } from '../engine/port.ts'
import { createShelfReader } from '../engine/shelf.ts'
import { systemClock } from '../lib/retry.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { createHistory } from './history.ts'
import { redecode } from './redecode.ts'
import { redecodingInCluster } from './redecoding/open.ts'
import { redecodeFolder } from './redecodings.ts'
import { narrowAsAsked } from './scoped/narrowing.ts'
import { type Work, yieldToHead } from './work.ts'

/** Time between two looks at whether rules have changed, where no block comes. */
const RULES_MS = 200

/** Has rules take effect also where no block comes, and what is stored gone through where they ask for it. */
export const watchRules = async (work: Work) => {
  const { network, pipeline, ruleWatcher, log, signal } = work
  const refresh = () => ruleWatcher.refresh(pipeline.seen())
  const scanHistory = createHistory({
    network,
    open: () => openHistoryReader(work),
    ruleWatcher,
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
    const { generation } = ruleWatcher
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

/** Time between two checks for data to decode again. */
const REDECODE_MS = 1000

/** Decodes stored data again if that was requested. */
export const watchAbis = async (work: Work) => {
  const { network, data, store, abis, pipeline, preparer, links, decoding, state, log, signal } = work
  while (!signal.aborted) {
    try {
      // Documents come back as the cluster has them: it is their file that is to be gone through then.
      if (work.returning && work.cluster) {
        await systemClock.sleep(REDECODE_MS, signal)
        continue
      }
      await redecode({
        network,
        store,
        native: nativeBinding(),
        abis,
        folder: redecodeFolder(data),
        decoding,
        preparer,
        askLinks: addresses => links.know(addresses, state.head ?? pipeline.seen().at(-1)?.to ?? 0, signal),
        revise: pipeline.revise,
        clustered: redecodingInCluster(work),
        caughtUp: pipeline.caughtUp,
        yieldToHead: () => yieldToHead(state, signal),
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

/** Time between two looks at whether scopes were narrowed. */
const NARROW_MS = 1000

/** Removes what is outside of scopes where that was requested. */
export const watchNarrowing = async (work: Work) => {
  const { signal } = work
  while (!signal.aborted) {
    try {
      await narrowAsAsked(work)
      await systemClock.sleep(NARROW_MS, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

export interface HistoryPlace {
  network: string
  /** File of its store. */
  store: string
  /** Where its documents go from there. */
  cluster?: ClusterOptions | undefined
}

/** Opens a network's documents wherever they lie. */
export const openHistoryReader = ({ network, store, cluster: naming }: HistoryPlace): DocumentReader => {
  const native = nativeBinding()
  if (!naming) return openDocumentReader(store, { native })
  const cluster = connect(naming)
  const reader = openClusterReader(store, {
    ...{ native, cluster, naming, network },
    shelf: db => createShelfReader(db).visible,
  })
  return {
    ...reader,
    async close() {
      await reader.close()
      await cluster.close()
    },
  }
}
