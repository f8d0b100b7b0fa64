import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '../config/index.ts'
import { about, type Finding } from './finding.ts'

/** The disk of the data folder: its kind, its space, and how soon it keeps what is written. */
export function* checkDisk({ data }: Pick<Config, 'data'>): Generator<Finding> {
  const folder = nearest(data)
  const { ok, warn, fail } = about('disk', data)
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch {
    yield fail(`${folder} cannot be written to`, `Give this user the folder (chown), or choose another with --data.`)
    return
  }
  const mount = mountOf(folder)
  if (mount && NETWORKED.test(mount.type))
    yield fail(
      `is on a network file system (${mount.type}), where SQLite cannot lock files safely`,
      'Choose a folder on a local disk with --data.',
    )
  if (isNoexec(mount) && isNoexec(mountOf(tmpdir())))
    yield warn(
      `is mounted noexec, and so is ${tmpdir()}: the executable has no place to unpack SQLite`,
      'Set TMPDIR to a folder whose disk may run programs.',
    )
  yield spaceOf(folder, data)
  // Checking a folder must not create it.
  if (folder === data) yield speedOf(folder)
  else yield ok('does not exist yet; it is created when it is needed')
}

const spaceOf = (folder: string, data: string) => {
  const { ok, warn, fail } = about('disk', data)
  const { bavail, blocks, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const text = `${gigabytes(free)} GB of ${gigabytes(blocks * bsize)} GB are free`
  const remedy = 'Free some space, keep fewer blocks (--keep-blocks, --keep-for), or move the data folder.'
  if (free < LEAST_FREE) return fail(text, remedy)
  return free < ENOUGH_FREE ? warn(text, remedy) : ok(text)
}

const speedOf = (folder: string) => {
  const { ok, warn } = about('disk', folder)
  const ms = syncTime(folder)
  const text = `a write is on the disk within ${ms.toFixed(1)} ms`
  return ms > SLOW_SYNC_MS
    ? warn(text, 'Use a local solid-state disk: rules and alerts wait for each such write.')
    : ok(text)
}

/** Median, in ms, of what SQLite does at a commit that must outlive a power cut. */
const syncTime = (folder: string): number => {
  const path = join(folder, `.doctor-${process.pid}`)
  const file = openSync(path, 'wx', 0o600)
  try {
    const page = Buffer.alloc(4096, 1)
    const times = Array.from({ length: SYNCS }, (_, i) => {
      const started = performance.now()
      writeSync(file, page, 0, page.length, i * page.length)
      fdatasyncSync(file)
      return performance.now() - started
    })
    return times.sort((a, b) => a - b)[SYNCS >> 1]!
  } finally {
    closeSync(file)
    rmSync(path, { force: true })
  }
}

/** The folder itself, or the one that it would be created in. */
export const nearest = (folder: string): string => {
  let at = folder
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at)
  return at
}

interface Mount {
  at: string
  type: string
  options: string[]
}

const isNoexec = (mount: Mount | undefined): boolean => mount?.options.includes('noexec') ?? false

/** Where Linux tells it. */
const mountOf = (folder: string): Mount | undefined => {
  let table: string
  try {
    table = readFileSync('/proc/mounts', 'utf8')
  } catch {
    return undefined
  }
  return parseMounts(table)
    .filter(({ at }) => folder === at || folder.startsWith(at === '/' ? '/' : `${at}/`))
    .reduce<Mount | undefined>(
      (best, it) => (best === undefined || it.at.length >= best.at.length ? it : best),
      undefined,
    )
}

export const parseMounts = (table: string): Mount[] =>
  table
    .split('\n')
    .map(line => line.split(' '))
    .filter(parts => parts.length >= 4)
    .map(([, at, type, options]) => ({
      at: at!.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
      type: type!,
      options: options!.split(','),
    }))

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1)

const NETWORKED = /^(nfs\d*|cifs|smb\d*|smbfs|9p|fuse\.(sshfs|s3fs|rclone|glusterfs)|ceph|glusterfs|afs|lustre)$/
const LEAST_FREE = 1e9
const ENOUGH_FREE = 10e9
const SYNCS = 21
const SLOW_SYNC_MS = 25
