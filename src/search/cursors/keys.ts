import { cursorKeyOf } from '../../engine/cursor-key.ts'
import { openForReading } from '../../engine/open.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import type { Db } from '../../sqlite/database.ts'

/** The keys by which ids of cursors are signed, by the file of the network's store, as the main thread reads them. */
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
