import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { createShippedReader } from '../engine/shipping/shipped-ranges.ts'
import { createByteWriter } from '../lib/bytes.ts'
import { fromTransferredError, type TransferredError, toTransferredError } from '../lib/errors.ts'
import { networksIn } from '../search/index-names.ts'
import { searchSeveral } from '../search/multi-network.ts'
import type { OpenRemoteSearch } from '../search/store.ts'
import type { Cluster, ClusterAnswer, ClusterRequest } from './connection/cluster.ts'
import type { ClusterNetwork } from './query-client.ts'
import { createClusterSearcher } from './searcher.ts'
import { createPublishedVisibility } from './visibility.ts'

/** Properties of a network that a thread needs to search it. */
export type ThreadNetwork = Pick<ClusterNetwork, 'network' | 'naming'>

/** Searches several networks, some of them in clusters, in a reading thread. */
export const openThreadSearch: OpenRemoteSearch = ({ elsewhere, stores, index, deadlineMs, limits }) => {
  const calls = createCalls(elsewhere.port)
  const ending = new AbortController()
  const { signal } = ending
  const indexes = networksIn(index)
  const members = (elsewhere.networks as readonly (ThreadNetwork | undefined)[]).map((one, i) => {
    if (!one) return { searcher: stores[i]!().searcher, index: indexes[i]! }
    const { reader } = stores[i]!()
    const { visible, isFollowing } = createShippedReader(reader.db)
    const cluster = { ...calls.of(one.network), close: async () => {} }
    const told = createPublishedVisibility({ ...one, cluster, isFollowing })
    const { searcherOf } = createClusterSearcher({ ...one, cluster, visible, told, reader, limits })
    return { searcher: searcherOf({ signal, deadlineMs }), index: indexes[i]!, isAway: true }
  })
  return {
    searcher: { ...searchSeveral(members), out: createByteWriter() },
    close() {
      ending.abort()
      calls.close()
    },
  }
}

/**
 * Reading threads send requests to clusters through the main thread, which has the connections and
 * knows which nodes answer. A port serves one search.
 */
type ClusterCall = { n: number; network: string; request: Omit<ClusterRequest, 'signal'> } | { cancel: number }

type ClusterReply = { n: number; answer: ClusterAnswer } | { n: number; failure: TransferredError }

/** Port for a thread that queries these clusters. Closing it aborts requests in progress. */
export const openCalls = (clusterOf: (network: string) => Pick<Cluster, 'ask'>): MessagePort => {
  const { port1: here, port2: there } = new MessageChannel()
  const open = new Map<number, AbortController>()
  const tell = (told: ClusterReply) => here.postMessage(told)
  const ask = async (n: number, network: string, request: ClusterRequest) => {
    const ending = new AbortController()
    open.set(n, ending)
    try {
      tell({ n, answer: await clusterOf(network).ask({ ...request, signal: ending.signal }) })
    } catch (error) {
      tell({ n, failure: toTransferredError(error) })
    } finally {
      open.delete(n)
    }
  }
  here.on('message', (call: ClusterCall) => {
    if ('cancel' in call) open.get(call.cancel)?.abort()
    else void ask(call.n, call.network, call.request)
  })
  here.on('close', () => {
    for (const ending of open.values()) ending.abort()
  })
  here.unref()
  return there
}

/** The thread's end of the port. */
export const createCalls = (port: MessagePort) => {
  const waiting = new Map<number, PromiseWithResolvers<ClusterAnswer>>()
  let calls = 0
  port.on('message', (told: ClusterReply) => {
    // An answer may have been on its way when the search ended.
    const asked = waiting.get(told.n)
    waiting.delete(told.n)
    if ('answer' in told) asked?.resolve(withBuffer(told.answer))
    else asked?.reject(fromTransferredError(told.failure))
  })
  const tell = (call: ClusterCall) => port.postMessage(call)
  return {
    /** The cluster of a network's documents. */
    of: (network: string): Pick<Cluster, 'ask'> => ({
      ask({ signal, ...request }) {
        signal?.throwIfAborted()
        const n = ++calls
        const answer = Promise.withResolvers<ClusterAnswer>()
        waiting.set(n, answer)
        const cancel = () => tell({ cancel: n })
        signal?.addEventListener('abort', cancel, { once: true })
        tell({ n, network, request })
        return answer.promise.finally(() => signal?.removeEventListener('abort', cancel))
      },
    }),
    close() {
      port.close()
      for (const { reject } of waiting.values()) reject(new Error('the search has ended'))
      waiting.clear()
    },
  }
}

/** Messages carry bytes as plain arrays, not as buffers. */
const withBuffer = ({ bytes, ...answer }: ClusterAnswer): ClusterAnswer =>
  bytes ? { ...answer, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) } : answer
