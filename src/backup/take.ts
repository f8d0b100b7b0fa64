import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { refuse, stop } from '../lib/errors.ts'
import { makePrivateFolder, writeDurably } from '../lib/files.ts'
import { pageSum } from '../sqlite/checksums.ts'
import type { Db } from '../sqlite/database.ts'
import { type FileSnapshot, openSnapshot, SNAPSHOT_RUN } from '../sqlite/snapshot.ts'
import { SQLITE_PAGE_BYTES } from '../sqlite/wal.ts'
import { applyChanges, comparePages, writeChanges, writeCopy } from './changes.ts'
import {
  type BackedUp,
  type Manifest,
  namedIn,
  newManifest,
  type PlainFile,
  plainPath,
  readManifest,
  sha256Of,
  writeManifest,
} from './manifest.ts'

export interface BackupOptions {
  data: string
  /** The folder of the backup. */
  folder: string
  /** Paths in the data folder, in the order of their snapshots. */
  databases: readonly string[]
  /** Other files of the backup. */
  files: readonly string[]
  /** Version of the program. */
  program: string
  /** Writes all pages, also unchanged ones. */
  full: boolean
  /** Throws for a database that belongs elsewhere. */
  check?: ((db: Db) => void) | undefined
  native?: string | undefined
}

export interface BackupStep {
  done: number
  total: number
}

export interface BackupSummary {
  databases: { name: string; pages: number; written: number }[]
  files: number
  /** Bytes of all copies. */
  bytes: number
  /** Bytes written to the backup folder. */
  written: number
}

/**
 * Copies a data folder in steps while others write to it. All snapshots are of one moment. Only
 * changes are written; a kill leaves the previous backup or the new one.
 */
export function* takeBackup(options: BackupOptions): Generator<BackupStep, BackupSummary> {
  const { data, folder, databases, check, native } = options
  const before = openFolder(folder)
  // Networks may be dropped, but top-level databases must never be missing.
  const lost = before?.databases.find(({ name }) => dirname(name) === '.' && !databases.includes(name))
  if (lost)
    throw refuse(
      'backup_would_lose',
      `${join(data, lost.name)} is missing, but the backup in ${folder} has it: restore that, or back up to another folder.`,
    )
  const snapshots: FileSnapshot[] = []
  try {
    for (const name of databases) snapshots.push(openSnapshot(join(data, name), native, check))
    return yield* copyAll(options, before, snapshots)
  } finally {
    for (const { close } of snapshots) close()
  }
}

const openFolder = (folder: string): Manifest | undefined => {
  makePrivateFolder(folder)
  const before = readManifest(folder)
  if (!before && readdirSync(folder).some(name => !BACKUP_TEMP.test(name)))
    throw refuse('backup_folder_used', `${folder} has other files: name an empty folder or an existing backup.`)
  if (before) settle(folder, before)
  return before
}

/** Leftovers of a backup that was killed before its manifest was written, and the lock. */
const BACKUP_TEMP = /^(backup\.json-new|files|networks|lock\..*|(accounts|deliveries)\.sqlite[-.].*)$/
/** File names of backups: no other file in the folder is removed. */
const GIVEN = /^(backup\.json-new|[0-9a-f]{64}|.*\.sqlite(-sums|-changes)?\.\d+)$/

/** Completes a killed backup: merges changed pages and removes leftovers. */
const settle = (folder: string, manifest: Manifest) => {
  let moved = false
  for (const entry of manifest.databases) {
    if (entry.changes === null) continue
    applyChanges(join(folder, entry.file), join(folder, entry.changes), entry.pages)
    entry.changes = null
    moved = true
  }
  if (moved) writeManifest(folder, manifest)
  const named = namedIn(manifest)
  for (const sub of ['', 'files', 'networks'])
    for (const entry of existsSync(join(folder, sub)) ? readdirSync(join(folder, sub), { withFileTypes: true }) : [])
      if (entry.isFile() && GIVEN.test(entry.name) && !named.has(join(sub, entry.name)))
        rmSync(join(folder, sub, entry.name))
}

function* copyAll(
  { data, folder, databases, files, program, full }: BackupOptions,
  before: Manifest | undefined,
  snapshots: readonly FileSnapshot[],
): Generator<BackupStep, BackupSummary> {
  const manifest = newManifest(program, (before?.generation ?? 0) + 1)
  const pages = snapshots.reduce((sum, snapshot) => sum + snapshot.pages, 0)
  // Each page is read twice: to copy it and to check it.
  const total = 2 * pages * SQLITE_PAGE_BYTES
  let done = 0
  const written: number[] = []
  for (const [i, snapshot] of snapshots.entries()) {
    const name = databases[i]!
    const base = full ? undefined : before?.databases.find(entry => entry.name === name)
    const steps = copyPages(snapshot, { folder, name, base, generation: manifest.generation })
    for (;;) {
      const step = steps.next()
      if (step.done) {
        manifest.databases.push(step.value.entry)
        written.push(step.value.written)
        break
      }
      yield { done: done + step.value * SQLITE_PAGE_BYTES, total }
    }
    done += snapshot.pages * SQLITE_PAGE_BYTES
  }
  let fileBytes = 0
  for (const name of files) {
    const { entry, bytes } = copyPlain(data, folder, name)
    manifest.files.push(entry)
    fileBytes += bytes
  }
  for (const { checkAgain } of snapshots) checkAgain()
  // From here on the new manifest is the backup.
  writeManifest(folder, manifest)
  settle(folder, manifest)
  for (const entry of manifest.databases) {
    for (const checked of checkCopy(folder, entry)) yield { done: done + checked * SQLITE_PAGE_BYTES, total }
    done += entry.pages * SQLITE_PAGE_BYTES
  }
  return {
    databases: manifest.databases.map(({ name, pages }, i) => ({ name, pages, written: written[i]! })),
    files: files.length,
    bytes: pages * SQLITE_PAGE_BYTES + fileBytes,
    written: written.reduce((sum, count) => sum + count, 0) * SQLITE_PAGE_BYTES + fileBytes,
  }
}

