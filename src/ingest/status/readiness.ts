import type { Log } from '../../lib/log.ts'
import type { ThreadsState } from '../../search/thread-pool.ts'
import type { WaitReason } from '../messages.ts'
import type { RemoteHealth } from '../remote.ts'
import type { DeliveryHealth, NetworkState, ServerStatus } from './status.ts'

/** Why a server is not ready. Everybody sees it, so it names no node, receiver or file. */
export interface Reason {
  type: ReasonType
  network?: string
  /** ISO-8601 UTC. */
  since?: string
  reason: string
}

type ReasonType =
  | 'nodes_failing'
  | 'wrong_chain'
  | 'no_new_block'
  | 'disk_full'
  | 'store_not_written'
  | 'cluster_behind'
  | 'store_damaged'
  | 'store_unreadable'
  | 'cluster_unreachable'
  | 'cluster_red'
  | 'cluster_lost'
  | 'cluster_disk_full'
  | 'rules_waiting'
  | 'budget_used'
  | 'network_stuck'
  | 'network_restarting'
  | 'network_stopped'
  | 'deliveries_stuck'
  | 'readers_lost'
  | 'clock_leap'

export const reasonsOf = ({ networks, deliveries, readers }: ServerStatus): Reason[] => [
  ...networks.flatMap(reasonsOfNetwork),
  ...(deliveries ? reasonsOfDeliveries(deliveries) : []),
  ...(readers ? reasonsOfReaders(readers) : []),
]

/** Null where what is there to be done is done: a back-fill takes its time. */
const WAIT_REASONS: Readonly<Record<WaitReason['kind'], readonly [ReasonType, reason: string] | null>> = {
  node: ['nodes_failing', 'none of its nodes answers'],
  chain: ['wrong_chain', 'its nodes are of another chain'],
  block: ['no_new_block', 'its nodes answer, but no new block could be had from them for too long'],
  disk: ['disk_full', 'the disk is full: blocks are stored again when there is room'],
  store: ['store_not_written', 'its store cannot be written now'],
  cluster: ['cluster_behind', 'its cluster takes no documents, and its store holds as many as it may'],
  rules: ['rules_waiting', 'a block waits for data that a rule needs and no node sends'],
  thread: ['network_stuck', 'its indexing threads have not reported'],
  budget: ['budget_used', 'the budgets of its nodes are used up'],
  slow: null,
  fill: null,
}

/** A yellow cluster answers all that is asked: copies are missing, which a node's loss needs. */
const reasonsOfCluster = ({ state, since, watermark, lost }: RemoteHealth): (Reason | false)[] => [
  state === 'unreachable' && { type: 'cluster_unreachable', since, reason: 'its cluster does not answer' },
  state === 'red' && { type: 'cluster_red', since, reason: 'its cluster has lost sight of some documents' },
  lost.length > 0 && { type: 'cluster_lost', reason: 'its cluster lost an index: searches that need it fail' },
  watermark === 'flood_stage' && {
    type: 'cluster_disk_full',
    reason: 'a disk of its cluster is so full that nothing is written',
  },
]

const STORES: Readonly<Record<NonNullable<NetworkState['store']>, Reason>> = {
  damaged: { type: 'store_damaged', reason: 'its store is damaged and is not searched' },
  unreadable: { type: 'store_unreadable', reason: 'its store cannot be read' },
}

const reasonOfState = ({ state, waiting, restarts }: NetworkState): Reason | undefined => {
  if (state === 'stopped') return { type: 'network_stopped', reason: 'indexing has stopped for good' }
  if (state === 'restarting')
    return { type: 'network_restarting', since: restarts!.endedAt, reason: 'its threads failed and restart' }
  const [type, reason] = (waiting && WAIT_REASONS[waiting.kind]) ?? []
  return type && reason ? { type, since: waiting!.since, reason } : undefined
}

const reasonsOfNetwork = (status: NetworkState): Reason[] => {
  const { network, store, cluster } = status
  const all = [...(cluster ? reasonsOfCluster(cluster) : []), store && STORES[store], reasonOfState(status)]
  return all.flatMap(one => (one ? [{ network, ...one }] : []))
}

const reasonsOfDeliveries = ({ state, restarts }: DeliveryHealth): Reason[] => {
  if (state === 'delivering') return []
  if (state !== 'restarting') return [{ type: 'deliveries_stuck', reason: 'the delivery thread cannot continue' }]
  const since = restarts ? { since: restarts.endedAt } : {}
  return [{ type: 'deliveries_stuck', ...since, reason: 'the delivery thread failed and restarts' }]
}

const reasonsOfReaders = ({ error }: ThreadsState): Reason[] =>
  error === null ? [] : [{ type: 'readers_lost', reason: 'no thread for longer queries can be started' }]

export const createReadinessLog = (log: Log) => {
  let known = new Map<string, { reason: Reason; at: number }>()
  return (reasons: readonly Reason[]) => {
    const now = new Map(reasons.map(reason => [`${reason.type} ${reason.network ?? ''}`, reason]))
    for (const [key, { type, network, reason, since }] of now)
      if (!known.has(key)) log.warn('Is not ready', { type, network, reason, since })
    for (const [key, { reason, at }] of known)
      if (!now.has(key))
        log.info('Is ready again', {
          ...{ type: reason.type, network: reason.network },
          seconds: Math.round((performance.now() - at) / 1_000),
        })
    known = new Map([...now].map(([key, reason]) => [key, known.get(key) ?? { reason, at: performance.now() }]))
  }
}
