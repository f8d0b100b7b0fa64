import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { getAsset, getRawAsset } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { getEnvironmentData, setEnvironmentData, Worker, type WorkerOptions } from 'node:worker_threads'
import { messageOf, stop } from './errors.ts'

/**
 * Only this module depends on the program's form, which decides where data files are and how worker
 * threads and native code are loaded.
 *
 * - source: `src/main.ts`, with data in `data/`
 * - bundle: `dist/chainsieve.mjs`, which starts `dist/chainsieve.cjs`; data in `../data/`,
 *   native code in `dist/prebuilds/`
 * - executable: one file with the script, the data and the native code as assets
 */
declare const CHAINSIEVE_FORM: 'bundle' | 'executable'
declare const CHAINSIEVE_VERSION: string

const form = typeof CHAINSIEVE_FORM === 'undefined' ? 'source' : CHAINSIEVE_FORM
const root = form === 'source' ? new URL('../../', import.meta.url) : new URL('../', import.meta.url)

export const version: string =
  typeof CHAINSIEVE_VERSION === 'undefined'
    ? (JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string }).version
    : CHAINSIEVE_VERSION

/** Whether this is a build; built files in a checkout may be outdated. */
export const isBuilt = form !== 'source'

export const readAsset = (name: string): Buffer => {
  try {
    return form === 'executable' ? Buffer.from(getAsset(name)) : readFileSync(new URL(`data/${name}`, root))
  } catch (error) {
    throw missingAsset(name, error)
  }
}

/** Content of a built file in `dist/`; undefined in a fresh checkout. */
export const readBuilt = (name: string): Buffer | undefined => {
  if (form === 'executable') return isAsset(name) ? Buffer.from(getAsset(name)) : undefined
  const path = new URL(`dist/${name}`, root)
  return existsSync(path) ? readFileSync(path) : undefined
}

const isAsset = (name: string): boolean => {
  try {
    getRawAsset(name)
    return true
  } catch {
    return false
  }
}

export const readTextAsset = (name: string): string => readAsset(name).toString('utf8')

/**
 * Path of a `data/` file for this process only. The executable unfolds it on first use and leaves
 * nothing behind.
 */
export const assetFile = (name: string, dataFolder?: string): string => {
  if (form !== 'executable') {
    const path = fileURLToPath(new URL(`data/${name}`, root))
    if (!existsSync(path)) throw missingAsset(name)
    return path
  }
  let path = unfolded.get(name)
  if (path === undefined) {
    path = unfold(name, dataFolder)
    unfolded.set(name, path)
  }
  return path
}

/** Starts the program as a thread, with `{ role, data }` in `workerData`. */
export const startWorker = (role: string, data: unknown, options: Omit<WorkerOptions, 'workerData' | 'eval'> = {}) => {
  // Threads share the main thread's copy of SQLite, so it must be loaded first.
  nativeBinding()
  const workerOptions = { name: role, ...options, workerData: { role, data } }
  if (form === 'executable') return new Worker(FROM_ASSETS, { ...workerOptions, eval: true })
  if (form === 'source') return new Worker(sourceOfThreads(), workerOptions)
  return new Worker(fromBundle(), { ...workerOptions, eval: true })
}

/**
 * Value of better-sqlite3's `nativeBinding`: undefined to find it by itself, or the executable's
 * unfolded copy, the same in every thread: SQLite's locks need one copy of SQLite per process.
 */
export const nativeBinding = (dataFolder?: string): string | undefined => {
  if (form !== 'executable') return undefined
  const known = getEnvironmentData(NATIVE)
  if (typeof known === 'string') return known
  const path = unfold(NATIVE, dataFolder, loadAddon)
  setEnvironmentData(NATIVE_FOLDER, dataFolder)
  // Worker threads started from here on inherit it.
  setEnvironmentData(NATIVE, path)
  return path
}

/** As an option, absent if undefined. */
export const nativeOption = (dataFolder?: string): { native?: string } => {
  const native = nativeBinding(dataFolder)
  return native === undefined ? {} : { native }
}

/** Replaces better-sqlite3's search for native code in the executable. */
export const getBinding = (): unknown => {
  const path = nativeBinding()
  if (path === undefined) throw new Error('only the executable loads SQLite this way')
  return loadAddon(path)
}

/** npm package and file of sqlite-vec for a platform; package.json lists the existing packages. */
export const vectorExtensionOf = (platform: string = process.platform, arch: string = process.arch) => {
  const [system, suffix] = VECTOR_SYSTEMS.get(platform) ?? [platform, 'so']
  return { name: `sqlite-vec-${system}-${arch}`, file: `vec0.${suffix}` }
}

/** Calls `load` with a path of sqlite-vec; throws if it is missing or cannot be loaded. */
export const useVectorExtension = (load: (path: string) => unknown): unknown => {
  const { name, file } = vectorExtensionOf()
  if (form !== 'executable') return load(vectorExtensionIn(name, file))
  const known = unfolded.get(file)
  if (known !== undefined) return load(known)
  const folder = getEnvironmentData(NATIVE_FOLDER)
  return unfolded.set(file, unfold(file, typeof folder === 'string' ? folder : undefined, load))
}

const vectorExtensionIn = (name: string, file: string): string => {
  try {
    return createRequire(import.meta.url).resolve(`${name}/${file}`)
  } catch {
    throw new Error(`the npm package ${name}, which brings it, is not installed or does not exist`)
  }
}

