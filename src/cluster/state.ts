import type { Range } from '../lib/ranges.ts'
import type { Cluster } from './cluster.ts'
import { baseOf } from './names.ts'
import { textOf } from './okay.ts'
import type { ClusterOptions } from './options.ts'
import type { Hidden } from './visible.ts'

/**
 * What of a network's documents may be shown, as who writes them tells it in the cluster: others that search there know it by
 * this alone.
 */
export interface SharedState {
  /** Of whoever wrote it; see `lease.ts`. */
  term: number
  /** Grows with each state of one term. */
  sequence: number
  /** Batches above this one are not there yet. */
  committed: number
  hidden: readonly Hidden[]
  ranges: readonly Range[]
  /** Some of the blocks that are there, the newest first: number, hash and time in epoch seconds. */
  blocks: readonly (readonly [number: number, hash: string, time: number])[]
  chainId?: number | undefined
  /** Whether some blocks are there in part, as scopes want them. */
  isPartial?: boolean | undefined
  /** Where some are, or were looked for: those that are there whole. */
  whole?: readonly Range[] | undefined
  /** What scopes looked for, as status and answers show it. */
  coverage?: readonly unknown[]
}

/** The index that holds what is not documents of the chain: one per network. */
export const stateIndexOf = (naming: Pick<ClusterOptions, 'prefix'>, network: string): string =>
  `${baseOf(naming, network)}-state`

/** Greatest number of batches and states of one term. */
export const TERM_SIZE = 2 ** 32
/** Batches of a term are greater than all of the terms before it. */
export const firstOfTerm = (term: number): number => term * TERM_SIZE

/**
 * Writes a state; false where another one has begun to write since, with a greater term: then nothing more may be
 * written. Who wrote before is told apart by the version alone, whose order the cluster holds.
 */
export const publish = async (cluster: Cluster, index: string, state: SharedState): Promise<boolean> => {
  const version = firstOfTerm(state.term) + state.sequence
  const request = { method: 'PUT', path: `/${index}/_doc/shelf` } as const
  const body = { value: JSON.stringify(state) }
  const answer = await cluster.ask({ ...request, body, query: { version, version_type: 'external_gte' } })
  if (answer.status === 409) return false
  textOf(answer, request, 'write the state of the network')
  return true
}

/** The newest state; undefined where none was written. It is read as it was written last, without waiting for a refresh. */
export const readState = async (cluster: Pick<Cluster, 'ask'>, index: string): Promise<SharedState | undefined> => {
  const request = { method: 'GET', path: `/${index}/_doc/shelf` } as const
  const answer = await cluster.ask(request)
  if (answer.status === 404) return undefined
  const { _source } = JSON.parse(textOf(answer, request, 'read the state of the network')) as {
    _source: { value: string }
  }
  return JSON.parse(_source.value) as SharedState
}

/** Makes the index where it is not there yet. */
export const makeStateIndex = async (
  cluster: Cluster,
  index: string,
  { replicas }: Pick<ClusterOptions, 'replicas'>,
): Promise<void> => {
  const request = { method: 'PUT', path: `/${index}` } as const
  const answer = await cluster.ask({
    ...request,
    body: {
      settings: { index: { number_of_shards: 1, number_of_replicas: replicas } },
      // Nothing in it is searched for.
      mappings: { dynamic: 'strict', properties: { value: { type: 'keyword', index: false, doc_values: false } } },
    },
  })
  if (!answer.text.includes('resource_already_exists_exception'))
    textOf(answer, request, 'create the index of its state')
}
