import type { Ahead } from './ahead.ts'
import type { Thread, Threads } from './threads.ts'

export interface BoundOptions {
  threads: Pick<Threads, 'ask' | 'drop'>
  thread: Thread
  /** The number of the search that the answer is to. */
  stream: number
  account: number
  signal: AbortSignal
  nextId(): number
}

/** The parts of a long answer that only the thread that has begun it can go on with. */
export const createBound = ({ threads, thread, stream, account, signal, nextId }: BoundOptions): Ahead => {
  let isOver = false
  return {
    async next() {
      const id = nextId()
      const { message } = await threads.ask({
        ...{ id, account, lane: 'cheap', bytes: 0, signal, isBound: true },
        home: () => thread,
        message: () => ({ type: 'more', id, stream, after: undefined, into: undefined }),
      })
      if (message.type !== 'part') throw new Error(`a reading thread answered ${message.type}`)
      isOver = !message.more
      return { body: message.body as Uint8Array, more: message.more }
    },
    end() {
      if (!isOver) threads.drop(thread, stream)
    },
  }
}
