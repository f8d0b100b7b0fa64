import { stop } from '../lib/errors.ts'
import type { Db } from '../sqlite/database.ts'

/** Refuses a store to whoever looks for documents in it alone. */
export const checkWhole = (db: Db) => {
  const emptied = db
    .prepare<[], { first: number; last: number }>('SELECT first, last FROM segment WHERE emptied = 1 LIMIT 1')
    .get()
  if (emptied)
    throw stop(
      'store_in_cluster',
      inCluster(
        db,
        `It does not hold all documents: those of blocks ${emptied.first} to ${emptied.last}, for example, lie in an OpenSearch cluster alone`,
      ),
    )
}

/** With what to do about it. */
export const inCluster = ({ name }: Pick<Db, 'name'>, why: string): string =>
  `${name} cannot be searched itself. ${why}. Set store = "opensearch" and opensearch-url for the network, or see chainsieve move --to sqlite`
