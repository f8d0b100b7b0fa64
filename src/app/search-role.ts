import { connect } from '../cluster/connection/cluster.ts'
import { readIndices, readState, stateIndexOf } from '../cluster/ship/shared-state.ts'
import { clusterOptions } from '../config/cluster.ts'
import type { Config, NetworkConfig } from '../config/index.ts'
import { makeStoreFolder, storedNetworks, storeFile } from '../engine/files.ts'
import { openForWriting } from '../engine/open.ts'
import { createReplica } from '../engine/shipping/replica.ts'
import { ChainsieveError, stop } from '../lib/errors.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { repeatEvery } from '../lib/scheduling/interval.ts'
import type { Run } from '../lib/shutdown.ts'
import { aborted, surviveFaults } from '../lib/shutdown.ts'
import { openSearchParts, startSearchServer } from './compose.ts'
import { takeDataFolder } from './upgrade.ts'

/** Interval between reads of the published state. */
const MIRROR_INTERVAL_MS = 200

/** Serves searches of networks that another process indexes; has its own accounts and no rules. */
export const serveSearch = async (config: Config, run: Run): Promise<void> => {
  const { log, shutdown } = run
  const lock = takeDataFolder(config.data, 'serve', log)
  shutdown.add('lock', lock.release)
  shutdown.add('last resort', surviveFaults(log))
  checkSearchNetworks(config)
  makeStoreFolder(config.data)
  for (const network of config.networks) await mirror(config, network, run)
  await startSearchServer(config, openSearchParts(config, run), run)
  await aborted(shutdown.signal)
}

const checkSearchNetworks = ({ data, networks }: Config) => {
  const known = new Set(networks.map(({ network }) => network))
  const other = storedNetworks(data).find(network => !known.has(network))
  if (other !== undefined)
    throw stop('role_with_store', `${data} stores ${other}, which has no cluster: choose another data folder`)
}

/** Mirrors the visible blocks of the network into a small store. */
const mirror = async (config: Config, { network, cluster: settings }: NetworkConfig, { log, shutdown }: Run) => {
  const db = openForWriting(storeFile(config.data, network), nativeBinding())
  const { take, serial } = createReplica(db)
  const options = clusterOptions(settings!)
  const cluster = connect(options)
  const index = stateIndexOf(options, network)
  let known = ''
  const look = async () => {
    const state = await readState(cluster, index)
    const version = state ? `${state.term} ${state.sequence}` : ''
    if (!state || version === known || shutdown.signal.aborted) return
    take(state, await readIndices(cluster, index, state, serial()))
    db.settle()
    known = version
  }
  await look().catch(error => {
    if (error instanceof ChainsieveError && error.next === 'stop') throw error
    log.warn('Does not know yet what of a network may be shown', { network, error })
  })
  if (known === '') log.warn('The cluster has no documents of a network yet', { network })
  const end = repeatEvery(MIRROR_INTERVAL_MS, look, { log, doing: `read the published state of ${network}` })
  shutdown.add(`mirror of ${network}`, async () => {
    end()
    await cluster.close()
    db.close()
  })
}
