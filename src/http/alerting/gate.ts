import { type Limits, overNow } from '../../limits/index.ts'

/** Lets so many of an account's simulations and tests go on at once; one more is told to come again. */
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
