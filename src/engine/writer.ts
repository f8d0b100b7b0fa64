import { retry, stop } from '../lib/errors.ts'
import type { Range } from '../lib/ranges.ts'
import { byKind, RECORD_KINDS } from '../mapping/index.ts'
import type { WritableDb } from '../sqlite/database.ts'
import { createNoteAltered } from './alterations.ts'
import { createChangedBlocks } from './changed.ts'
import { createCoverageWriter } from './coverage.ts'
import type { Additions } from './documents/additions.ts'
import type { Batch } from './documents/batch.ts'
import { blockInserter, contractInserter, manyInserter, recordInserter } from './documents/insert.ts'
import { createEmptying } from './empty.ts'
import { createMerging } from './index/merge.ts'
import { createReplacing } from './index/replacing.ts'
import { createReviser } from './index/revise.ts'
import { type Revision, revisedKinds } from './index/revision.ts'
import { segmentInserter } from './index/segments.ts'
import { createStructures } from './index/structure.ts'
import { truncate } from './index/truncate.ts'
import type { DocumentWriter, Replacement, Within } from './port.ts'
import { createPruning, type PruneLimits } from './prune.ts'
import { createReturning } from './returning.ts'
import { PLACES } from './schema.ts'
import { createShelfWriter, type ShelfWriter } from './shelf-writer.ts'
import { createSimilarWriter } from './similar.ts'

/** The writer of a store in SQLite. Every verb is one transaction. */
export interface Writer extends DocumentWriter {
  apply(batch: Batch, within?: Within): void
  replace(change: Replacement, within?: Within): boolean
  rollback(to: number, within?: Within): void
  revise(revision: Revision): boolean
  also(within: Within): void
  /**
   * Merges small segments around a block, one step at a time: returns whether there may be more to merge. Apart from `apply`, since nobody
   * who waits for a block should wait for this.
   */
  merge(block: number): boolean
  /** One step of taking old blocks out of the store; whether there may be more to do. `onHidden`: these are found no more. */
  prune(limits: PruneLimits, onHidden?: (blocks: Range) => void): boolean
  /**
   * One step of forgetting blocks of which these indices of a cluster lost documents that the store no longer has; whether there may be more to do. Afterwards
   * nothing is counted on what the indices hold.
   */
  forget(blocks: readonly Range[], indices: readonly string[]): boolean
  /** Which documents lie in a cluster. Its verbs are called in a transaction, such as that of `also`. */
  readonly shelf: ShelfWriter
  /** One step of removing documents that lie in a cluster; whether there may be more to do, and the first block of a segment that is emptied from now on. */
  empty(): { more: boolean; first: number | undefined }
  /** One step of bringing up to date what stores of an older version hold; whether there may be more to do. */
  modernize(): boolean
  /** Writes blocks whose documents lay in a cluster in place of an emptied segment that ends with them; false where that is no more. */
  restore(batch: Batch, segment: number): boolean
  /** What was restored last is the same as in the cluster. */
  verified(): void
  /** First blocks of the newest segments, the oldest first: a program that was killed may have left some to merge. */
  small(most?: number): number[]
}

