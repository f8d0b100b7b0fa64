import { openSpent } from '../chain/budget/spent-file.ts'
import { createRpcSource } from '../chain/rpc-source.ts'
import type { ReadQuestion, ReadStateAt, StateAnswer } from '../chain/source.ts'
import { spentStem } from '../engine/files.ts'
import { fromTransferredError, retry, type TransferredError, toTransferredError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Limits } from '../limits/index.ts'
import type { NodeOptions } from './messages.ts'

/** What the main thread asks the indexer thread, which has the nodes of the network and their budgets. */
export type StateRequest =
  | { type: 'read'; id: number; blockHash: string; questions: readonly ReadQuestion[] }
  /** Nobody waits for the answer any more. */
  | { type: 'leave'; id: number }

export type StateReply =
  | { type: 'read'; id: number; answers: StateAnswer[] }
  | { type: 'unread'; id: number; failure: TransferredError }

export const createStateRequests = (post: (request: StateRequest) => void) => {
  const open = new Map<number, { resolve(answers: StateAnswer[]): void; reject(reason: unknown): void }>()
  let ids = 0
  let ended = false

  const read: ReadStateAt = async (blockHash, questions, signal) => {
    signal.throwIfAborted()
    if (ended) throw notIndexing()
    const id = ++ids
    const { promise, ...waiting } = Promise.withResolvers<StateAnswer[]>()
    const leave = () => {
      post({ type: 'leave', id })
      waiting.reject(signal.reason)
    }
    open.set(id, waiting)
    signal.addEventListener('abort', leave, { once: true })
    post({ type: 'read', id, blockHash, questions })
    try {
      return await promise
    } finally {
      open.delete(id)
      signal.removeEventListener('abort', leave)
    }
  }

  return {
    read,
    take(reply: StateReply) {
      const waiting = open.get(reply.id)
      if (reply.type === 'read') waiting?.resolve(reply.answers)
      else waiting?.reject(fromTransferredError(reply.failure))
    },
    end() {
      ended = true
      for (const { reject } of open.values()) reject(notIndexing())
    },
  }
}

export const notIndexing = () =>
  retry('node_unreachable', 'the thread that has the nodes of the network is not running now: try again in a moment')

export const createStateReplies = (read: ReadStateAt, tell: (reply: StateReply) => void, ending: AbortSignal) => {
  const open = new Map<number, AbortController>()
  const answer = async (id: number, blockHash: string, questions: readonly ReadQuestion[], signal: AbortSignal) => {
    try {
      tell({ type: 'read', id, answers: await read(blockHash, questions, AbortSignal.any([signal, ending])) })
    } catch (error) {
      if (!signal.aborted)
        tell({ type: 'unread', id, failure: toTransferredError(ending.aborted ? notIndexing() : error) })
    } finally {
      open.delete(id)
    }
  }
  return (request: StateRequest) => {
    if (request.type === 'leave') return open.get(request.id)?.abort()
    const controller = new AbortController()
    open.set(request.id, controller)
    void answer(request.id, request.blockHash, request.questions, controller.signal)
  }
}

interface OwnNodes {
  data: string
  network: string
  node: NodeOptions
  limits: Limits
  log: Log
}

/** For a process without an indexer thread. What it spends counts for the others, too. */
export const openPastState = ({ data, network, node, limits, log }: OwnNodes) => {
  const source = createRpcSource({ ...node, limits, log, spent: openSpent(spentStem(data, network), log) })
  return { read: source.pastStateAt!, close: source.close }
}
