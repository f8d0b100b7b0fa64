import { type HitCursor, isSamePlace } from '../engine/query/pages.ts'
import type { SearchTask } from './reader-messages.ts'
import { expectReply, type TaskMessage, type Thread, type ThreadReply, type Threads } from './thread-pool.ts'

/**
 * Later parts of a long answer, in order: one is made ahead or, if independent, several on idle
 * threads. Prefers threads that began the answer; if lost, another resumes after the last hit.
 */
export interface ReadAhead {
  /** The bytes are valid until the next call. */
  next(): Promise<{ body: Uint8Array; more: boolean }>
  /** Discards the rest. */
  end(): void
}

export interface ReadAheadOptions {
  threads: Pick<Threads, 'ask' | 'drop' | 'isSpare'>
  search: SearchTask
  account: number
  /** The answer that the first part came with. */
  first: { message: Extract<ThreadReply['message'], { type: 'answer' }>; thread: Thread }
  /** Whether only the thread that has begun the answer can go on with it. */
  isBound?: boolean
  /** Aborts with the answer. */
  signal: AbortSignal
  nextId(): number
}

/** Parts that are under way, or wait to be read. */
const MAX_PARTS = 3

interface PartInWork {
  after: HitCursor | undefined
  /** Its last hit, as far as that is known. */
  at: HitCursor | undefined
  slot: Slot | undefined
  isLast: boolean
  done: Promise<{ body: Uint8Array | number; more: boolean }>
}

export const createReadAhead = (options: ReadAheadOptions): ReadAhead => {
  const { threads, search, account, first, isBound = false, signal, nextId } = options
  const { isApart = false, body } = first.message
  /** Threads that have begun the answer. */
  const holders = new Set<Thread>([first.thread])
  const slots = createPartMemory(body.length)
  /** In the order of the answer. */
  let making: PartInWork[] = []
  let at = first.message.at
  let read: Slot | undefined

  const holder = (isIdle: boolean): Thread | undefined => {
    let busy: Thread | undefined
    for (const one of holders)
      if (one.state === 'lost') holders.delete(one)
      else if (one.state === 'idle') return one
      else busy ??= one
    return isIdle ? undefined : busy
  }

  const forget = (one: Thread) => {
    holders.delete(one)
    threads.drop(one, search.id)
  }

  const messageTo = (thread: Thread, id: number, { after, slot }: PartInWork): TaskMessage => {
    const about = { id, stream: search.id, after, into: slot?.memory }
    // If the only thread that can do it is gone, another one fails on this message.
    if (isBound || holders.has(thread)) return { type: 'more', ...about }
    // Otherwise parts depend on one another.
    if (!isApart) for (const other of holders) forget(other)
    holders.add(thread)
    return { type: 'resume', search, ...about }
  }

  const make = async (one: PartInWork, isHelp: boolean) => {
    const id = nextId()
    const { message, thread } = await threads.ask({
      ...{ id, account, lane: 'cheap', bytes: 0, signal, isBound },
      home: () => holder(isHelp),
      message: thread => messageTo(thread, id, one),
      onYield: thread => holders.delete(thread),
      onReached(last) {
        one.at = last
        help()
      },
    })
    const part = expectReply(message, 'part')
    // The thread has no further parts.
    if (!part.more) holders.delete(thread)
    one.at = part.at ?? one.after
    one.isLast = !part.more
    help()
    return part
  }

  const begin = (after: HitCursor | undefined, isHelp: boolean) => {
    const one: PartInWork = { after, at: undefined, slot: slots.take(), isLast: false, done: undefined! }
    making.push(one)
    one.done = make(one, isHelp)
    one.done.catch(() => {})
  }

  /** Begins one more part where its begin is known and a thread is free. */
  const help = () => {
    const last = making.at(-1)
    if (!isApart || signal.aborted || !last?.at || last.isLast || making.length >= MAX_PARTS) return
    if (threads.isSpare()) begin(last.at, true)
  }

  const nextPart = (): PartInWork => {
    // A part that was built again may not end where the part after it begins.
    if (making[0] && !isSamePlace(making[0].after, at)) making = []
    if (making.length === 0) begin(at, false)
    return making[0]!
  }

  begin(at, false)
  return {
    async next() {
      if (read) slots.give(read)
      read = undefined
      const part = nextPart()
      const { body, more } = await part.done
      making.shift()
      at = part.at
      if (more) nextPart()
      help()
      if (typeof body !== 'number') {
        if (part.slot) slots.give(part.slot)
        return { body, more }
      }
      read = part.slot
      return { body: part.slot!.bytes.subarray(0, body), more }
    },
    end() {
      for (const one of holders) forget(one)
    },
  }
}

interface Slot {
  memory: SharedArrayBuffer
  bytes: Uint8Array
}

/** Bytes of parts that are worth it, and of the largest memory. */
const MIN_SLOT_BYTES = 32 << 10
const MAX_SLOT_BYTES = 4 << 20

/**
 * Reused memory to pass parts of about `expected` bytes: new memory makes V8 collect constantly.
 * Memory of a failed part is never reused: its thread may still write to it.
 */
const createPartMemory = (expected: number) => {
  const free: Slot[] = []
  const size = Math.min(MAX_SLOT_BYTES, 2 * expected)
  return {
    /** Undefined where parts are too small to be worth it. */
    take(): Slot | undefined {
      if (expected < MIN_SLOT_BYTES) return undefined
      const used = free.pop()
      if (used) return used
      const memory = new SharedArrayBuffer(size)
      return { memory, bytes: new Uint8Array(memory) }
    },
    /** Nobody uses it any more. */
    give: (slot: Slot) => void free.push(slot),
  }
}
