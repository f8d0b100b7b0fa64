import { closeSync, fdatasyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { PRIVATE_FILE } from '../lib/files.ts'
import { pageSum } from '../sqlite/checksums.ts'
import { SQLITE_PAGE_BYTES } from '../sqlite/wal.ts'

/**
 * Writes pages into a copy. Replaced pages go to a separate file, page numbers before pages, which
 * is merged once the manifest names it: a kill corrupts no copy.
 */
export type PageWriter = ReturnType<typeof createChangesWriter>

const ENTRY = 4 + SQLITE_PAGE_BYTES
/** Pages between two syncs (8 MB), which bounds the wait of other writers. */
const SYNC_EVERY = 2_048

const createChangesWriter = (path: string, write: (file: number, page: number, content: Uint8Array) => void) => {
  const file = openSync(path, 'w', PRIVATE_FILE)
  let count = 0
  return {
    put(page: number, content: Uint8Array): void {
      write(file, page, content)
      if (++count % SYNC_EVERY === 0) fdatasyncSync(file)
    },
    /** Syncs the written pages. */
    finish(): void {
      fdatasyncSync(file)
      closeSync(file)
    },
    get count() {
      return count
    },
  }
}

export const writeCopy = (path: string): PageWriter =>
  createChangesWriter(path, (file, page, content) =>
    writeSync(file, content, 0, SQLITE_PAGE_BYTES, (page - 1) * SQLITE_PAGE_BYTES),
  )

export const writeChanges = (path: string): PageWriter => {
  const entry = Buffer.alloc(ENTRY)
  return createChangesWriter(path, (file, page, content) => {
    entry.writeUInt32LE(page)
    entry.set(content, 4)
    writeSync(file, entry)
  })
}

/** Offsets of changed pages in their file, by page. */
export const placesOfChanges = (path: string): Map<number, number> => {
  const places = new Map<number, number>()
  each(path, (page, _, at) => places.set(page, at + 4))
  return places
}

/** Writes changed pages into a copy and truncates it to `pages`. Idempotent. */
export const applyChanges = (copy: string, changes: string, pages: number) => {
  const file = openSync(copy, 'r+')
  try {
    each(
      changes,
      (page, content) => void writeSync(file, content, 0, SQLITE_PAGE_BYTES, (page - 1) * SQLITE_PAGE_BYTES),
    )
    ftruncateSync(file, pages * SQLITE_PAGE_BYTES)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}

const each = (path: string, visit: (page: number, content: Buffer, at: number) => void) => {
  const file = openSync(path, 'r')
  const entry = Buffer.alloc(ENTRY)
  try {
    for (let at = 0; readSync(file, entry, 0, ENTRY, at) === ENTRY; at += ENTRY)
      visit(entry.readUInt32LE(0), entry.subarray(4), at)
  } finally {
    closeSync(file)
  }
}

/** Numbers of pages whose checksums differ; `onPage` receives each page. */
export const comparePages = function* (
  copy: { file: string; changes: string | null },
  sums: Uint32Array,
  onPage: (page: number, content: Buffer) => void = () => {},
): Generator<number, number[]> {
  const places = copy.changes === null ? new Map<number, number>() : placesOfChanges(copy.changes)
  const file = openSync(copy.file, 'r')
  const changes = copy.changes === null ? undefined : openSync(copy.changes, 'r')
  const buffer = Buffer.alloc(RUN * SQLITE_PAGE_BYTES)
  const wrong: number[] = []
  try {
    for (let first = 1; first <= sums.length; first += RUN) {
      buffer.fill(0)
      readSync(file, buffer, 0, buffer.length, (first - 1) * SQLITE_PAGE_BYTES)
      for (let page = first; page < Math.min(first + RUN, sums.length + 1); page++) {
        const content = buffer.subarray((page - first) * SQLITE_PAGE_BYTES, (page - first + 1) * SQLITE_PAGE_BYTES)
        const place = places.get(page)
        if (place !== undefined) readSync(changes!, content, 0, SQLITE_PAGE_BYTES, place)
        if (pageSum(page, content) !== sums[page - 1]) wrong.push(page)
        onPage(page, content)
      }
      yield Math.min(first + RUN - 1, sums.length)
    }
    return wrong
  } finally {
    closeSync(file)
    if (changes !== undefined) closeSync(changes)
  }
}

const RUN = 256
