import { stop } from '../../lib/errors.ts'
import { gapsIn } from '../../lib/ranges.ts'
import { COUNTED_KINDS } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import { createIndexIdentities, type PublishedIndices } from './index-identities.ts'
import type { PublishedState } from './shipped-ranges.ts'
import { createShippingState } from './shipping-state.ts'

/** Whether the store belongs to a process that only searches. */
export const isReplica = (db: Db): boolean =>
  db.prepare("SELECT 1 FROM meta WHERE key = 'mirror'").pluck().get() !== undefined

/** Coverage published by another process; undefined where the store itself has it. */
export const publishedCoverage = (db: Pick<Db, 'prepare'>): unknown[] | undefined => {
  const text = db.prepare("SELECT value FROM meta WHERE key = 'told_coverage'").pluck().get()
  return text === undefined ? undefined : JSON.parse(text as string)
}

/** Throws if the store has indexed blocks of its own. */
export const createReplica = (db: Db) => {
  if (!isReplica(db) && db.prepare('SELECT 1 FROM segment LIMIT 1').get() !== undefined)
    throw stop(
      'store_not_mirror',
      `${db.name} holds blocks that were indexed here, and a server with role = "search" holds none: choose another data folder`,
    )
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('mirror', 1)").run()
  const shelf = createShippingState(db)
  const known = createIndexIdentities(db)
  const clearSegments = db.prepare('DELETE FROM segment')
  const counts = COUNTED_KINDS.map(kind => `"${kind}"`).filter(column => column !== '"block"')
  const insertSegment = db.prepare(
    `INSERT INTO segment (first, last, events, ${counts.join(', ')}, level, blocks, emptied, scoped) VALUES (?, ?, 0, ${counts.map(() => '0').join(', ')}, 9, x'', 1, ?)`,
  )
  const keepCoverage = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('told_coverage', ?)")
  const forgetCoverage = db.prepare("DELETE FROM meta WHERE key = 'told_coverage'")
  const hashOf = db.prepare<[number], Buffer>('SELECT hash FROM block WHERE number = ?').pluck()
  const deleteAbove = db.prepare('DELETE FROM block WHERE number > ?')
  const markMoved = db.prepare("INSERT OR IGNORE INTO meta (key, value) VALUES ('in_cluster', 0)")
  const insertBlock = db.prepare(
    "INSERT OR IGNORE INTO block (number, hash, time, hashes, ends, record) VALUES (?, ?, ?, x'', x'', x'')",
  )
  const take = db.transaction((told: PublishedState, indices?: PublishedIndices) => {
    const { whole = told.ranges, coverage = [] } = told
    // An older version does not publish coverage, and answers must not look complete.
    if (told.isPartial && coverage.length === 0)
      throw stop(
        'cluster_scopes',
        `${db.name} is that of a network with scopes, and the server that indexes does not report what they cover: start a newer version of it`,
      )
    shelf.adopt(told)
    if (indices) known.adopt(indices)
    markMoved.run()
    clearSegments.run()
    for (const { from, to } of told.ranges) {
      const inPart = gapsIn(whole, from, to)
      for (const run of inPart) insertSegment.run(run.from, run.to, 1)
      for (const run of gapsIn(inPart, from, to)) insertSegment.run(run.from, run.to, 0)
    }
    if (coverage.length === 0) forgetCoverage.run()
    else keepCoverage.run(JSON.stringify(coverage))
    const same = told.blocks.find(([number, hash]) => hashOf.get(number)?.toString('hex') === hash.slice(2))
    deleteAbove.run(same?.[0] ?? -1)
    for (const [number, hash, time] of told.blocks) insertBlock.run(number, Buffer.from(hash.slice(2), 'hex'), time)
  })
  return {
    /** `indices`: undefined if unchanged. */
    take: (told: PublishedState, indices?: PublishedIndices) => void take.immediate(told, indices),
    /** Serial of the identities of indices. */
    serial: known.serial,
  }
}
