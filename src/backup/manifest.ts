import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, refuse } from '../lib/errors.ts'
import { syncFolder, writeDurably } from '../lib/files.ts'

/** Contents of a backup folder, replaced atomically: files that it does not list are leftovers. */
export interface Manifest {
  format: typeof FORMAT
  version: number
  /** Version of Chainsieve that wrote it. */
  program: string
  takenAt: string
  /** Grows with each backup into the folder. */
  generation: number
  databases: BackedUp[]
  files: PlainFile[]
}

/** A database file of the data folder. */
export interface BackedUp {
  /** Its path in the data folder. */
  name: string
  /** The copy's path in the backup folder. */
  file: string
  pages: number
  /** Path and SHA-256 of the checksums of its pages, four bytes each, little-endian. */
  sums: { file: string; sha256: string }
  /** Path of pages not yet merged into the copy: see changes.ts. */
  changes: string | null
}

/** Any other file of the data folder. Its copy is named by its checksum. */
export interface PlainFile {
  name: string
  sha256: string
}

const FORMAT = 'chainsieve-backup'
/** Version of the layout of a backup folder. */
const VERSION = 1
const MANIFEST_FILE = 'backup.json'

export const newManifest = (program: string, generation: number): Manifest => ({
  format: FORMAT,
  version: VERSION,
  program,
  takenAt: new Date().toISOString(),
  generation,
  databases: [],
  files: [],
})

/** Undefined if the folder has no backup. */
export const readManifest = (folder: string): Manifest | undefined => {
  const path = join(folder, MANIFEST_FILE)
  if (!existsSync(path)) return undefined
  let read: Manifest
  try {
    read = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  } catch (error) {
    throw refuse('backup_damaged', `${path} cannot be read (${messageOf(error)}): take another backup.`, error)
  }
  if (read?.format !== FORMAT) throw refuse('backup_damaged', `${path} is not the manifest of a backup.`)
  if (read.version > VERSION)
    throw refuse(
      'backup_newer',
      `${folder} was written by a newer version of Chainsieve (${read.program}): use that version.`,
    )
  return read
}

/** Replaces the manifest atomically after a sync. */
export const writeManifest = (folder: string, manifest: Manifest) => {
  const path = join(folder, MANIFEST_FILE)
  writeDurably(`${path}-new`, `${JSON.stringify(manifest, null, 2)}\n`)
  renameSync(`${path}-new`, path)
  syncFolder(folder)
}

/** Paths in the backup folder that the manifest lists. */
export const namedIn = ({ databases, files }: Manifest): Set<string> =>
  new Set([
    MANIFEST_FILE,
    ...databases.flatMap(({ file, sums, changes }) => [file, sums.file, ...(changes === null ? [] : [changes])]),
    ...files.map(plainPath),
  ])

export const plainPath = ({ sha256 }: PlainFile): string => join('files', sha256)

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