export const createWriter = (db: WritableDb): Writer => {
  const insert = {
    block: blockInserter(db),
    contract: contractInserter(db),
  }
  const insertRecords = byKind(RECORD_KINDS, kind => recordInserter(db, kind))
  const structures = createStructures(db)
  const insertSegment = segmentInserter(db)
  const insertAddress = manyInserter(db, 'address', 2, 64)
  const insertName = db.prepare('INSERT OR IGNORE INTO name (id, name) VALUES (?, ?)')
  const insertSignature = db.prepare(
    'INSERT OR IGNORE INTO signature (id, key, topic, indexed, abi, probability, error) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const insertChainId = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('chain_id', ?)")
  const similar = createSimilarWriter(db)
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
  const insertUpgrade = db.prepare('INSERT OR REPLACE INTO upgrade (pos, address, implementation) VALUES (?, ?, ?)')
  const newest = db.prepare('SELECT first FROM segment ORDER BY first DESC LIMIT ?').pluck()
  let change = (db.prepare('SELECT max(change) FROM token').pluck().get() as number | null) ?? 0
  // Where another chain begins, other contracts may stand at the same addresses.
  const forgetTokens = db.prepare('DELETE FROM token WHERE pos >= ? OR ? < 0')
  const forgetBlocks = db.prepare('DELETE FROM block WHERE number > ?')
  const forgetDocuments = [...RECORD_KINDS, 'contract'].map(table => db.prepare(`DELETE FROM ${table} WHERE pos >= ?`))
  const forgetLinks = db.prepare('DELETE FROM link WHERE pos >= ?')
  const forgetUpgrades = db.prepare('DELETE FROM upgrade WHERE pos >= ?')
  const overlapping = db.prepare('SELECT first, last FROM segment WHERE first <= ? AND last >= ?')
  const rangeOf = db.prepare<[number], Range>('SELECT first AS "from", last AS "to" FROM segment WHERE id = ?')
  const coverage = createCoverageWriter(db)
  const noteAltered = createNoteAltered(db)
  const isStoredAbove = db.prepare('SELECT 1 FROM segment WHERE last > ? LIMIT 1').pluck()
  const replacing = createReplacing(db)

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

  let received: Additions[] = []
  const receive = ({ added }: Pick<Batch, 'added'>) => {
    if (!received.includes(added) && !writtenAdditions.has(added)) received.push(added)
  }
  const writtenAdditions = new WeakSet<Additions>()
  const written = () => {
    for (const added of received) writtenAdditions.add(added)
    received = []
  }

  const pruning = createPruning(db)
  const emptying = createEmptying(db)
  const returning = createReturning(db)
  const shelf = createShelfWriter(db)
  const changed = createChangedBlocks(db)
  /** What was shipped of these blocks is no longer all that there is of them. */
  const noteChanged = (range: Range) => {
    shelf.kill(range)
    changed.add(range)
  }
  type WriteIndex = readonly ((segment: number) => void)[]
  const put = (batch: Batch, writeIndex: WriteIndex) => {
    const clash = overlapping.get(batch.last, batch.first) as { first: number; last: number } | undefined
    if (clash)
      throw stop(
        'block_stored',
        `blocks ${batch.first} to ${batch.last} overlap the stored blocks ${clash.first} to ${clash.last}`,
      )
    pruning.makeRoom(batch.first, batch.last)
    emptying.forget({ from: batch.first, to: batch.last })
    noteChanged({ from: batch.first, to: batch.last })
    if (batch.chainId !== undefined) insertChainId.run(batch.chainId)
    insert.block.add(batch.blocks)
    insert.contract.add(batch.contracts)
    for (const kind of RECORD_KINDS) insertRecords[kind].add(batch.records[kind])
    for (const { id, decimals, name, symbol, standard, error, position } of batch.sights)
      insertSight.run(id, decimals, name, symbol, standard, error, position, ++change)
    for (const { position, address, implementation } of batch.upgrades)
      insertUpgrade.run(position, address, implementation)
    const segment = insertSegment(batch, batch.header)
    for (const write of writeIndex) write(segment)
  }
  const apply = db.transaction((batch: Batch, writeIndex: WriteIndex, within: () => void) => {
    for (const added of received) writeDictionaries(added)
    put(batch, writeIndex)
    within()
  })
  const replace = db.transaction(
    ({ batches, replaces, notes }: Replacement, writeIndexes: readonly WriteIndex[], within: () => void) => {
      if (!replacing.isSame(batches, replaces)) return false
      if (replaces.length > 0) merging.abandon()
      for (const id of replaces) {
        const range = rangeOf.get(id)!
        noteChanged(range)
        noteAltered('replaced', range)
      }
      const codes = replaces.flatMap(replacing.remove)
      for (const added of received) writeDictionaries(added)
      for (const [i, batch] of batches.entries()) put(batch, writeIndexes[i]!)
      replacing.restore(codes)
      coverage.note(notes)
      within()
      return true
    },
  )

  const restore = db.transaction((batch: Batch, segment: number, writeIndex: WriteIndex) => {
    if (!returning.take(batch, segment)) return false
    merging.abandon()
    for (const added of received) writeDictionaries(added)
    put(batch, writeIndex)
    return true
  })

  const merging = createMerging(db, structures.all)
  const rollback = db.transaction((to: number, within: () => void) => {
    merging.abandon()
    if (isStoredAbove.get(to) !== undefined) noteAltered('reorganised', { from: to + 1, to: Number.MAX_SAFE_INTEGER })
    truncate(db, to, structures)
    const from = (to + 1) * PLACES
    for (const forget of forgetDocuments) forget.run(from)
    forgetBlocks.run(to)
    forgetTokens.run(from, to)
    forgetLinks.run(from)
    forgetUpgrades.run(from)
    coverage.rollback(to)
    pruning.removed(to)
    emptying.forget({ from: to + 1, to: Number.MAX_SAFE_INTEGER })
    shelf.rollback(to)
    within()
  })

  const merge = db.transaction(merging.step)

  const prune = db.transaction((limits: PruneLimits) => {
    const hidden = pruning.hide(limits)
    if (hidden) merging.abandon()
    return { hidden, more: hidden !== undefined || pruning.sweep() || merging.step(NO_BLOCK) }
  })

  const forget = db.transaction((blocks: readonly Range[], indices: readonly string[]) => {
    for (const index of indices) shelf.renew(index)
    const hidden = pruning.forget(blocks)
    if (hidden) merging.abandon()
    return hidden || pruning.sweep()
  })

  const empty = db.transaction(() => {
    const first = emptying.mark()
    if (first !== undefined) merging.abandon()
    return { more: first !== undefined || emptying.sweep() || merging.step(NO_BLOCK), first }
  })

  const modernize = db.transaction(similar.addBits)

  const reviser = createReviser(db)
  const revise = db.transaction((revision: Revision, patchIndex: (() => void)[]) => {
    for (const added of received) writeDictionaries(added)
    // What was put together of it so far is as it was before.
    merging.abandon()
    const range = rangeOf.get(revision.segment)
    if (!reviser(revision)) return false
    noteAltered('decoded', range!, revisedKinds(revision))
    for (const patch of patchIndex) patch()
    return true
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
      for (const { discard } of [...Object.values(insert), ...Object.values(insertRecords), insertAddress]) discard()
      throw error
    }
  }

  return {
    receive,
    shelf,
    empty: () => attempt(() => empty.immediate()),
    // Sorting needs no transaction.
    apply(batch, within = nothing) {
      receive(batch)
      const writeIndex = structures.all.map(structure => structure.build(batch))
      attempt(() => apply.immediate(batch, writeIndex, within))
      written()
    },
    revise(revision) {
      receive(revision)
      const patchIndex = structures.all.map(structure => structure.patch(revision))
      const done = attempt(() => revise.immediate(revision, patchIndex))
      written()
      return done
    },
    replace(change, within = nothing) {
      for (const batch of change.batches) receive(batch)
      const writeIndexes = change.batches.map(batch => structures.all.map(structure => structure.build(batch)))
      const done = attempt(() => replace.immediate(change, writeIndexes, within))
      if (done) written()
      return done
    },
    restore(batch, segment) {
      receive(batch)
      const writeIndex = structures.all.map(structure => structure.build(batch))
      const done = attempt(() => restore.immediate(batch, segment, writeIndex))
      if (done) written()
      return done
    },
    verified: () => attempt(() => also.immediate(returning.verified)),
    small: (most = 16) => newest.all(most).reverse() as number[],
    merge: block => attempt(() => merge.immediate(block)),
    modernize: () => attempt(() => modernize.immediate()),
    prune(limits, onHidden = nothing) {
      const { hidden, more } = attempt(() => prune.immediate(limits))
      if (hidden) onHidden(hidden)
      return more
    },
    forget: (blocks, indices) => attempt(() => forget.immediate(blocks, indices)),
    rollback: (to, within = nothing) => attempt(() => rollback.immediate(to, within)),
    also: within => attempt(() => also.immediate(within)),
  }
}

const nothing = () => {}
/** Nothing is merged around it: what is no longer listed is removed. */
const NO_BLOCK = -1

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
        'the disk of the data folder is full: free some space, and indexing continues by itself',
        { cause: error, retryAfterMs: 5000 },
      )
    if (code.startsWith('SQLITE_READONLY'))
      throw stop('store_readonly', 'the data folder cannot be written to: check its owner and permissions', error)
    throw error
  }
}
