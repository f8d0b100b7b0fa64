import { retry, stop } from '../lib/errors.ts'
import type { WritableDb } from '../sqlite/database.ts'
import type { Additions, Batch } from './documents/batch.ts'
import { RECORD_KINDS, type RecordKind } from './documents/forms.ts'
import { manyInserter, recordInserter, rowInserter } from './documents/insert.ts'
import { createMerging } from './index/merge.ts'
import { type Column, columnsOfNumbers } from './index/points.ts'
import { groupPairs, type Postings } from './index/postings.ts'
import { createReviser, type SortedRevision, sortRevision } from './index/revise.ts'
import type { Revision } from './index/revision.ts'
import { segmentInserter } from './index/segments.ts'
import { cut } from './index/truncate.ts'
import { PLACES } from './schema.ts'
import { createSimilar } from './similar.ts'

/** The one writer of a network's store. Every verb is one transaction: it holds whole blocks or nothing. */
export interface Writer {
  /**
   * Takes note of what a batch adds to the dictionaries. Batches may be applied in another order than they were built in; each
   * that comes is received first, so that whichever is applied next brings along all ids that it may use. So may revisions.
   */
  receive(batch: Pick<Batch, 'added'>): void
  /** Writes a run of blocks that is not stored yet, and what `within` writes, in one transaction. */
  apply(batch: Batch, within?: () => void): void
  /**
   * Merges small segments around a block, one step at a time: returns whether there may be more to merge. Apart from `apply`, since nobody
   * who waits for a block should wait for this.
   */
  merge(block: number): boolean
  /** First blocks of the newest segments, the oldest first: a program that was killed may have left some to merge. */
  small(): number[]
  /** Removes all blocks above this one. Below 0 another chain begins, and what was learnt of tokens and other contracts goes too. */
  rollback(to: number, within?: () => void): void
  /** Puts other decodings in place of those of some documents; false where the segment is no more: then they are to be looked at anew. */
  revise(revision: Revision): boolean
  /** Only what `within` writes. */
  also(within: () => void): void
}

