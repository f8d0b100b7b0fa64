import { fstatSync, openSync, readSync, statSync } from 'node:fs'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { makeSums, openSums, pageSum, type Sums, sumsFile } from './checksums.ts'
import { damagedBecause, damagedStore } from './damage.ts'
import { type LogFile, readWriteAheadLog, SQLITE_PAGE_BYTES } from './wal.ts'

/** Progress and findings of a check. */
interface PageCheck {
  /** Bytes checked, and in total. */
  done: number
  total: number
  /** Damaged pages, ascending. */
  damaged: number[]
}

/** Pages that are looked at in one step: 1 MB. */
const PAGES_PER_STEP = 256
/** A writer may have taken a page up, or put it down, between two looks at it. */
const MAX_LOOKS = 4
const BETWEEN_LOOKS_MS = 50

/** Compares pages with checksums in steps, also during writes; undefined without checksums. */
export function* checkPages(store: string): Generator<PageCheck, PageCheck | undefined> {
  refuseEmptied(store)
  const sums = openSums(store, 'r')
  if (!sums) return undefined
  try {
    const file = rawFile(store)
    const count = () => Math.max(sums.count(), Math.ceil(fstatSync(file).size / SQLITE_PAGE_BYTES))
    const found: PageCheck = { done: 0, total: count() * SQLITE_PAGE_BYTES, damaged: [] }
    const known = sums.damaged()
    if (known > 0) found.damaged.push(known)
    // In this order: a writer makes the log longer before it says so.
    const log = sums.log()
    if (isLogCut(log, readWriteAheadLog(store))) found.damaged.push(1)
    for (let first = 1; first <= count(); first += PAGES_PER_STEP) {
      const pages = Array.from({ length: Math.min(PAGES_PER_STEP, count() - first + 1) }, (_, i) => first + i)
      found.damaged.push(...look(store, file, sums, pages))
      found.done = Math.min(found.total, (first - 1 + PAGES_PER_STEP) * SQLITE_PAGE_BYTES)
      yield found
    }
    found.damaged = [...new Set(found.damaged)].sort((a, b) => a - b)
    return found
  } finally {
    sums.close()
  }
}

/** Runs `checkPages` without a pause: damaged pages, or undefined without checksums. */
export const findDamaged = (store: string): readonly number[] | undefined => {
  for (const steps = checkPages(store); ; ) {
    const { done, value } = steps.next()
    if (done) return value?.damaged
  }
}

/** Precedes copies of a whole store, which would hide its damage. */
export const refuseDamaged = (store: string) => {
  const pages = findDamaged(store)
  if (pages && pages.length > 0) throw damagedStore(store, pages)
}

/** Damaged pages in the last step of a store's file; undefined without checksums. */
export const checkNewestPages = (store: string): number[] | undefined => {
  refuseEmptied(store)
  const sums = openSums(store, 'r')
  if (!sums) return undefined
  try {
    const file = rawFile(store)
    const count = Math.max(sums.count(), Math.ceil(fstatSync(file).size / SQLITE_PAGE_BYTES))
    const first = Math.max(1, count - PAGES_PER_STEP + 1)
    return look(
      store,
      file,
      sums,
      Array.from({ length: count - first + 1 }, (_, i) => first + i),
    )
  } finally {
    sums.close()
  }
}

/** Damaged ones of some neighbouring pages; rereads suspects until it is certain. */
const look = (store: string, file: number, sums: Sums, pages: number[]): number[] => {
  let suspects = differing(file, sums, pages)
  for (let looks = 0; suspects.length > 0 && looks < MAX_LOOKS; looks++) {
    if (looks > 0) Atomics.wait(PAUSE, 0, 0, BETWEEN_LOOKS_MS)
    // Pages in the log are not read from the file.
    const logged = readWriteAheadLog(store).pages
    suspects = differing(
      file,
      sums,
      suspects.filter(page => !logged.has(page)),
    )
  }
  return suspects
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4))

/** Pages whose content in the file fails its checksum; `pages` ascend, within one step. */
const differing = (file: number, sums: Sums, pages: readonly number[]): number[] => {
  const [first, last] = [pages[0], pages.at(-1)]
  if (first === undefined || last === undefined) return []
  const count = last - first + 1
  content ??= Buffer.allocUnsafeSlow(PAGES_PER_STEP * SQLITE_PAGE_BYTES)
  const size = readSync(file, content, 0, count * SQLITE_PAGE_BYTES, (first - 1) * SQLITE_PAGE_BYTES)
  const expected = sums.read(first, count)
  return pages.filter(page => {
    if (page === LOCK_PAGE) return false
    const at = page - first
    if (at >= expected.length || (at + 1) * SQLITE_PAGE_BYTES > size) return true
    return pageSum(page, content!.subarray(at * SQLITE_PAGE_BYTES, (at + 1) * SQLITE_PAGE_BYTES)) !== expected[at]
  })
}

