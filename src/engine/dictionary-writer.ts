import type { WritableDb } from '../sqlite/database.ts'
import type { SegmentBatch } from './documents/batch.ts'
import type { Additions } from './documents/derived-rows.ts'
import { manyInserter } from './documents/insert.ts'
import { createSimilarWriter } from './similarity-index.ts'

/** Writes additions of batches and revisions to the dictionaries once, and their tokens. */
export const createDictionaryWriter = (db: WritableDb) => {
  const insertAddress = manyInserter(db, 'address', 2, 64)
  const insertName = db.prepare('INSERT OR IGNORE INTO name (id, name) VALUES (?, ?)')
  const insertSignature = db.prepare(
    'INSERT OR IGNORE INTO signature (id, key, topic, indexed, abi, probability, error) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const similar = createSimilarWriter(db)
  const insertCode = db.prepare(
    'INSERT OR IGNORE INTO code (id, hash, size, selectors, topics, standard, source) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const insertToken = db.prepare(
    `INSERT INTO token (id, asked, decimals, name, symbol, standard, error, change) VALUES (?, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET asked = 1, change = excluded.change, decimals = excluded.decimals, name = excluded.name, symbol = excluded.symbol, error = excluded.error,
         standard = coalesce(excluded.standard, standard)`,
  )
  // A block that waited may know less than an answer that was stored since.
  const unlessAsked = ['decimals', 'name', 'symbol', 'error']
    .map(column => `${column} = iif(asked, ${column}, excluded.${column})`)
    .join(', ')
  // The token's lowest block sets the standard; only the contract's answers reveal ERC-4626.
  const unlessVault = "iif(standard = (SELECT id FROM name WHERE name = 'ERC-4626'), standard, excluded.standard)"
  const insertSight = db.prepare(
    `INSERT INTO token (id, decimals, name, symbol, standard, error, pos, change) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET change = excluded.change, ${unlessAsked}, standard = ${unlessVault}, pos = excluded.pos
       WHERE pos IS NULL OR pos > excluded.pos`,
  )
  const insertLink = db.prepare('INSERT OR REPLACE INTO link (id, code, kind, targets, pos) VALUES (?, ?, ?, ?, ?)')
  let change = (db.prepare('SELECT max(change) FROM token').pluck().get() as number | null) ?? 0
  let received: Additions[] = []
  const committed = new WeakSet<Additions>()

  const writeAdditions = ({ addresses, names, signatures, codes, tokens, links }: Additions) => {
    for (const { id, decimals, name, symbol, standard, error } of tokens)
      insertToken.run(id, decimals, name, symbol, standard, error, ++change)
    for (const { id, codeHash, delegation, position } of links)
      insertLink.run(
        id,
        codeHash === null ? null : joinedHexBytes([codeHash]),
        delegation?.kind ?? null,
        delegation && JSON.stringify(delegation.targets),
        position,
      )
    for (const { id, hash, size, selectors, topics, features, standard, source } of codes) {
      insertCode.run(
        id,
        joinedHexBytes([hash]),
        size,
        joinedHexBytes(selectors),
        joinedHexBytes(topics),
        standard,
        source,
      )
      similar.put(id, features)
    }
    // Sorted by bytes: neighbours in the unique index are written together.
    const order = addresses.texts.map((text, index) => ({ text, id: addresses.first + index }))
    order.sort((a, b) => (a.text < b.text ? -1 : 1))
    for (const { text, id } of order) insertAddress.add(id, Buffer.from(text, 'hex'))
    insertAddress.flush()
    for (const [index, name] of names.texts.entries()) insertName.run(names.first + index, name)
    for (const [index, entry] of signatures.entries.entries()) {
      const { key, topic, indexed, event, probability, error } = entry
      const bytes = topic && joinedHexBytes([topic])
      const abi = event && JSON.stringify(event)
      insertSignature.run(signatures.first + index, key, bytes, indexed, abi, probability, error)
    }
  }

  return {
    receive({ added }: Pick<SegmentBatch, 'added'>) {
      if (!received.includes(added) && !committed.has(added)) received.push(added)
    },
    /** Writes all that was received. Within a transaction. */
    write() {
      for (const added of received) writeAdditions(added)
    },
    /** The transaction is committed that wrote what was received. */
    committed() {
      for (const added of received) committed.add(added)
      received = []
    },
    writeSights(sights: SegmentBatch['sights']) {
      for (const { id, decimals, name, symbol, standard, error, position } of sights)
        insertSight.run(id, decimals, name, symbol, standard, error, position, ++change)
    },
    discard: insertAddress.discard,
  }
}

/** Concatenates hex texts of one size. */
const joinedHexBytes = (texts: readonly string[]): Buffer =>
  Buffer.from(texts.map(text => text.slice(2)).join(''), 'hex')