export const createWriter = (db: WritableDb): Writer => {
  const insert = { block: rowInserter(db, 'block', 6, 4), contract: rowInserter(db, 'contract', 9, 16) }
  const insertRecords: Record<RecordKind, ReturnType<typeof recordInserter>> = {
    tx: recordInserter(db, 'tx'),
    log: recordInserter(db, 'log'),
    trace: recordInserter(db, 'trace'),
    call: recordInserter(db, 'call'),
  }
  const insertPost = manyInserter(db, 'post', 5, 64)
  const insertNum = db.prepare('INSERT INTO num (segment, facet, n, vals, ords) VALUES (?, ?, ?, ?, ?)')
  const insertSegment = segmentInserter(db)
  const insertAddress = manyInserter(db, 'address', 2, 64)
  const insertName = db.prepare('INSERT OR IGNORE INTO name (id, name) VALUES (?, ?)')
  const insertSignature = db.prepare(
    'INSERT OR IGNORE INTO signature (id, key, topic, indexed, abi, probability, error) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const insertChainId = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('chain_id', ?)")
  const similar = createSimilar(db)
  const insertCode = db.prepare(
    'INSERT OR IGNORE INTO code (id, hash, size, selectors, topics, standard, source) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const insertToken = db.prepare(
    `INSERT INTO token (id, asked, decimals, name, symbol, standard, error, change) VALUES (?, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET asked = 1, change = excluded.change, decimals = excluded.decimals, name = excluded.name, symbol = excluded.symbol, error = excluded.error,
         standard = coalesce(excluded.standard, standard)`,
  )
  // A block that waited may know less than what was answered, and stored, meanwhile.
  const unlessAsked = ['decimals', 'name', 'symbol', 'error']
    .map(column => `${column} = iif(asked, ${column}, excluded.${column})`)
    .join(', ')
  // What it emits in its lowest block counts, in whatever order blocks come; that it is a vault too is what it answers.
  const unlessVault = "iif(standard = (SELECT id FROM name WHERE name = 'ERC-4626'), standard, excluded.standard)"
  const insertSight = db.prepare(
    `INSERT INTO token (id, decimals, name, symbol, standard, error, pos, change) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET change = excluded.change, ${unlessAsked}, standard = ${unlessVault}, pos = excluded.pos
       WHERE pos IS NULL OR pos > excluded.pos`,
  )
  const insertLink = db.prepare('INSERT OR REPLACE INTO link (id, code, kind, targets, pos) VALUES (?, ?, ?, ?, ?)')
  const insertUpgrade = db.prepare('INSERT INTO upgrade (pos, address, implementation) VALUES (?, ?, ?)')
  const newest = db.prepare('SELECT first FROM segment ORDER BY first DESC LIMIT 16').pluck()
  let change = (db.prepare('SELECT max(change) FROM token').pluck().get() as number | null) ?? 0
  // Where another chain begins, other contracts may stand at the same addresses.
  const forgetTokens = db.prepare('DELETE FROM token WHERE pos >= ? OR ? < 0')
  const forgetBlocks = db.prepare('DELETE FROM block WHERE number > ?')
  const forgetDocuments = [...RECORD_KINDS, 'contract'].map(table => db.prepare(`DELETE FROM ${table} WHERE pos >= ?`))
  const forgetLinks = db.prepare('DELETE FROM link WHERE pos >= ?')
  const forgetUpgrades = db.prepare('DELETE FROM upgrade WHERE pos >= ?')
  const overlapping = db.prepare('SELECT first, last FROM segment WHERE first <= ? AND last >= ?')

  const writeDictionaries = ({ addresses, names, signatures, codes, tokens, links }: Additions) => {
    for (const { id, decimals, name, symbol, standard, error } of tokens)
      insertToken.run(id, decimals, name, symbol, standard, error, ++change)
    for (const { id, codeHash, delegation, position } of links)
      insertLink.run(
        id,
        codeHash === null ? null : bytesOf([codeHash]),
        delegation?.kind ?? null,
        delegation && JSON.stringify(delegation.targets),
        position,
      )
    for (const { id, hash, size, selectors, topics, features, standard, source } of codes) {
      insertCode.run(id, bytesOf([hash]), size, bytesOf(selectors), bytesOf(topics), standard, source)
      similar.put(id, features)
    }
    // In the order of their bytes, so that neighbours in the unique index are written together.
    const order = addresses.texts.map((text, index) => ({ text, id: addresses.first + index }))
    order.sort((a, b) => (a.text < b.text ? -1 : 1))
    for (const { text, id } of order) insertAddress.add(id, Buffer.from(text, 'hex'))
    insertAddress.flush()
    for (const [index, name] of names.texts.entries()) insertName.run(names.first + index, name)
    for (const [index, entry] of signatures.entries.entries()) {
      const { key, topic, indexed, event, probability, error } = entry
      const bytes = topic === null ? null : Buffer.from(topic.slice(2), 'hex')
      insertSignature.run(
        signatures.first + index,
        key,
        bytes,
        indexed,
        event && JSON.stringify(event),
        probability,
        error,
      )
    }
  }

  const writeIndex = (segment: number, { terms, marks, counts, places, lists: bytes }: Postings, columns: Column[]) => {
    const lists = Buffer.from(bytes.buffer)
    let start = 0
    for (let i = 0; i < terms.length; i++) {
      const count = counts[i]!
      const place = places[i]!
      if (count === 1) insertPost.add(segment, terms[i]!, marks[i]!, 1, place)
      else {
        insertPost.add(segment, terms[i]!, marks[i]!, count, lists.subarray(start, place))
        start = place
      }
    }
    insertPost.flush()
    for (const { facet, values, ordinals } of columns)
      insertNum.run(segment, facet, ordinals.length, Buffer.from(values.buffer), Buffer.from(ordinals.buffer))
  }

  let received: Additions[] = []
  const receive = ({ added }: Pick<Batch, 'added'>) => {
    if (!received.includes(added) && !writtenAdditions.has(added)) received.push(added)
  }
  const writtenAdditions = new WeakSet<Additions>()
  const written = () => {
    for (const added of received) writtenAdditions.add(added)
    received = []
  }

  const apply = db.transaction((batch: Batch, postings: Postings, columns: Column[], within: () => void) => {
    const clash = overlapping.get(batch.last, batch.first) as { first: number; last: number } | undefined
    if (clash)
      throw stop(
        'block_stored',
        `blocks ${batch.first} to ${batch.last} meet blocks ${clash.first} to ${clash.last}, which are stored already`,
      )
    if (batch.chainId !== undefined) insertChainId.run(batch.chainId)
    for (const added of received) writeDictionaries(added)
    insert.block.add(batch.rows.block)
    insert.contract.add(batch.rows.contract)
    for (const kind of RECORD_KINDS) insertRecords[kind].add(batch.records[kind])
    for (const { id, decimals, name, symbol, standard, error, position } of batch.sights)
      insertSight.run(id, decimals, name, symbol, standard, error, position, ++change)
    for (const { position, address, implementation } of batch.upgrades)
      insertUpgrade.run(position, address, implementation)
    const segment = insertSegment(batch, batch.header, batch)
    writeIndex(segment, postings, columns)
    within()
  })

  const merging = createMerging(db, insertPost)
  const rollback = db.transaction((to: number, within: () => void) => {
    merging.abandon()
    cut(db, to, insertPost)
    const from = (to + 1) * PLACES
    for (const forget of forgetDocuments) forget.run(from)
    forgetBlocks.run(to)
    forgetTokens.run(from, to)
    forgetLinks.run(from)
    forgetUpgrades.run(from)
    within()
  })

  const merge = db.transaction(merging.step)

  const reviser = createReviser(db)
  const revise = db.transaction((revision: SortedRevision) => {
    for (const added of received) writeDictionaries(added)
    // What was put together of it so far is as it was before.
    merging.abandon()
    return reviser(revision)
  })

  const also = db.transaction((within: () => void) => within())

  /** Rows that wait to be inserted with others are gone with the transaction that failed. */
  const attempt = <T>(write: () => T): T => {
    try {
      return guard(() => {
        const result = write()
        db.settle()
        return result
      })
    } catch (error) {
      merging.abandon()
      for (const inserts of [insert, insertRecords, { insertPost, insertAddress }])
        for (const { discard } of Object.values(inserts)) discard()
      throw error
    }
  }

  return {
    receive,
    // Sorting needs no transaction.
    apply(batch, within = nothing) {
      receive(batch)
      const postings = groupPairs(batch.pairs)
      const columns = columnsOfNumbers(batch.numbers)
      attempt(() => apply.immediate(batch, postings, columns, within))
      written()
    },
    revise(revision) {
      receive(revision)
      const sorted = sortRevision(revision)
      const done = attempt(() => revise.immediate(sorted))
      written()
      return done
    },
    small: () => newest.all().reverse() as number[],
    merge: block => attempt(() => merge.immediate(block)),
    rollback: (to, within = nothing) => attempt(() => rollback.immediate(to, within)),
    also: within => attempt(() => also.immediate(within)),
  }
}

const nothing = () => {}

/** Hex texts of one size, one behind the other. */
const bytesOf = (texts: readonly string[]): Buffer => Buffer.from(texts.map(text => text.slice(2)).join(''), 'hex')

/** Turns what the operating system says into what the operator can do. */
const guard = <T>(write: () => T): T => {
  try {
    return write()
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (/^SQLITE_(FULL|IOERR_WRITE|IOERR_SHMSIZE)$/.test(code))
      throw retry(
        'disk_full',
        'the disk that holds the data folder is full: free some space, indexing goes on by itself',
        { cause: error, retryAfterMs: 5000 },
      )
    if (code.startsWith('SQLITE_READONLY'))
      throw stop('store_readonly', 'the data folder cannot be written to: check its owner and permissions', error)
    throw error
  }
}