const VECTOR_SYSTEMS: ReadonlyMap<string, readonly [system: string, suffix: string]> = new Map([
  ['win32', ['windows', 'dll']],
  ['darwin', ['darwin', 'dylib']],
])

/** Runs in each thread of the executable. The build's code cache loads ten times as fast. */
export const FROM_ASSETS = `
  const { getRawAsset } = require('node:sea')
  const [source, cachedData] = ['program.js', 'program.cache'].map(name => Buffer.from(getRawAsset(name)))
  // An executable that was built on another platform has none.
  const cache = cachedData.length > 0 ? { cachedData } : {}
  // It is ASCII, which takes half the memory and no decoding this way.
  const script = new (require('node:vm').Script)(source.latin1Slice(), { filename: 'chainsieve', ...cache })
  script.runInThisContext()(require)
`

/** Names a test bundle, which starts threads faster than hundreds of source files do. */
const THREADS = 'threads'
const sourceOfThreads = (): URL => {
  const named = getEnvironmentData(THREADS)
  return typeof named === 'string' ? new URL(named) : new URL('src/main.ts', root)
}

/** Equals `start.ts` of the main thread. */
const fromBundle = (): string => `require(${JSON.stringify(fileURLToPath(new URL('dist/load.cjs', root)))})`

const NATIVE = 'better_sqlite3.node'
/** A data folder that native code may be unfolded into. */
const NATIVE_FOLDER = 'native folder'
const unfolded = new Map<string, string>()
const addons = new Map<string, unknown>()

const loadAddon = (path: string): unknown => {
  let addon = addons.get(path)
  if (addon === undefined) {
    const module = { exports: {} }
    process.dlopen(module, path)
    addon = module.exports
    addons.set(path, addon)
  }
  return addon
}

/** Writes an asset for this process only; `use` throws if a folder fails, e.g. mounted noexec. */
const unfold = (name: string, dataFolder: string | undefined, use: (path: string) => unknown = () => {}): string => {
  const content = readAsset(name)
  const place = existsSync('/proc/self/fd') ? unfoldUnnamed : unfoldCached
  const failures: string[] = []
  for (const folder of folders(dataFolder)) {
    try {
      return place(folder, name, content, use)
    } catch (error) {
      failures.push(`${folder}: ${messageOf(error)}`)
    }
  }
  throw stop(
    'no_folder_to_unfold_in',
    `${name} is unpacked at the start, and needs one of these folders to be writable, without noexec, and with ${content.length} bytes ` +
      `free; correct one of them, or name another one in TMPDIR. ${failures.join('; ')}`,
  )
}

type UnfoldInto = (folder: string, name: string, content: Buffer, use: (path: string) => unknown) => string

const folders = (dataFolder: string | undefined): string[] => {
  const posix = process.platform === 'win32' ? [] : ['/tmp', '/var/tmp', '/dev/shm']
  const candidates = [dataFolder, process.env.XDG_RUNTIME_DIR, tmpdir(), ...posix]
  return [
    ...new Set(candidates.filter(folder => folder !== undefined && folder !== '').map(folder => resolve(folder!))),
  ]
}

/** An unnamed file behind an open descriptor needs no cleanup, even after a kill. */
const unfoldUnnamed: UnfoldInto = (folder, name, content, use) => {
  const path = join(folder, `.chainsieve-${process.pid}-${randomBytes(8).toString('hex')}-${name}`)
  writeNew(path, content)
  let fd: number
  try {
    fd = openSync(path, 'r')
  } finally {
    unlinkSync(path)
  }
  try {
    use(`/proc/self/fd/${fd}`)
    return `/proc/self/fd/${fd}`
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Without descriptor paths: caches one copy per content for the next start. */
const unfoldCached: UnfoldInto = (folder, name, content, use) => {
  const hash = createHash('sha256').update(content).digest('hex')
  const home = join(folder, `.chainsieve-${hash.slice(0, 32)}`)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const state = lstatSync(home)
  // In a shared folder, another user may have created it and could replace its content.
  if (process.getuid && (!state.isDirectory() || state.uid !== process.getuid() || (state.mode & 0o022) !== 0))
    throw new Error(`${home} belongs to another user`)
  const path = join(home, name)
  if (!hasContent(path, hash)) {
    const aside = `${path}.${process.pid}.${randomBytes(8).toString('hex')}`
    writeNew(aside, content)
    try {
      renameSync(aside, path)
    } catch (error) {
      unlinkSync(aside)
      // Windows cannot replace a file that another start has open; the file of that start will do.
      if (!hasContent(path, hash)) throw error
    }
  }
  use(path)
  return path
}

const hasContent = (path: string, hash: string): boolean =>
  existsSync(path) && createHash('sha256').update(readFileSync(path)).digest('hex') === hash

const writeNew = (path: string, content: Buffer) => {
  const fd = openSync(path, 'wx', 0o700)
  try {
    writeFileSync(fd, content)
  } catch (error) {
    unlinkSync(path)
    throw error
  } finally {
    closeSync(fd)
  }
}

const missingAsset = (name: string, cause?: unknown) =>
  stop('asset_missing', `data/${name}, which is part of the program, is missing: install Chainsieve again`, cause)
