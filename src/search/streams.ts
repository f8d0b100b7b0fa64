import type { Cursor } from '../engine/query/pages.ts'
import { type Limits, overNow } from '../limits/index.ts'
import type { Search } from './reader-thread.ts'
import type { Message, Reply, Thread, Threads } from './threads.ts'

/**
 * Long answers, given part by part as they are read. A thread that has begun one gives its parts best; where it is lost, or has made room
 * for others, another one goes on behind the last hit that was sent.
 */
export interface Streams {
  /** Whether the account may have one more. */
  mayOpen(account: number): boolean
  open(stream: { search: Search; account: number; first: Reply }): ReadableStream<Uint8Array>
}

export interface StreamsOptions {
  threads: Pick<Threads, 'ask' | 'drop'>
  limits: Limits
  nextId(): number
}

interface Stream {
  search: Search
  account: number
  /** Undefined where no thread has it. */
  thread: Thread | undefined
  at: Cursor | undefined
}

/** Whoever takes less in the time of an unread stream does not read: some 4 kB a second. */
const PIECE = 256 << 10

export const createStreams = ({ threads, limits, nextId }: StreamsOptions): Streams => {
  const open = new Map<number, number>()
  const count = (account: number, more: number) => {
    const now = (open.get(account) ?? 0) + more
    if (now > 0) open.set(account, now)
    else open.delete(account)
    return now
  }

  const homeOf = (stream: Stream): Thread | undefined => {
    if (stream.thread?.state === 'lost') stream.thread = undefined
    return stream.thread
  }

  const messageTo = (stream: Stream, thread: Thread, id: number): Message => {
    const home = homeOf(stream)
    if (home === thread) return { type: 'more', id, stream: stream.search.id }
    if (home) threads.drop(home, stream.search.id)
    stream.thread = thread
    return { type: 'resume', id, stream: stream.search.id, search: stream.search, after: stream.at }
  }

  const fetch = async (stream: Stream, signal: AbortSignal) => {
    const id = nextId()
    const { message } = await threads.ask({
      ...{ id, account: stream.account, lane: 'cheap', bytes: 0, signal },
      home: () => homeOf(stream),
      message: thread => messageTo(stream, thread, id),
      onYield() {
        stream.thread = undefined
      },
    })
    if (message.type !== 'part') throw new Error(`a reading thread answered ${message.type}`)
    stream.at = message.at ?? stream.at
    return message
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
      const stream: Stream = { search, account, thread, at: message.at }
      const ending = new AbortController()
      let next: ReturnType<typeof fetch> | undefined
      let unread: NodeJS.Timeout | undefined
      const end = (reason: unknown) => {
        if (ending.signal.aborted) return
        clearTimeout(unread)
        count(account, -1)
        ending.abort(reason)
        const home = homeOf(stream)
        if (home) threads.drop(home, search.id)
      }
      const ahead = () => {
        next = fetch(stream, ending.signal)
        next.catch(() => {})
      }
      const watch = (controller: ReadableStreamDefaultController) => {
        unread = setTimeout(() => {
          const error = overNow('unreadStream', limits)
          end(error)
          controller.error(error)
        }, limits.unreadStream).unref()
      }
      /** What of the part at hand is still to be read. */
      let left: Uint8Array = message.body
      /** In pieces: that a slow client takes one shows that it reads. */
      const give = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        controller.enqueue(left.subarray(0, PIECE))
        left = left.subarray(PIECE)
      }
      let more = true
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            give(controller)
            ahead()
            watch(controller)
          },
          async pull(controller) {
            clearTimeout(unread)
            try {
              if (left.length === 0) {
                const part = await next!
                // One part ahead: the thread makes the next while this one is sent.
                if (part.more) ahead()
                ;({ body: left, more } = part)
              }
              if (left.length > 0) give(controller)
              if (more || left.length > 0) watch(controller)
              else {
                end(undefined)
                controller.close()
              }
            } catch (error) {
              end(error)
              throw error
            }
          },
          cancel: end,
        },
        { highWaterMark: 1 },
      )
    },
  }
}
