import { type Limits, overNow } from '../../limits/index.ts'

/** Lets an account run a number of simulations and tests at once; a further one must try again later. */
export type Gate = <T>(account: number, work: () => Promise<T>) => Promise<T>

export const createGate = (limits: Limits): Gate => {
  const busy = new Map<number, number>()
  return async (account, work) => {
    const count = busy.get(account) ?? 0
    if (count >= limits.simulations) throw overNow('simulations', limits)
    busy.set(account, count + 1)
    try {
      return await work()
    } finally {
      const left = busy.get(account)! - 1
      if (left > 0) busy.set(account, left)
      else busy.delete(account)
    }
  }
}
