import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { refuse } from '../lib/errors.ts'

/** Parameters of an export; resuming requires the same ones. */
export interface ExportRequest {
  network: string
  entities: string
  query: string
  format: string
  /** Source: a server's URL, or `data` for a data folder. */
  from: string
  /** With columns of arguments, how they show large integers. */
  columns?: string
}

/** Checkpoint of an export, to resume from: end of the complete part, and the cursor after it. */
export interface Mark {
  token: string
  /** Length of the file. */
  bytes: number
  /** Number of hits up to here. */
  hits: number
  /** Data about the preceding parts for the end of the file. */
  note?: unknown
}

export const EXPORT_START = 'start'
const JOURNAL_VERSION = 1

export const journalOf = (file: string): string => `${file}.resume`

export type ExportTarget = ReturnType<typeof openTarget>

/** What an export that is continued was begun with, beside its parameters. */
export const begunWith = (file: string): unknown =>
  existsSync(journalOf(file)) ? readJournal(journalOf(file)).head?.with : undefined

/**
 * A file that is written in parts, with a journal next to it: a part is valid once it and then its
 * mark are on disk. After a crash the file is cut back to the last mark, without duplicates.
 */
export const openTarget = (file: string, asked: ExportRequest, begun?: unknown) => {
  const journal = journalOf(file)
  if (!existsSync(dirname(file)))
    throw refuse('export_no_folder', `there is no folder ${dirname(file)}: create it, or choose another file`)
  if (!existsSync(journal) && existsSync(file))
    throw refuse(
      'export_file_exists',
      `${file} exists, and has no ${journal} to continue it by: choose another file, or delete it`,
    )
  const found = existsSync(journal) ? readJournal(journal) : undefined
  if (found?.head) checkSameRequest(file, found.head.asked, asked)
  const marks = found?.marks ?? []
  const lines = openSync(journal, 'a+')
  const out = openSync(file, existsSync(file) ? 'r+' : 'w')
  const bytesOf = () => marks.at(-1)?.bytes ?? 0
  const size = fstatSync(out).size
  if (size < bytesOf()) {
    closeSync(lines)
    closeSync(out)
    throw refuse(
      'export_file_changed',
      `${file} has ${size} bytes, but ${journal} says that ${bytesOf()} were written: restore the file, or delete both to start again`,
    )
  }
  const write = (fd: number, bytes: Uint8Array, at: number | null) => {
    for (let done = 0; done < bytes.length; )
      done += writeSync(fd, bytes, done, bytes.length - done, at === null ? null : at + done)
    fsyncSync(fd)
  }
  const note = (line: unknown) => write(lines, Buffer.from(`${JSON.stringify(line)}\n`), null)
  ftruncateSync(lines, found?.bytes ?? 0)
  if (!found?.head) note({ chainsieve: 'export', version: JOURNAL_VERSION, asked, with: begun })
  return {
    marks,
    /** Appends a part. */
    append(part: Uint8Array, mark: Omit<Mark, 'bytes'>): void | Promise<void> {
      const at = bytesOf()
      ftruncateSync(out, at)
      write(out, part, at)
      const whole = { ...mark, bytes: at + part.length }
      note(whole)
      marks.push(whole)
    },
    /** Cuts the file back to the mark before the last one. */
    back() {
      marks.pop()
      // The journal first: bytes without a mark can be cut off at any time.
      note({ back: marks.length })
      ftruncateSync(out, bytesOf())
    },
    /** Writes the end of a complete file; a further part overwrites it. */
    end(tail: Uint8Array): void | Promise<void> {
      ftruncateSync(out, bytesOf())
      write(out, tail, bytesOf())
    },
    close() {
      const isEmpty = marks.length === 0 && fstatSync(out).size === 0
      closeSync(lines)
      closeSync(out)
      // An export without any part leaves no file, so a retry can have other parameters.
      if (isEmpty) for (const path of [file, journal]) unlinkSync(path)
    },
  }
}

interface ExportJournal {
  /** Undefined if the journal is empty. */
  head: { version: number; asked: ExportRequest; with?: unknown } | undefined
  marks: Mark[]
  /** Length of the complete part. */
  bytes: number
}

const readJournal = (path: string): ExportJournal => {
  const text = readFileSync(path, 'utf8')
  // A line without its end was cut off by a crash.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const [first, ...rest] = whole.split('\n').slice(0, -1)
  if (first === undefined) return { head: undefined, marks: [], bytes: 0 }
  try {
    const head = JSON.parse(first) as ExportJournal['head'] & { chainsieve: string }
    if (head?.chainsieve !== 'export' || head.version !== JOURNAL_VERSION) throw new Error('another version')
    const marks: Mark[] = []
    for (const line of rest) {
      const read = JSON.parse(line) as Mark | { back: number }
      if ('back' in read) marks.length = read.back
      else marks.push(read)
    }
    return { head, marks, bytes: Buffer.byteLength(whole) }
  } catch (error) {
    throw refuse(
      'export_journal_damaged',
      `${path} is not a journal of this version of chainsieve export: delete it and the exported file to start again`,
      error,
    )
  }
}

const checkSameRequest = (file: string, before: ExportRequest, now: ExportRequest) => {
  const other = (Object.keys(REQUEST_NAMES) as (keyof ExportRequest)[]).find(name => before[name] !== now[name])
  if (other === undefined) return
  throw refuse(
    'export_other_query',
    `${file} was exported with another ${REQUEST_NAMES[other]}: ${JSON.stringify(before[other] ?? null)}, not ${JSON.stringify(now[other] ?? null)}. Choose another file`,
  )
}

const REQUEST_NAMES: Record<keyof Required<ExportRequest>, string> = {
  network: 'network',
  entities: 'entity',
  query: 'query',
  format: 'format',
  from: 'source',
  columns: 'choice of columns',
}
