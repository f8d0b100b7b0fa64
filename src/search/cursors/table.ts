import { refuse } from '../../lib/errors.ts'
import { type Limits, overNow } from '../../limits/index.ts'
import { MOST_KEEP_ALIVE_MS } from '../../query/dates/time-value.ts'
import type { After } from '../../query/request.ts'
import type { CursorHead } from './state.ts'

/**
 * Open cursors in memory: count per account, ids closed early, and each one's newest page.
 * Losing it is harmless: after a restart a closed id works again until its keep-alive ends.
 */
export interface CursorTable {
  /** Refuses cursors beyond the account's limit. */
  mayOpen(account: number): void
  /** Takes note of one that is used, and until when it stays open. Refuses one that is closed. */
  use(account: number, cursor: Omit<CursorHead, 'until'>, until: number): OpenCursor
  /** Throws where a cursor is closed, or its time is over. */
  check(account: number, cursor: CursorHead): OpenCursor | undefined
  /** Closes a cursor; false if it was closed already. */
  close(account: number, cursor: CursorHead): boolean
  /** Open cursors of an account. */
  open(account: number, kind: CursorHead['kind'], network: string): OpenCursor[]
}

export interface OpenCursor extends CursorHead {
  /** A scroll's pages so far, and where the last of them ended. */
  page: number
  after: After | undefined
  /** The newest id of a point in time. */
  id?: string
}

interface AccountCursors {
  open: Map<string, OpenCursor>
  /** Until when each would be open, by its key; the one that was closed last stands last. */
  closed: Map<string, number>
}

/** Closed ones that are remembered, for each that may be open. */
const REMEMBERED = 10

export const createCursorTable = (limits: Limits, now: () => number = Date.now): CursorTable => {
  const accounts = new Map<number, AccountCursors>()

  const of = (account: number): AccountCursors => {
    const own = accounts.get(account) ?? { open: new Map(), closed: new Map() }
    accounts.set(account, own)
    return own
  }
  /** A clock that was ahead when the cursor was used keeps nothing for longer. */
  const capped = (until: number) => Math.min(until, now() + MOST_KEEP_ALIVE_MS)
  const forgetOver = (own: Map<string, OpenCursor>) => {
    for (const [key, { until }] of own) if (until <= now()) own.delete(key)
  }
  const remember = (closed: AccountCursors['closed'], key: string, until: number) => {
    closed.delete(key)
    closed.set(key, until)
    for (const [oldest, until] of closed) {
      if (closed.size <= REMEMBERED * limits.cursors && until > now()) break
      closed.delete(oldest)
    }
  }
  const mayOpen = (account: number) => {
    const own = accounts.get(account)?.open
    if (!own || own.size < limits.cursors) return
    forgetOver(own)
    if (own.size >= limits.cursors) throw overNow('cursors', limits)
  }
  const check: CursorTable['check'] = (account, { kind, key, until }) => {
    const own = accounts.get(account)
    const known = own?.open.get(key)
    if (own?.closed.has(key) || capped(known?.until ?? until) <= now()) throw missingCursor(kind, key)
    return known
  }

  return {
    mayOpen,
    check,
    use(account, { kind, key, network }, until) {
      const own = of(account)
      if (own.closed.has(key)) throw missingCursor(kind, key)
      const known = own.open.get(key)
      if (!known) mayOpen(account)
      const one = known ?? { kind, key, network, until, page: 0, after: undefined }
      one.until = capped(Math.max(one.until, until))
      own.open.set(key, one)
      return one
    },
    close(account, cursor) {
      let known: OpenCursor | undefined
      try {
        known = check(account, cursor)
      } catch {
        return false
      }
      const { open, closed } = of(account)
      open.delete(cursor.key)
      remember(closed, cursor.key, capped(Math.max(cursor.until, known?.until ?? 0)))
      return true
    },
    open: (account, kind, network) =>
      Array.from(accounts.get(account)?.open.values() ?? []).filter(
        one => one.kind === kind && one.network === network && one.until > now(),
      ),
  }
}

/** As in Elasticsearch, but for the number, which ids do not have here. */
const missingCursor = (kind: CursorHead['kind'], key: string) =>
  refuse(
    'search_context_missing_exception',
    `No search context found for id [${key}]: this ${kind === 'pit' ? 'point in time' : 'scroll'} was closed, or its keep-alive is over. Open another one.`,
  )
