import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { refuse } from '../lib/errors.ts'
import { makePrivateFolder, PRIVATE_FILE, syncFile, syncFolder, writeDurably } from '../lib/files.ts'
import { makeSums } from '../sqlite/checksums.ts'
import { restoringFolder } from '../sqlite/lock.ts'
import { SQLITE_PAGE_BYTES } from '../sqlite/wal.ts'
import { type BackedUp, type Manifest, plainPath, readManifest, sha256Of } from './manifest.ts'
import { type BackupStep, checkCopy, spoilt } from './take.ts'

export interface RestoreOptions {
  /** The folder of the backup. */
  backup: string
  data: string
  /** Moves existing data aside. */
  force: boolean
}

export interface Restored {
  takenAt: string
  /** Folder with the previous content of the data folder; undefined if it was empty. */
  aside: string | undefined
}

/** Files that exist in a data folder regardless of its data. */
const NOT_RESTORED = /^(lock\.(sqlite|json)(-\w+)?|restoring|before-restore-.*|lost\+found)$/
/** Marks in the staging folder: all files are copied and checked; old files are moved aside. */
const COMPLETE = '.complete'
const CLEARED = '.cleared'

/** Verifies a whole backup; throws at the first difference. */
export function* checkBackup(backup: string): Generator<BackupStep, Manifest> {
  const manifest = openBackup(backup)
  const total = backupBytes(manifest)
  let done = 0
  for (const entry of manifest.databases) {
    for (const page of checkCopy(backup, entry)) yield { done: done + page * SQLITE_PAGE_BYTES, total }
    done += entry.pages * SQLITE_PAGE_BYTES
  }
  for (const file of manifest.files) readPlain(backup, file)
  return manifest
}

/**
 * Restores a data folder in steps. Files are staged and checked before old ones are moved: a kill
 * before that changes nothing, and after it the same command completes the restore.
 */
export function* restoreBackup({ backup, data, force }: RestoreOptions): Generator<BackupStep, Restored> {
  const staged = restoringFolder(data)
  const manifest = openBackup(backup)
  const cleared = join(staged, CLEARED)
  if (!existsSync(cleared)) {
    if (contentOf(data).length > 0 && !force)
      throw refuse(
        'data_folder_not_empty',
        `${data} is not empty: name another folder with --data, or add --force, which moves its content into a folder inside it.`,
      )
    rmSync(staged, { recursive: true, force: true })
    yield* stage(backup, manifest, staged)
    writeDurably(join(staged, COMPLETE), '')
    syncFolder(staged)
  }
  const aside = existsSync(cleared)
    ? readFileSync(cleared, 'utf8') || undefined
    : moveAside(data, join(data, `before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`))
  writeDurably(cleared, aside ?? '')
  for (const name of readdirSync(staged))
    if (name !== COMPLETE && name !== CLEARED) renameSync(join(staged, name), join(data, name))
  syncFolder(data)
  // In this order: after a kill the restore goes on to its end, or there is an empty folder, which stands for nothing.
  rmSync(join(staged, COMPLETE), { force: true })
  rmSync(cleared)
  rmdirSync(staged)
  return { takenAt: manifest.takenAt, aside }
}

const openBackup = (backup: string): Manifest => {
  const manifest = readManifest(backup)
  if (!manifest) throw refuse('no_backup', `${backup} is not a backup: name the folder that chainsieve backup wrote.`)
  for (const { name } of [...manifest.databases, ...manifest.files])
    if (name.split(/[\\/]/).includes('..') || name.startsWith(sep)) throw spoilt(backup, 'backup.json', [])
  return manifest
}

const backupBytes = ({ databases }: Manifest) =>
  databases.reduce((sum, { pages }) => sum + pages * SQLITE_PAGE_BYTES, 0)

const contentOf = (data: string): string[] =>
  existsSync(data) ? readdirSync(data).filter(name => !NOT_RESTORED.test(name)) : []

const moveAside = (data: string, aside: string): string | undefined => {
  const names = contentOf(data)
  if (names.length === 0) return undefined
  makePrivateFolder(aside)
  for (const name of names) renameSync(join(data, name), join(aside, name))
  syncFolder(aside)
  return aside
}

function* stage(backup: string, manifest: Manifest, staged: string): Generator<BackupStep, void> {
  makePrivateFolder(staged)
  const total = backupBytes(manifest)
  let done = 0
  for (const entry of manifest.databases) {
    for (const page of stageDatabase(backup, entry, staged)) yield { done: done + page * SQLITE_PAGE_BYTES, total }
    done += entry.pages * SQLITE_PAGE_BYTES
  }
  for (const file of manifest.files) {
    const path = join(staged, file.name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeDurably(path, readPlain(backup, file))
  }
}

function* stageDatabase(backup: string, entry: BackedUp, staged: string): Generator<number, void> {
  const path = join(staged, entry.name)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'w', PRIVATE_FILE)
  let sums: Uint32Array
  try {
    sums = yield* checkCopy(
      backup,
      entry,
      (page, content) => void writeSync(file, content, 0, SQLITE_PAGE_BYTES, (page - 1) * SQLITE_PAGE_BYTES),
    )
  } finally {
    closeSync(file)
  }
  syncFile(path)
  if (dirname(entry.name) === 'networks') makeSums(path, made => writeSums(made.write, sums)).close()
}

const writeSums = (write: (sums: Map<number, number>) => void, sums: Uint32Array) => {
  for (let at = 0; at < sums.length; at += 2 ** 16)
    write(new Map([...sums.subarray(at, at + 2 ** 16)].map((sum, i) => [at + i + 1, sum])))
}

const readPlain = (backup: string, file: Manifest['files'][number]): Buffer => {
  const path = join(backup, plainPath(file))
  const content = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  if (sha256Of(content) !== file.sha256) throw spoilt(backup, plainPath(file), [])
  return content
}
