import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ACCOUNTS_FILE, checkAccounts } from '../accounts/file.ts'
import { type Cluster, type ClusterOptions, connect } from '../cluster/connection/cluster.ts'
import { findVersion } from '../cluster/connection/version.ts'
import { type ClusterHealth, createClusterHealth } from '../cluster/indices/cluster-health.ts'
import { createIndices } from '../cluster/indices/indices.ts'
import { type ClusterConfig, clusterOptions } from '../config/cluster.ts'
import type { Config } from '../config/index.ts'
import { checkDeliveries, DELIVERIES_FILE } from '../delivery/ledger/file.ts'
import { createBlocks, newestTimes } from '../engine/blocks.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import { readStore } from '../engine/open.ts'
import { createDocumentLocation } from '../engine/shipping/document-location.ts'
import { ChainsieveError, messageOf } from '../lib/errors.ts'
import { silent } from '../lib/log.ts'
import { nativeBinding } from '../lib/runtime.ts'
import { DAMAGE_REMEDY, isDamage } from '../sqlite/damage.ts'
import { lockedFor } from '../sqlite/lock.ts'
import { checkNewestPages } from '../sqlite/verify-pages.ts'
import { countDropped } from '../sqlite/wal.ts'
import { type Finding, findingsAbout } from './finding.ts'

/** Checks that this version can read the stores, and that their newest pages are intact. */
export function* checkStores({ data, networks }: Pick<Config, 'data' | 'networks'>): Generator<Finding> {
  const stored = storedNetworks(data)
  if (stored.length === 0) yield findingsAbout('store', data).ok('no blocks are stored yet')
  for (const network of stored)
    yield checkStore(
      data,
      network,
      networks.some(it => it.network === network && it.cluster),
    )
  yield* checkSmall(data)
}

const checkStore = (data: string, network: string, hasCluster: boolean): Finding => {
  const { ok, warn, fail } = findingsAbout('store', network)
  const file = storeFile(data, network)
  try {
    const wrong = checkNewestPages(file)
    if (wrong && wrong.length > 0)
      return fail(`${file}: ${wrong.length} of the newest pages are damaged`, repair(network))
    // A running server is writing the end of the log.
    const dropped = lockedFor(data, nativeBinding()) === undefined ? countDropped(file) : 0
    const { ranges, size, isInCluster } = lookInto(file)
    if (dropped > 0)
      return fail(
        `${file}-wal is damaged: ${dropped} transactions behind the damage cannot be read`,
        'Check the disk. The next chainsieve serve indexes their blocks again.',
      )
    if (isInCluster && !hasCluster)
      return fail(
        'its documents are in an OpenSearch cluster, which no setting names',
        'Set store = "opensearch" and opensearch-url for the network.',
      )
    const text = `${(size / 1e6).toFixed(1)} MB, ${ranges.length === 0 ? 'no block yet' : `blocks up to ${ranges.at(-1)!.to}`}`
    if (!wrong)
      return warn(
        `${text}; it has no checksums: damage is not noticed`,
        'Start chainsieve serve once: it adds checksums.',
      )
    return ok(`${text}; its newest pages are as they were written`)
  } catch (error) {
    if (!(error instanceof ChainsieveError)) throw error
    if (error.code === 'store_empty') return ok('no block is stored yet')
    if (isDamage(error)) return fail(messageOf(error).replace(`. ${DAMAGE_REMEDY}`, ''), repair(network))
    const [, found = messageOf(error), remedy] = /^(.*): (.*)$/s.exec(messageOf(error)) ?? []
    return fail(found, remedy ? `${remedy[0]!.toUpperCase()}${remedy.slice(1)}.` : repair(network))
  }
}

const lookInto = (file: string) =>
  readStore(file, db => ({
    ranges: createBlocks(db).ranges(),
    size: statSync(file).size,
    isInCluster: createDocumentLocation(db).since() !== undefined,
  }))

const repair = (network: string): string =>
  `Look further with chainsieve verify ${network}, then restore a backup or run chainsieve salvage ${network}.`

