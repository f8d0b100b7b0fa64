import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statfsSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '../config/index.ts'
import { type Finding, findingsAbout } from './finding.ts'
import { newestStored } from './store.ts'

/** Times that the other checks saw. */
export interface ObservedTimes {
  /** Epoch milliseconds, and `performance.now()`, at the start. */
  startedAt: number
  started: number
  /** Newest blocks of nodes: epoch seconds, and when they came, in epoch milliseconds. */
  heads: { node: string; time: number; at: number }[]
}

/** Compares the clock with new blocks: these are never from the future unless the clock is slow. */
export function* checkClock(
  { data }: Pick<Config, 'data'>,
  { startedAt, started, heads }: ObservedTimes,
): Generator<Finding> {
  const { ok, warn, fail } = findingsAbout('clock', 'clock of this machine')
  const jumped = Date.now() - startedAt - (performance.now() - started)
  if (Math.abs(jumped) > JUMP_MS)
    yield warn(
      `it jumped by ${seconds(jumped)} s while it was looked at`,
      'Let the clock follow a time server (chrony).',
    )
  const stored = newestStored(data)
  const ahead = [
    ...heads.map(({ node, time, at }) => ({ what: `the newest block of ${node}`, ms: time * 1_000 - at })),
    ...(stored === undefined ? [] : [{ what: 'the newest stored block', ms: stored * 1_000 - Date.now() }]),
  ].toSorted((a, b) => b.ms - a.ms)[0]
  if (ahead === undefined) return yield ok('there is no block to compare it with')
  if (ahead.ms > MAX_BLOCK_AHEAD_MS)
    return yield fail(
      `${ahead.what} is ${seconds(ahead.ms)} s ahead of it: the clock is slow, or that chain's is fast`,
      'Set the clock, and let it follow a time server (chrony). Signatures of webhooks are refused by receivers whose clock differs.',
    )
  yield ok('no block is ahead of it')
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)

const JUMP_MS = 500
/** Chains allow blocks some seconds ahead of their time: Ethereum before the merge 15. */
const MAX_BLOCK_AHEAD_MS = 15_000

/** Whether other users may read or change the data folder and the config file with its keys. */
export function* checkModes({ data, file }: Pick<Config, 'data' | 'file'>): Generator<Finding> {
  if (process.platform === 'win32') return
  const { ok, warn, fail } = findingsAbout('files', data)
  const all = [...filesIn(data)]
  const own = process.getuid?.()
  const foreign = all.filter(({ stats }) => own !== 0 && stats.uid !== own)
  const readable = all.filter(({ stats }) => stats.isFile() && (stats.mode & 0o077) !== 0)
  const writable = all.filter(({ stats }) => stats.isDirectory() && (stats.mode & 0o022) !== 0)
  if (foreign.length > 0)
    yield fail(
      `${listFiles(foreign)} ${foreign.length === 1 ? 'belongs' : 'belong'} to another user`,
      `Run chainsieve as that user, or give this one the folder: chown -R ${own} ${data}`,
    )
  if (readable.length > 0)
    yield warn(`other users may open ${listFiles(readable)}`, `Keep others out: chmod -R go= ${data}`)
  if (writable.length > 0)
    yield warn(`other users may create files in ${listFiles(writable)}`, `Keep others out: chmod -R go-w ${data}`)
  if (foreign.length + readable.length + writable.length === 0 && all.length > 0)
    yield ok('nobody else may open what is stored')
  if (file !== undefined) yield configFile(file)
}

const configFile = (file: string) => {
  const { ok, warn } = findingsAbout('files', file)
  const mode = lstatSync(file).mode & 0o777
  return (mode & 0o077) === 0
    ? ok('nobody else may open the config file')
    : warn(
        `other users may open the config file (mode ${mode.toString(8)}), which may hold keys of nodes and passwords`,
        `Keep others out: chmod 600 ${file}`,
      )
}

interface FileMode {
  path: string
  stats: Stats
}

/** The folder and its content two levels deep, which is all of it. */
function* filesIn(folder: string, levels = 2): Generator<FileMode> {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (!stats) return
  yield { path: folder, stats }
  if (!stats.isDirectory() || levels === 0) return
  for (const name of readdirSync(folder)) yield* filesIn(join(folder, name), levels - 1)
}

const MAX_LISTED_FILES = 3

const listFiles = (found: readonly FileMode[]): string => {
  const names = found.slice(0, MAX_LISTED_FILES).map(({ path }) => path)
  return found.length > MAX_LISTED_FILES
    ? `${names.join(', ')} and ${found.length - MAX_LISTED_FILES} more`
    : names.join(', ')
}

/** The disk of the data folder: type, free space, and latency of a sync. */
export function* checkDisk({ data }: Pick<Config, 'data'>): Generator<Finding> {
  const folder = nearestFolder(data)
  const { ok, warn, fail } = findingsAbout('disk', data)
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
  const { ok, warn, fail } = findingsAbout('disk', data)
  const { bavail, blocks, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const text = `${formatGigabytes(free)} GB of ${formatGigabytes(blocks * bsize)} GB are free`
  const remedy = 'Free some space, keep fewer blocks (--keep-blocks, --keep-for), or move the data folder.'
  if (free < MIN_FREE_BYTES) return fail(text, remedy)
  return free < ENOUGH_FREE ? warn(text, remedy) : ok(text)
}

const speedOf = (folder: string) => {
  const { ok, warn } = findingsAbout('disk', folder)
  const ms = syncTime(folder)
  const text = `a write is on the disk within ${ms.toFixed(1)} ms`
  return ms > SLOW_SYNC_MS
    ? warn(text, 'Use a local solid-state disk: rules and alerts wait for each such write.')
    : ok(text)
}

/** Median latency, in ms, of SQLite's writes for a durable commit. */
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
const nearestFolder = (folder: string): string => {
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

/** Linux only. */
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

const formatGigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1)

const NETWORKED = /^(nfs\d*|cifs|smb\d*|smbfs|9p|fuse\.(sshfs|s3fs|rclone|glusterfs)|ceph|glusterfs|afs|lustre)$/
const MIN_FREE_BYTES = 1e9
const ENOUGH_FREE = 10e9
const SYNCS = 21
const SLOW_SYNC_MS = 25