interface CopyOptions {
  folder: string
  name: string
  /** Existing copy. */
  base: BackedUp | undefined
  generation: number
}

/** Yields the page reached. */
function* copyPages(
  snapshot: FileSnapshot,
  { folder, name, base, generation }: CopyOptions,
): Generator<number, { entry: BackedUp; written: number }> {
  mkdirSync(dirname(join(folder, name)), { recursive: true, mode: 0o700 })
  const before = base && readSums(folder, base)
  const file = before ? base!.file : `${name}.${generation}`
  const changes = before ? `${name}-changes.${generation}` : null
  const writer = changes === null ? writeCopy(join(folder, file)) : writeChanges(join(folder, changes))
  const sums = new Uint32Array(snapshot.pages)
  for (let first = 1; first <= snapshot.pages; first += SNAPSHOT_RUN) {
    const count = Math.min(SNAPSHOT_RUN, snapshot.pages - first + 1)
    const known = snapshot.known(first, count)
    const same = before && known.every((sum, i) => sum !== undefined && sum === before[first + i - 1])
    if (same) sums.set(before.subarray(first - 1, first - 1 + count), first - 1)
    else {
      const content = snapshot.read(first, count)
      for (let page = first; page < first + count; page++) {
        const bytes = content.subarray((page - first) * SQLITE_PAGE_BYTES, (page - first + 1) * SQLITE_PAGE_BYTES)
        sums[page - 1] = pageSum(page, bytes)
        if (sums[page - 1] !== before?.[page - 1]) writer.put(page, bytes)
      }
    }
    yield first + count - 1
  }
  writer.finish()
  const bytes = new Uint8Array(sums.buffer)
  const sumsFile = `${name}-sums.${generation}`
  writeDurably(join(folder, sumsFile), bytes)
  const entry = { name, file, pages: snapshot.pages, sums: { file: sumsFile, sha256: sha256Of(bytes) }, changes }
  return { entry, written: writer.count }
}

/** Undefined if the checksums are damaged: then all pages are written again. */
const readSums = (folder: string, { sums, file }: BackedUp): Uint32Array | undefined => {
  if (!isFile(join(folder, sums.file)) || !isFile(join(folder, file))) return undefined
  const bytes = readFileSync(join(folder, sums.file))
  return sha256Of(bytes) === sums.sha256 ? new Uint32Array(new Uint8Array(bytes).buffer) : undefined
}

/** Whether the path is a regular file. */
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

const copyPlain = (data: string, folder: string, name: string): { entry: PlainFile; bytes: number } => {
  const content = readFileSync(join(data, name))
  const entry = { name, sha256: sha256Of(content) }
  const path = join(folder, plainPath(entry))
  makePrivateFolder(dirname(path))
  if (!isFile(path)) writeDurably(path, content)
  return { entry, bytes: content.length }
}

/** Yields the page up to which the copy matches its checksums; throws at a difference. */
export function* checkCopy(
  folder: string,
  entry: BackedUp,
  onPage?: (page: number, content: Buffer) => void,
): Generator<number, Uint32Array> {
  const sums = readSums(folder, entry)
  if (!sums || sums.length !== entry.pages) throw spoilt(folder, entry.sums.file, [])
  const copy = {
    file: join(folder, entry.file),
    changes: entry.changes === null ? null : join(folder, entry.changes),
  }
  let isDatabase = false
  const wrong = yield* comparePages(copy, sums, (page, content) => {
    if (page === 1) isDatabase = isFirstPage(content, entry.pages)
    onPage?.(page, content)
  })
  if (wrong.length > 0) throw spoilt(folder, entry.file, wrong)
  if (!isDatabase)
    throw stop(
      'backup_damaged',
      `${join(folder, entry.file)} is not a whole database, but what was left of ${entry.name} when it was backed up: restore another backup.`,
    )
  return sums
}

/** Checks magic, page size and page count of the header: SQLite file format, 1.3. */
const isFirstPage = (page: Buffer, pages: number): boolean =>
  page.toString('latin1', 0, 16) === 'SQLite format 3\0' &&
  page.readUInt16BE(16) === SQLITE_PAGE_BYTES &&
  page.readUInt32BE(28) > 0 &&
  page.readUInt32BE(28) <= pages

export const spoilt = (folder: string, file: string, pages: readonly number[]) => {
  const where =
    pages.length === 0 ? '' : ` (page ${pages.slice(0, 5).join(', ')}${pages.length > 5 ? ' and more' : ''})`
  return stop(
    'backup_damaged',
    `${join(folder, file)} does not match its checksums${where}: check the disk, and take a backup with --full or into another folder.`,
  )
}