/** Time of the newest stored block in epoch seconds; undefined if none is readable. */
export const newestStored = (data: string): number | undefined => {
  const times = storedNetworks(data).flatMap(network => {
    try {
      return readStore(storeFile(data, network), db => newestTimes(db, 1).map(({ time }) => time))
    } catch {
      return []
    }
  })
  return times.length === 0 ? undefined : Math.max(...times)
}

function* checkSmall(data: string): Generator<Finding> {
  const native = nativeBinding(existsSync(data) ? data : undefined)
  for (const [name, check] of [
    [ACCOUNTS_FILE, checkAccounts],
    [DELIVERIES_FILE, checkDeliveries],
  ] as const) {
    const file = join(data, name)
    if (!existsSync(file)) continue
    const { ok, fail } = findingsAbout('store', file)
    const faults = checkFaults(() => check(data, native))
    yield faults.length === 0
      ? ok('no fault was found')
      : fail(faults.join('; '), 'Restore it from a backup: chainsieve restore DIR')
  }
}

const checkFaults = (check: () => string[]): string[] => {
  try {
    return check()
  } catch (error) {
    return [messageOf(error)]
  }
}

/** Checks reachability, version, health and indices of each network's cluster. Changes nothing. */
export async function* checkClusters({ networks }: Pick<Config, 'networks'>): AsyncGenerator<Finding> {
  for (const { network, cluster } of networks) if (cluster) yield* checkCluster(network, cluster)
}

async function* checkCluster(network: string, config: ClusterConfig): AsyncGenerator<Finding> {
  const subject = `${network} at ${config.urls.join(', ')}`
  const { ok, warn, fail } = findingsAbout('cluster', subject)
  let cluster: Cluster | undefined
  try {
    const options = clusterOptions(config)
    cluster = connect(options)
    const { name, doubt, restores } = await findVersion(cluster)
    yield doubt === undefined
      ? ok(`runs ${name}`)
      : warn(`runs ${name}: ${doubt}`, 'Try it with a copy of your data first.')
    if (!restores)
      yield warn(
        'cannot restore its indices from snapshots, since they are sorted',
        'Upgrade it before you rely on snapshots. Until then, chainsieve prune --lost brings back what is lost.',
      )
    yield* healthOf(subject, await createClusterHealth(cluster, options, network)())
    yield await indicesOf(subject, cluster, options, network)
  } catch (error) {
    yield fail(messageOf(error), 'Check opensearch-url, opensearch-user and opensearch-ca, and that the cluster runs.')
  } finally {
    await cluster?.close()
  }
}

function* healthOf(subject: string, { state, nodes, unassignedShards, watermark, error }: ClusterHealth) {
  const { ok, warn, fail } = findingsAbout('cluster', subject)
  const shards = unassignedShards === 1 ? 'shard' : 'shards'
  const health = `is ${state}, with ${nodes} ${nodes === 1 ? 'node' : 'nodes'} and ${unassignedShards} unassigned ${shards}`
  if (state === 'green') yield ok(health)
  else if (state === 'yellow')
    yield warn(health, 'Copies of some shards are missing: add a node, or set opensearch-replicas to less.')
  else yield fail(error ?? health, 'Look at GET /_cluster/allocation/explain of the cluster.')
  if (watermark === 'flood_stage')
    yield fail('has a node whose disk is so full that nothing is written', 'Free space on its nodes, or add one.')
  else if (watermark !== null)
    yield warn(`has a node whose disk is over the watermark ${watermark}`, 'Free space on its nodes, or add one.')
}

const indicesOf = async (subject: string, cluster: Cluster, options: ClusterOptions, network: string) => {
  const { ok, fail } = findingsAbout('cluster', subject)
  const differences = await createIndices(cluster, options, network, silent).check()
  return differences.length === 0
    ? ok('its indices are as they must be, or are not created yet')
    : fail(
        `its indices are not as they must be: ${differences.join('; ')}`,
        'Set what was set before, or choose another opensearch-prefix and index again.',
      )
}
