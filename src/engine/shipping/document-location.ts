import { stop } from '../../lib/errors.ts'
import type { Db } from '../../sqlite/database.ts'
import { createUnverifiedRange } from './restore-offloaded.ts'
import { createShippingState } from './shipping-state.ts'

/**
 * Whether documents of a network are searched remotely. `meta.in_cluster`: since when, in epoch
 * milliseconds; 0 where the store never held them alone. Without it the store answers searches,
 * holds all documents and offloads none.
 */
export type DocumentLocation = ReturnType<typeof createDocumentLocation>

export const createDocumentLocation = (db: Db) => {
  const since = db.prepare<[], number>("SELECT value FROM meta WHERE key = 'in_cluster'").pluck()
  return {
    /** Since when, in epoch milliseconds; undefined where the store answers. */
    since: () => since.get(),
  }
}

/** Time from the switch to offloading: long answers that began earlier read the store. */
export const KEPT_AFTER_MS = 600_000
/** Time that such answers may continue. One part of them takes less than the remaining half. */
const READ_AFTER_MS = KEPT_AFTER_MS / 2

/** Call each method within a transaction. */
export const createLocationWriter = (db: Db, now: () => number = Date.now) => {
  const { since } = createDocumentLocation(db)
  const set = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('in_cluster', ?)")
  const forget = db.prepare("DELETE FROM meta WHERE key = 'in_cluster'")
  const any = db.prepare('SELECT 1 FROM segment LIMIT 1')
  const emptied = db.prepare('SELECT 1 FROM segment WHERE emptied = 1 LIMIT 1')
  const unverified = createUnverifiedRange(db)
  const shelf = createShippingState(db, now)
  const noteBack = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('came_back', 1)")
  const forgetBack = db.prepare("DELETE FROM meta WHERE key = 'came_back'")
  return {
    since,
    /** A store without documents, or emptied by an older version, switches at once. */
    begin() {
      if (since() === undefined && (any.get() === undefined || emptied.get() !== undefined)) set.run(0)
    },
    /** Ships everything again if the store answered in between without shipping changes. */
    renew() {
      if (forgetBack.run().changes === 0) return
      shelf.rollback(-1)
      shelf.lose(undefined)
    },
    /** Switches searches to the remote store. */
    move: () => void set.run(now()),
    /** Switches back to the store if it has all documents; returns whether it has. */
    back() {
      if (emptied.get() !== undefined || unverified.get()) return false
      if (forget.run().changes > 0) noteBack.run()
      return true
    },
  }
}

/** Throws if the documents may be offloaded at any moment. Call it before each read. */
export const createLocalDocumentsCheck = (db: Db, now: () => number = Date.now): (() => void) => {
  const { since } = createDocumentLocation(db)
  requireLocalDocuments(db)
  return () => {
    const at = since()
    if (at === undefined || now() - at < READ_AFTER_MS) return
    requireLocalDocuments(db)
    throw stop('store_in_cluster', remoteMessage(db, 'Its documents are searched in an OpenSearch cluster'))
  }
}

/** Throws if documents of the store are remote. */
export const requireLocalDocuments = (db: Db) => {
  const emptied = db
    .prepare<[], { first: number; last: number }>('SELECT first, last FROM segment WHERE emptied = 1 LIMIT 1')
    .get()
  if (emptied)
    throw stop(
      'store_in_cluster',
      remoteMessage(
        db,
        `It does not hold all documents: those of blocks ${emptied.first} to ${emptied.last}, for example, are in an OpenSearch cluster only`,
      ),
    )
}

/** Includes what to do about it. */
export const remoteMessage = ({ name }: Pick<Db, 'name'>, why: string): string =>
  `${name} cannot be searched itself. ${why}. Set store = "opensearch" and opensearch-url for the network, or see chainsieve move --to sqlite`
