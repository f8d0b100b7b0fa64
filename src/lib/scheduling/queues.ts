/** A task of a lane, which uses up a turn of its account. */
export interface Queued<L extends string> {
  account: number
  lane: L
}

/** Tasks by lane; in each, accounts take turns (round robin), so none starves the others. */
export const createFairQueue = <T extends Queued<string>>() => {
  /** Tasks by account, in the order of turns. */
  const lanes = new Map<T['lane'], Map<number, T[]>>()
  let size = 0

  const removeAt = (lane: Map<number, T[]>, account: number, index: number): T => {
    const tasks = lane.get(account)!
    const [task] = tasks.splice(index, 1)
    if (tasks.length === 0) lane.delete(account)
    size--
    return task!
  }

  return {
    get size(): number {
      return size
    },

    add(task: T) {
      const lane = lanes.get(task.lane) ?? new Map<number, T[]>()
      lanes.set(task.lane, lane)
      const tasks = lane.get(task.account)
      if (tasks) tasks.push(task)
      else lane.set(task.account, [task])
      size++
    },

    remove(task: T): boolean {
      const lane = lanes.get(task.lane)
      const index = lane?.get(task.account)?.indexOf(task) ?? -1
      if (lane && index >= 0) removeAt(lane, task.account, index)
      return index >= 0
    },

    /** Removes the first task that `serves` and `allows` accept, or an account's newest. */
    take(
      name: T['lane'],
      {
        serves,
        allows,
        newest = false,
      }: { serves?(account: number): boolean; allows?(task: T): boolean; newest?: boolean } = {},
    ): T | undefined {
      const lane = lanes.get(name)
      if (!lane) return undefined
      for (const [account, tasks] of lane) {
        if (serves?.(account) === false) continue
        const index = newest ? tasks.length - 1 : allows ? tasks.findIndex(allows) : 0
        if (index < 0) continue
        const task = removeAt(lane, account, index)
        // An account goes to the end after its turn.
        const left = lane.get(account)
        if (left && lane.delete(account)) lane.set(account, left)
        return task
      }
      return undefined
    },

    /** Number of waiting tasks of an account. */
    waiting(account: number): number {
      let count = 0
      for (const lane of lanes.values()) count += lane.get(account)?.length ?? 0
      return count
    },

    all: (): T[] => [...lanes.values()].flatMap(lane => [...lane.values()].flat()),
  }
}

/** Pops the least `at` first. */
export const createHeap = <T extends { at: number }>() => {
  const heap: T[] = []
  const swap = (a: number, b: number) => {
    const kept = heap[a]!
    heap[a] = heap[b]!
    heap[b] = kept
  }
  return {
    peek: (): T | undefined => heap[0],
    push(item: T) {
      let at = heap.push(item) - 1
      for (let up = (at - 1) >> 1; at > 0 && heap[up]!.at > heap[at]!.at; at = up, up = (at - 1) >> 1) swap(at, up)
    },
    pop() {
      const last = heap.pop()
      if (!last || heap.length === 0) return
      heap[0] = last
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2]
        let least = at
        if (left < heap.length && heap[left]!.at < heap[least]!.at) least = left
        if (right < heap.length && heap[right]!.at < heap[least]!.at) least = right
        if (least === at) return
        swap(at, least)
        at = least
      }
    },
  }
}

/** Lets several callers wait for a change; each then checks its own condition. */
export const createCondition = () => {
  const waiting = new Set<() => void>()
  return {
    /** Resolves with the next change; rejects with the signal's reason. */
    changed: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        const end = () => {
          waiting.delete(end)
          signal.removeEventListener('abort', end)
          if (signal.aborted) reject(signal.reason)
          else resolve()
        }
        waiting.add(end)
        signal.addEventListener('abort', end, { once: true })
      }),
    notify() {
      for (const end of [...waiting]) end()
    },
  }
}

/**
 * Works on several items at once and yields results in their order. `ahead`, read before each
 * start, bounds results under way or not taken yet. The first error in that order, or the signal,
 * ends it and aborts work under way.
 */
export async function* mapInOrder<T, R>(
  items: Iterable<T>,
  ahead: () => number,
  work: (item: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): AsyncGenerator<R, void> {
  signal.throwIfAborted()
  const controller = new AbortController()
  const abort = () => controller.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  const source = items[Symbol.iterator]()
  const under: Promise<R>[] = []
  try {
    for (;;) {
      while (under.length < Math.max(1, ahead())) {
        const next = source.next()
        if (next.done) break
        const result = work(next.value, controller.signal)
        // Its turn handles the rejection; until then it must not count as unhandled.
        result.catch(() => {})
        under.push(result)
      }
      const first = under.shift()
      if (first === undefined) return
      yield await first
      signal.throwIfAborted()
    }
  } finally {
    signal.removeEventListener('abort', abort)
    controller.abort(new Error('no longer wanted'))
    source.return?.()
  }
}
