import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Cluster, ClusterAnswer, ClusterRequest } from '../cluster/cluster.ts'
import { type Failure, fromFailure, toFailure } from '../lib/failure.ts'

/**
 * Reading threads ask clusters through the main thread, which has the connections to them and knows which of their nodes answer. A port serves
 * one search.
 */
type Call = { n: number; network: string; request: Omit<ClusterRequest, 'signal'> } | { cancel: number }

type Told = { n: number; answer: ClusterAnswer } | { n: number; failure: Failure }

/** A port for a thread that is to ask these clusters. When it is closed, what is under way is given up. */
export const openCalls = (clusterOf: (network: string) => Pick<Cluster, 'ask'>): MessagePort => {
  const { port1: here, port2: there } = new MessageChannel()
  const open = new Map<number, AbortController>()
  const tell = (told: Told) => here.postMessage(told)
  const ask = async (n: number, network: string, request: ClusterRequest) => {
    const ending = new AbortController()
    open.set(n, ending)
    try {
      tell({ n, answer: await clusterOf(network).ask({ ...request, signal: ending.signal }) })
    } catch (error) {
      tell({ n, failure: toFailure(error) })
    } finally {
      open.delete(n)
    }
  }
  here.on('message', (call: Call) => {
    if ('cancel' in call) open.get(call.cancel)?.abort()
    else void ask(call.n, call.network, call.request)
  })
  here.on('close', () => {
    for (const ending of open.values()) ending.abort()
  })
  here.unref()
  return there
}

/** A thread's end of it. */
export interface Calls {
  /** The cluster that a network's documents lie in. */
  of(network: string): Pick<Cluster, 'ask'>
  close(): void
}

export const createCalls = (port: MessagePort): Calls => {
  const waiting = new Map<number, PromiseWithResolvers<ClusterAnswer>>()
  let calls = 0
  port.on('message', (told: Told) => {
    // An answer may have been on its way when the search ended.
    const asked = waiting.get(told.n)
    waiting.delete(told.n)
    if ('answer' in told) asked?.resolve(withBuffer(told.answer))
    else asked?.reject(fromFailure(told.failure))
  })
  const tell = (call: Call) => port.postMessage(call)
  return {
    of: network => ({
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

/** A message has bytes without what makes them a buffer. */
const withBuffer = ({ bytes, ...answer }: ClusterAnswer): ClusterAnswer =>
  bytes ? { ...answer, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) } : answer
