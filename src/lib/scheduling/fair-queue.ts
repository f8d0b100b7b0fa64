/**
 * In which order tasks wait: `first` goes before everything; `cheap` is what may take little time; `dear` is what has turned out to take
 * much.
 */
export type Lane = 'first' | 'cheap' | 'dear'

/** Something that waits for its turn. */
export interface Waiting {
  /** Whose turn it uses up. */
  account: number
  lane: Lane
}

/** Tasks by lane; in each, the accounts take turns, and one account's tasks stay in their order. */
export interface FairQueue<T extends Waiting> {
  add(task: T): void
  /** Whether it was there. */
  remove(task: T): boolean
  /** Removes and gives the next one in a lane of those that are allowed now. */
  take(lane: Lane, allowed: (task: T) => boolean): T | undefined
  /** How many of an account wait. */
  waiting(account: number): number
  all(): T[]
}

export const createFairQueue = <T extends Waiting>(): FairQueue<T> => {
  /** By account, whose turn it is first. */
  const lanes: Record<Lane, Map<number, T[]>> = { first: new Map(), cheap: new Map(), dear: new Map() }

  const removeAt = (lane: Map<number, T[]>, account: number, index: number): T => {
    const tasks = lane.get(account)!
    const [task] = tasks.splice(index, 1)
    if (tasks.length === 0) lane.delete(account)
    return task!
  }

  return {
    add(task) {
      const lane = lanes[task.lane]
      const tasks = lane.get(task.account)
      if (tasks) tasks.push(task)
      else lane.set(task.account, [task])
    },
    remove(task) {
      const lane = lanes[task.lane]
      const index = lane.get(task.account)?.indexOf(task) ?? -1
      if (index >= 0) removeAt(lane, task.account, index)
      return index >= 0
    },
    take(name, allowed) {
      const lane = lanes[name]
      for (const [account, tasks] of lane) {
        const index = tasks.findIndex(allowed)
        if (index < 0) continue
        const task = removeAt(lane, account, index)
        // An account that had its turn goes to the end.
        const left = lane.get(account)
        if (left && lane.delete(account)) lane.set(account, left)
        return task
      }
      return undefined
    },
    waiting: account => Object.values(lanes).reduce((sum, lane) => sum + (lane.get(account)?.length ?? 0), 0),
    all: () => Object.values(lanes).flatMap(lane => [...lane.values()].flat()),
  }
}
