import { type Limits, overNow } from '../limits/index.ts'
import { createAhead } from './ahead.ts'
import type { Search } from './reader-thread.ts'
import type { Answer, Pieces } from './service.ts'
import type { Reply, Threads } from './threads.ts'

/** Long answers, given piece by piece as they are read. */
export interface Streams {
  /** Whether the account may have one more. */
  mayOpen(account: number): boolean
  open(stream: { search: Search; account: number; first: Reply }): Pick<Answer, 'body' | 'pieces'>
}

export interface StreamsOptions {
  threads: Pick<Threads, 'ask' | 'drop' | 'isSpare'>
  limits: Limits
  nextId(): number
}

/** A client that takes less than this in the time of an unread stream does not read: about 4 kB a second. */
const PIECE = 256 << 10

export const createStreams = ({ threads, limits, nextId }: StreamsOptions): Streams => {
  const open = new Map<number, number>()
  const count = (account: number, more: number) => {
    const now = (open.get(account) ?? 0) + more
    if (now > 0) open.set(account, now)
    else open.delete(account)
    return now
  }

  return {
    mayOpen: account => (open.get(account) ?? 0) < limits.streams,
    open({ search, account, first: { message, thread } }) {
      if (message.type !== 'answer') throw new Error(`a reading thread answered ${message.type}`)
      if (count(account, 1) > limits.streams) {
        count(account, -1)
        threads.drop(thread, search.id)
        throw overNow('streams', limits)
      }
      const ending = new AbortController()
      const { signal } = ending
      const ahead = createAhead({ threads, search, account, first: { message, thread }, signal, nextId })
      let unread: NodeJS.Timeout | undefined
      /** What of the part at hand is still to be read. In pieces: that a slow client takes one shows that it reads. */
      let left: Uint8Array = message.body
      let more = true

      let isOver = false
      const end = () => {
        if (isOver) return
        isOver = true
        clearTimeout(unread)
        count(account, -1)
        ahead.end()
      }
      const fail = (reason: unknown) => {
        if (isOver) return
        end()
        ending.abort(reason)
      }
      const watch = () => {
        unread = setTimeout(() => fail(overNow('unreadStream', limits)), limits.unreadStream).unref()
      }
      const pieces: Pieces = {
        signal,
        cancel: (reason = new Error('nobody wants the rest of the answer')) => fail(reason),
        async next() {
          signal.throwIfAborted()
          clearTimeout(unread)
          try {
            while (left.length === 0 && more) ({ body: left, more } = await ahead.next())
          } catch (error) {
            fail(error)
            throw error
          }
          const piece = left.subarray(0, PIECE)
          left = left.subarray(PIECE)
          if (more || left.length > 0) watch()
          else end()
          return piece.length > 0 ? piece : undefined
        },
      }
      watch()
      return { pieces, body: streamOf(pieces) }
    },
  }
}

/** Copies, since readers of streams keep what they get. */
const streamOf = ({ next, cancel, signal }: Pieces): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal.addEventListener('abort', () => controller.error(signal.reason))
      },
      async pull(controller) {
        const piece = await next()
        if (piece) controller.enqueue(piece.slice())
        else controller.close()
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
