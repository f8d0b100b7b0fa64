import type { PublishedIndices } from '../../engine/shipping/index-identities.ts'
import type { Hidden } from '../../engine/shipping/shipped-ranges.ts'
import type { Range } from '../../lib/ranges.ts'
import type { Cluster, ClusterOptions } from '../connection/cluster.ts'
import { expectOkText } from '../connection/expect-ok.ts'
import { baseOf } from '../indices/names.ts'

/**
 * Which documents of a network may be shown, as the writing process publishes it in the cluster.
 * Other processes that search there know nothing else.
 */
export interface SharedState {
  /** Term of the process that wrote it; see `lease.ts`. */
  term: number
  /** Grows with each state of one term. */
  sequence: number
  /** Batches above this one are not there yet. */
  committed: number
  hidden: readonly Hidden[]
  ranges: readonly Range[]
  /** Some of the shipped blocks, newest first: number, hash and time in epoch seconds. */
  blocks: readonly (readonly [number: number, hash: string, time: number])[]
  chainId?: number | undefined
  /** Whether some blocks are there in part, as scopes want them. */
  isPartial?: boolean | undefined
  /** Blocks that are there in full; present if scopes were searched for. */
  whole?: readonly Range[] | undefined
  /** Coverage of scopes, as status and answers show it. */
  coverage?: readonly unknown[]
  /** Hex key that signs ids of scrolls and points in time; absent if an old version wrote this. */
  cursorKey?: string | undefined
  /** Serial of the identities of indices, which are published separately. */
  indices?: string | undefined
}

/** Index of a network for data other than documents of the chain. */
export const stateIndexOf = (naming: Pick<ClusterOptions, 'prefix'>, network: string): string =>
  `${baseOf(naming, network)}-state`

/** Greatest number of batches and states of one term. */
const TERM_SIZE = 2 ** 32
/** Batches of a term exceed those of all terms before it. */
export const firstOfTerm = (term: number): number => term * TERM_SIZE

/**
 * Writes a state; false if a process with a greater term has begun to write: then nothing more may
 * be written. The cluster orders writers by version.
 */
export const publish = async (cluster: Cluster, index: string, state: SharedState): Promise<boolean> =>
  putValue(cluster, `/${index}/_doc/shelf`, firstOfTerm(state.term) + state.sequence, state)

/** Newest state, read in real time without waiting for a refresh; undefined if there is none. */
export const readState = (cluster: Pick<Cluster, 'ask'>, index: string): Promise<SharedState | undefined> =>
  getValue(cluster, `/${index}/_doc/shelf`)

/** Publishes the identities of indices before a state with their serial; false as with a state. */
export const publishIndices = async (
  cluster: Cluster,
  index: string,
  { term, sequence }: Pick<SharedState, 'term' | 'sequence'>,
  told: PublishedIndices,
): Promise<boolean> => putValue(cluster, `/${index}/_doc/indices`, firstOfTerm(term) + sequence, told)

/** Identities for a state; undefined if already known. Older versions write none. */
export const readIndices = async (
  cluster: Pick<Cluster, 'ask'>,
  index: string,
  { indices: serial }: Pick<SharedState, 'indices'>,
  known: string | undefined,
): Promise<PublishedIndices | undefined> => {
  if (serial === known) return undefined
  const told = serial === undefined ? undefined : await getValue<PublishedIndices>(cluster, `/${index}/_doc/indices`)
  return told ?? { serial: undefined, indices: {} }
}

const putValue = async (cluster: Cluster, path: string, version: number, value: object): Promise<boolean> => {
  const request = { method: 'PUT', path } as const
  const body = { value: JSON.stringify(value) }
  const answer = await cluster.ask({ ...request, body, query: { version, version_type: 'external_gte' } })
  if (answer.status === 409) return false
  expectOkText(answer, request, 'write the state of the network')
  return true
}

const getValue = async <T>(cluster: Pick<Cluster, 'ask'>, path: string): Promise<T | undefined> => {
  const request = { method: 'GET', path } as const
  const answer = await cluster.ask(request)
  if (answer.status === 404) return undefined
  const { _source } = JSON.parse(expectOkText(answer, request, 'read the state of the network')) as {
    _source: { value: string }
  }
  return JSON.parse(_source.value) as T
}

/** Creates the index if it does not exist yet. */
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
    expectOkText(answer, request, 'create the index of its state')
}
