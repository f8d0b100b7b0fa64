import { DEFAULT_LIMITS, type Limits, overLimit } from '../../limits/index.ts'
import type { Lane } from '../scheduler.ts'
import type { Db } from './file.ts'

/** One destination may fill a tenth of the account's limit, so a dead one leaves room. */
const LANE_SHARE = 10
const COUNT_EVERY_MS = 1_000
/** Checks whether an account's queue is full, by counts that are up to a second old. */
export const createBacklogLimit = (db: Db) => {
  const queuedOf = db
    .prepare<[number], number>(`SELECT count(*) FROM delivery WHERE state = 'queued' AND account = ?`)
    .pluck()
  const inLane = db
    .prepare<[number, string], number>(
      `SELECT count(*) FROM delivery WHERE state = 'queued' AND account = ? AND destination = ?`,
    )
    .pluck()
  let countedAt = Number.NEGATIVE_INFINITY
  const accounts = new Map<number, number>()
  const lanes = new Map<string, number>()
  const countIn = ({ account, destination }: Lane): number => {
    const key = `${account} ${destination}`
    const count = lanes.get(key) ?? inLane.get(account, destination)!
    lanes.set(key, count + 1)
    return count
  }
  return (now: number, limits: Limits = DEFAULT_LIMITS) => {
    const most = limits.queuedDeliveries
    if (Math.abs(now - countedAt) >= COUNT_EVERY_MS) {
      countedAt = now
      accounts.clear()
      lanes.clear()
    }
    /** Why one more cannot be queued; undefined if it can. */
    return (lane: Lane): string | undefined => {
      const queued = accounts.get(lane.account) ?? queuedOf.get(lane.account)!
      if (queued >= most && countIn(lane) >= most / LANE_SHARE) return overLimit('queuedDeliveries', limits).message
      accounts.set(lane.account, queued + 1)
      return undefined
    }
  }
}
