import { setTimeout as sleep } from 'node:timers/promises'
import type { MoveDone, Run } from '../cli/index.ts'
import type { Config, NetworkConfig } from '../config/index.ts'
import { createMoveWriter } from '../engine/moved.ts'
import { openForWriting } from '../engine/open.ts'
import type { MovingReport } from '../ingest/messages.ts'
import { startIndexing } from '../ingest/network.ts'
import { readStatus } from '../ingest/status/published.ts'
import { stop } from '../lib/errors.ts'
import type { Progress } from '../lib/progress.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { refuseDamaged } from '../sqlite/pages.ts'
import { shippingOf } from './shipping.ts'
import { isInCluster, storeOf } from './stores.ts'
import { tryToTakeDataFolder } from './upgrade.ts'

const LOOK_MS = 500
/** A server that does not move anything by then does not know the cluster. */
const PATIENCE_MS = 15_000

/** Moves a network's documents to its cluster, or back into its file. A server that runs does so by itself: then it is waited for. */
export const move = async (
  config: Config,
  { network, cluster, storeBatch }: NetworkConfig,
  to: MoveDone['store'],
  { log, shutdown, progress }: Run & { progress: Progress },
): Promise<MoveDone> => {
  const store = storeOf(config.data, network)
  const returning = to === 'sqlite'
  const show = (moving: MovingReport | null | undefined) => {
    if (moving) progress.update(stepOf(moving))
  }
  const lock = tryToTakeDataFolder(config.data, 'move', log)
  if (lock) {
    shutdown.add('lock', lock.release)
    refuseDamaged(store)
    if (!cluster) answerAgain(network, store)
    else {
      const { data, limits } = config
      const indexing = startIndexing({
        ...{ data, network, job: { type: 'move' }, storeBatch, limits, log, ...shippingOf(config, network), returning },
        onReport: ({ shipping }) => show(shipping?.moving),
      })
      shutdown.add('moving', indexing.stop)
      await indexing.ended
      shutdown.signal.throwIfAborted()
    }
  } else await waitForServer(config.data, { network, store, to }, show, shutdown.signal)
  return { network, store: isInCluster(store) ? 'opensearch' : 'sqlite' }
}

/** Each block is shipped, and compared. */
const stepOf = ({ blocks, shipped, verified }: MovingReport) => ({
  ...{ blocks: shipped, logs: 0, events: 0 },
  ...{ done: shipped + Math.min(verified, blocks), total: 2 * blocks },
})

const waitForServer = async (
  data: string,
  { network, store, to }: { network: string; store: string; to: MoveDone['store'] },
  show: (moving: MovingReport | undefined) => void,
  signal: AbortSignal,
) => {
  let end = performance.now() + PATIENCE_MS
  while (isInCluster(store) !== (to === 'opensearch')) {
    const moving = readStatus(data)?.networks.find(one => one.network === network)?.moving
    if (moving?.to === to) {
      show(moving)
      end = performance.now() + PATIENCE_MS
    } else if (performance.now() > end)
      throw stop(
        'move_waits',
        `another program uses ${data}, and does not move ${network} to ${to}: restart the server with the config file that has store = "${to}" and opensearch-url, or stop it and run this command again`,
      )
    await sleep(LOOK_MS, undefined, { signal })
  }
}

/** Without a cluster, only as long as the store holds all documents. */
const answerAgain = (network: string, store: string) => {
  const db = openForWriting(store, nativeBinding())
  try {
    const { back } = createMoveWriter(db)
    if (!db.transaction(back).immediate())
      throw stop(
        'move_back',
        `documents of ${network} lie in the cluster alone: name the config file that has store = "sqlite" and opensearch-url for the network. See docs/opensearch.md`,
      )
  } finally {
    db.close()
  }
}
