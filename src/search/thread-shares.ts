import type { Queued } from '../lib/scheduling/queues.ts'

/** `first`: before all others; `cheap`: may take little time; `dear`: has taken long. */
export type QueuedTask = Queued<'first' | 'cheap' | 'dear'>

export interface SharesOptions {
  threads: number
  /** Dear tasks of an account at once; by default, what the threads allow. */
  most?: number
  /** Running time in milliseconds after which a task is dear. */
  cheapMs: number
  now?(): number
}

interface Share {
  running: number
  dear: number
  /** Mean milliseconds that its latest tasks took before they ended or became dear. */
  cost: number
  askedAt: number
}

/** Accounts with a lower mean may use all threads: others wait no longer than that. */
const LIGHT_MS = 10
/** Weight of the last task in the mean. */
const LAST_TASK_WEIGHT = 0.1
/** Accounts idle for longer need no reserved thread. */
const ACTIVE_MS = 60_000

export type Shares = ReturnType<typeof createShares>

/** Decides which accounts may have one more thread. */
export const createShares = ({ threads, most = threads, cheapMs, now = () => performance.now() }: SharesOptions) => {
  const accounts = new Map<number, Share>()
  /** Reserves a thread for cheap tasks and, if there are enough, another one for other accounts. */
  const mostDear = Math.max(1, threads - 1)
  const mostDearOfOne = Math.min(most, Math.max(1, mostDear - 1))
  let dear = 0

  const shareOf = (account: number): Share => {
    let share = accounts.get(account)
    if (!share) {
      share = { running: 0, dear: 0, cost: 0, askedAt: Number.NEGATIVE_INFINITY }
      accounts.set(account, share)
    }
    return share
  }
  const mayBeDear = (share: Share) => dear < mostDear && share.dear < mostDearOfOne
  const addDear = (share: Share, more: 1 | -1) => {
    dear += more
    share.dear += more
  }
  const isAlone = (share: Share) => {
    const from = now() - ACTIVE_MS
    for (const other of accounts.values()) if (other !== share && other.askedAt > from) return false
    return true
  }

  return {
    /** Whether the task may start: dear tasks and those of one account leave threads to others. */
    mayRun({ account, lane }: QueuedTask): boolean {
      if (lane === 'first') return true
      const share = shareOf(account)
      if (lane === 'dear') return mayBeDear(share)
      return share.cost < LIGHT_MS || share.running < mostDear || isAlone(share)
    },
    noneDear: (): boolean => dear === 0,
    began({ account, lane }: QueuedTask) {
      if (lane === 'first') return
      const share = shareOf(account)
      share.running++
      share.askedAt = now()
      if (lane === 'dear') addDear(share, 1)
    },
    /** A task that runs turns out to take long: whether it may go on as a dear one. */
    becameDear({ account }: QueuedTask): boolean {
      const share = shareOf(account)
      if (!mayBeDear(share)) return false
      addDear(share, 1)
      share.cost += LAST_TASK_WEIGHT * (cheapMs - share.cost)
      return true
    },
    /** `ms`: how long it ran. */
    ended({ account, lane }: QueuedTask, ms: number) {
      if (lane === 'first') return
      const share = shareOf(account)
      share.running--
      if (lane === 'dear') addDear(share, -1)
      else share.cost += LAST_TASK_WEIGHT * (ms - share.cost)
    },
  }
}
