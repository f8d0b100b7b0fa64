import { randomBytes } from 'node:crypto'
import { openForReading } from '../../engine/open.ts'
import { cursorKeyOf } from '../../engine/store-version.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { parseKeepAlive } from '../../query/dates/time-value.ts'
import type { SeenBlocks } from '../../query/request.ts'
import type { Db } from '../../sqlite/database.ts'
import { searchText } from '../answer-forms.ts'
import type { CursorService, NetworkCaller, SearchAnswer, SearchParams } from '../service.ts'
import { elsewhere, type UsedCursor } from './scroll-and-pit.ts'
import {
  type CursorHead,
  decodeHead,
  decodePit,
  decodeScroll,
  encodeState,
  type ScrollState,
  type Signing,
} from './state.ts'
import { createCursorTable } from './table.ts'

export interface CursorsOptions {
  limits: Limits
  now?: () => number
  /** The key that signs the network's ids. */
  key(network: string): Buffer
  /** Gives one page of a scroll. */
  page(asking: NetworkCaller & Pick<SearchParams, 'dialect'>, state: ScrollState): Promise<SearchAnswer>
  /** The stored blocks of a network. */
  seen(asking: NetworkCaller): Promise<SeenBlocks>
}

export interface Cursors extends CursorService {
  /** The first page of a scroll. */
  begin(asking: NetworkCaller & SearchParams & { scroll: string }): Promise<SearchAnswer>
  /** Records an answer as a page of a cursor; cancels it if the cursor was closed. */
  noteUse(account: number, cursor: UsedCursor, answer: Pick<SearchAnswer, 'pieces'>): void
}

const NOTHING_SEEN: SeenBlocks = { runs: [], marks: [] }

const newKey = () => randomBytes(12).toString('base64url')

export const createCursors = ({ limits, now = Date.now, key, page, seen }: CursorsOptions): Cursors => {
  const table = createCursorTable(limits, now)

  const signingOf = (network: string): Signing => ({ key: key(network), limits })

  const begin: Cursors['begin'] = ({ account, signal, network, body, scroll, dialect, entities, parameters }) => {
    const keepAliveMs = parseKeepAlive('scroll', scroll)
    table.mayOpen(account)
    const time = now()
    const state: ScrollState = {
      ...{ kind: 'scroll', key: newKey(), network, until: time + keepAliveMs, keepAliveMs },
      ...{ asked: { entities, parameters }, now: time, page: 0, total: 0, after: undefined, seen: NOTHING_SEEN },
      body: searchText(body),
    }
    return page({ account, signal, network, dialect }, state)
  }

  const here = <S extends CursorHead>(state: S, network: string): S => {
    if (state.network === network) return state
    throw elsewhere(state)
  }

  return {
    begin,
    noteUse(account, cursor, { pieces }) {
      try {
        if (cursor.kind === 'pit') table.check(account, { ...cursor, until: cursor.was })
        const open = table.use(account, cursor, cursor.until)
        open.id = cursor.id
        open.page = Math.max(open.page, cursor.page)
        if (open.page === cursor.page) open.after = cursor.after
      } catch (error) {
        pieces?.cancel()
        throw error
      }
    },
    async scroll({ id, scroll, ...asking }) {
      const keepAlive = scroll === undefined ? undefined : parseKeepAlive('scroll', scroll)
      const state = here(decodeScroll(id, signingOf(asking.network)), asking.network)
      const open = table.check(asking.account, state)
      const keepAliveMs = keepAlive ?? state.keepAliveMs
      // A client may send the first id again and again: it gets page after page, too.
      const isStale = open !== undefined && state.page === 1 && open.page > 1
      const at = isStale ? { page: open.page, after: open.after } : {}
      return page(asking, { ...state, ...at, keepAliveMs, until: now() + keepAliveMs })
    },
    async openPit({ account, signal, network, entities, keepAlive, dialect }) {
      const keepAliveMs = parseKeepAlive('keep_alive', keepAlive)
      table.mayOpen(account)
      const opened = now()
      const state = {
        ...({ kind: 'pit', key: newKey(), network, until: opened + keepAliveMs, keepAliveMs } as const),
        ...{ entities, opened, dialect, seen: await seen({ account, signal, network }) },
      }
      const id = encodeState(state, key(network))
      table.use(account, state, state.until).id = id
      return { id, opened, keepAliveMs }
    },
    close({ account, network, kind, ids }) {
      if (ids === 'all')
        return table.open(account, kind, network).flatMap(one => (table.close(account, one) ? [one.id ?? ''] : []))
      if (ids.length > limits.cursorIds) throw overLimit('cursorIds', limits)
      const signing = signingOf(network)
      // All are read before the first is closed.
      const heads = Array.from(new Set(ids), id => [id, decodeHead(kind, id, signing)] as const)
      return heads.flatMap(([id, head]) => (head?.network === network && table.close(account, head) ? [id] : []))
    },
    pits: ({ account, network }) =>
      table.open(account, 'pit', network).map(({ id = '' }) => {
        const { opened, keepAliveMs } = decodePit(id, signingOf(network))
        return { id, opened, keepAliveMs }
      }),
  }
}

/** Keys that sign cursor ids, by path of the network's store; read on the main thread. */
export interface CursorKeys {
  of(store: string): Buffer
  close(): void
}
export const createCursorKeys = (): CursorKeys => {
  const open = new Map<string, { db: Db; key(): Buffer }>()
  return {
    of(store) {
      let one = open.get(store)
      if (!one) {
        // The main thread waits for no lock.
        const db = openForReading(store, nativeBinding(), 0)
        one = { db, key: cursorKeyOf(db) }
        open.set(store, one)
      }
      return one.key()
    },
    close() {
      for (const { db } of open.values()) db.close()
      open.clear()
    },
  }
}
