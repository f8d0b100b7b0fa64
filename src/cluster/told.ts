import { laterThan } from '../engine/shelf.ts'
import { coalesce } from '../lib/scheduling/coalesce.ts'
import type { Cluster } from './cluster.ts'
import type { ClusterOptions } from './options.ts'
import { readState, stateIndexOf } from './state.ts'
import type { Visible } from './visible.ts'

export interface ToldOptions {
  cluster: Cluster
  naming: Pick<ClusterOptions, 'prefix'>
  network: string
  /** Whether another process may ship. */
  isFollowing(): boolean
}

const PATIENCE = { timeoutMs: 5_000, retries: 1 }

/**
 * What tells what may be shown, as who ships has told it in the cluster by now; undefined where this process ships. Searches that come together
 * ask once.
 */
export const createTold = ({ cluster, naming, network, isFollowing }: ToldOptions) => {
  const index = stateIndexOf(naming, network)
  const patient: Pick<Cluster, 'ask'> = { ask: request => cluster.ask({ ...request, ...PATIENCE }) }
  const read = coalesce(() => readState(patient, index))
  const visible = async (): Promise<Visible | undefined> => {
    const state = await read()
    return state && { hidden: [...state.hidden, laterThan(state.committed)], ranges: state.ranges }
  }
  return (): Promise<Visible | undefined> | undefined => (isFollowing() ? visible() : undefined)
}