/** Shared read buffer: one per step would stay in memory until V8 collects it. */
let content: Buffer | undefined

/** The page at 1 GiB, which SQLite reserves for locks: it is never written and always empty. */
export const LOCK_PAGE = 2 ** 30 / SQLITE_PAGE_BYTES + 1

/** Whether the log is shorter than when its copy began: the file may have newer pages. */
const isLogCut = (known: ReturnType<Sums['log']>, { salts, broken, frames }: LogFile): boolean =>
  frames < known.frames && (broken || salts === known.salts)

/** Creates checksums of the file's pages without the log, whose pages will replace them. */
export const sealPages = (store: string): Sums => {
  const size = sizeOnDisk(store)
  const file = rawFile(store)
  return makeSums(store, sums => {
    const content = Buffer.allocUnsafe(PAGES_PER_STEP * SQLITE_PAGE_BYTES)
    for (let first = 1; (first - 1) * SQLITE_PAGE_BYTES < size; first += PAGES_PER_STEP) {
      const read = readSync(file, content, 0, content.length, (first - 1) * SQLITE_PAGE_BYTES)
      const found = new Map<number, number>()
      for (let at = 0; at * SQLITE_PAGE_BYTES < read; at++)
        found.set(
          first + at,
          pageSum(first + at, content.subarray(at * SQLITE_PAGE_BYTES, (at + 1) * SQLITE_PAGE_BYTES)),
        )
      sums.write(found)
    }
  })
}

export const sizeOnDisk = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/**
 * Why a file must be damaged that SQLite would take for new, even removing its log; else undefined.
 * `isNever0`: no new file is ever empty; see `makeDatabase`.
 */
export const findEmptied = (path: string, isNever0 = false): { file: string; why: string } | undefined => {
  for (const suffix of ['', '-wal', '-shm', '-sums'])
    if (statSync(path + suffix, { throwIfNoEntry: false })?.isDirectory())
      return { file: path + suffix, why: 'there is a folder in its place' }
  const file = statSync(path, { throwIfNoEntry: false })
  if (file && file.size > 0) return undefined
  const is = file ? 'it has 0 bytes' : 'it is missing'
  if (file && isNever0) return { file: path, why: is }
  if (sizeOnDisk(`${path}-wal`) > 0) return { file: path, why: `${is}, but its log ${path}-wal is there` }
  const sums = openSums(path, 'r')
  const pages = sums?.count() ?? 0
  sums?.close()
  return pages > 0
    ? { file: path, why: `${is}, but there are checksums of ${pages} pages in ${sumsFile(path)}` }
    : undefined
}

export const refuseEmptied = (store: string) => {
  const found = findEmptied(store)
  if (found) throw damagedBecause(found.file, found.why)
}

/** Fast checks before SQLite opens a store: known damage, its size, first page and log length. */
export const checkQuickly = (store: string) => {
  refuseEmptied(store)
  const sums = openSums(store, 'r')
  if (!sums) return
  try {
    const known = sums.damaged()
    if (known > 0) throw damagedStore(store, [known])
    const log = readWriteAheadLog(store)
    if (isLogCut(sums.log(), log)) throw damagedStore(`${store}-wal`, [])
    const [file, pages] = [rawFile(store), sums.count()]
    const ends = [...new Set([1, pages])].filter(page => page > 0 && !log.pages.has(page))
    const wrong = ends.filter(page => differing(file, sums, [page]).length > 0)
    if (wrong.length > 0) throw damagedStore(store, wrong)
  } finally {
    sums.close()
  }
}

/** Damaged pages that are about to be replaced: their replacement was built from them. */
export const findReplaced = (store: string, sums: Sums, pages: Iterable<number>): number | undefined => {
  const file = rawFile(store)
  const count = sums.count()
  for (const page of pages) if (page <= count && differing(file, sums, [page]).length > 0) return page
  return undefined
}

/** Changes when the file is replaced; undefined without a file. */
export const fileIdentity = (path: string): string | undefined => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
/**
 * Descriptor for reading a file that SQLite may have open here. Never closed: closing any
 * descriptor of a file drops all locks of the process on it, SQLite's too, and another program
 * could then remove the log in use. Threads use descriptors that were opened before they started.
 */
export const rawFile = (path: string): number => {
  const key = `raw file ${path}`
  const { dev, ino } = statSync(path)
  const known = getEnvironmentData(key) as unknown as OpenedFile | undefined
  if (known?.dev === dev && known.ino === ino) return known.file
  const file = openSync(path, 'r')
  const opened = fstatSync(file)
  setEnvironmentData(key, { file, dev: opened.dev, ino: opened.ino } satisfies OpenedFile as never)
  return file
}
interface OpenedFile {
  file: number
  dev: number
  ino: number
}
