import { refuse } from '../../lib/errors.ts'
import { type Limits, overNow } from '../../limits/index.ts'
import type { After } from '../../query/request.ts'
import type { CursorState } from './state.ts'

/**
 * Which cursors are open, in memory: how many an account has, which ones were closed before their time, and what the newest page of each was.
 * What is forgotten with a restart is no loss, since ids hold what is needed to go on: one that was closed is good again until its keep-alive is
 * over.
 */
export interface CursorTable {
  /** Refuses one more than the account may have. */
  mayOpen(account: number): void
  /** Takes note of one that is used, and until when it stays open. Refuses one that is closed. */
  use(account: number, state: Pick<CursorState, 'kind' | 'key' | 'network'>, until: number): Open
  /** Throws where a cursor is closed, or its time is over. */
  check(account: number, state: Pick<CursorState, 'kind' | 'key' | 'network' | 'until'>): Open | undefined
  /** Closes one; false where it was closed already. */
  close(account: number, state: Pick<CursorState, 'kind' | 'key' | 'network' | 'until'>): boolean
  /** Those of an account that are open. */
  open(account: number, kind: CursorState['kind'], network: string): Open[]
}

export interface Open {
  kind: CursorState['kind']
  key: string
  network: string
  until: number
  closed: boolean
  /** Of a scroll: pages that were given, and where the last of them ended. */
  page: number
  after: After | undefined
  /** Of a point in time: its newest id. */
  id?: string
}

/** Closed ones that are remembered, for each that may be open. */
const REMEMBERED = 10

export const createCursorTable = (limits: Limits, now: () => number = Date.now): CursorTable => {
  const accounts = new Map<number, Map<string, Open>>()

  /** Those that are not over. */
  const of = (account: number): Map<string, Open> => {
    const own = accounts.get(account) ?? new Map<string, Open>()
    accounts.set(account, own)
    return own
  }
  const tidy = (account: number) => {
    const own = of(account)
    const time = now()
    for (const [key, { until }] of own) if (until <= time) own.delete(key)
    const closed = Array.from(own.values()).filter(one => one.closed)
    for (const { key } of closed.slice(0, Math.max(0, closed.length - REMEMBERED * limits.cursors))) own.delete(key)
    if (own.size === 0) accounts.delete(account)
  }
  const count = (account: number) => {
    let open = 0
    for (const { closed } of accounts.get(account)?.values() ?? []) if (!closed) open++
    return open
  }
  const mayOpen = (account: number) => {
    if (count(account) < limits.cursors) return
    tidy(account)
    if (count(account) >= limits.cursors) throw overNow('cursors', limits)
  }
  const check: CursorTable['check'] = (account, { kind, key, until }) => {
    const known = accounts.get(account)?.get(key)
    if (known?.closed || (known?.until ?? until) <= now()) throw missing(kind, key)
    return known
  }

  return {
    mayOpen,
    check,
    use(account, { kind, key, network }, until) {
      const known = accounts.get(account)?.get(key)
      if (!known) mayOpen(account)
      const one = known ?? { kind, key, network, until, closed: false, page: 0, after: undefined }
      one.until = Math.max(one.until, until)
      of(account).set(key, one)
      return one
    },
    close(account, { kind, key, network, until }) {
      try {
        check(account, { kind, key, network, until })
      } catch {
        return false
      }
      const known = accounts.get(account)?.get(key)
      of(account).set(key, {
        ...{ kind, key, network, until: Math.max(until, known?.until ?? 0), closed: true, page: 0, after: undefined },
      })
      tidy(account)
      return true
    },
    open: (account, kind, network) =>
      Array.from(accounts.get(account)?.values() ?? []).filter(
        one => one.kind === kind && one.network === network && !one.closed && one.until > now(),
      ),
  }
}

/** As in Elasticsearch, but for the number, which ids do not have here. */
const missing = (kind: CursorState['kind'], key: string) =>
  refuse(
    'search_context_missing_exception',
    `No search context found for id [${key}]: this ${kind === 'pit' ? 'point in time' : 'scroll'} was closed, or its keep-alive is over. Open another one.`,
  )
