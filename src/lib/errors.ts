/**
 * `refuse`: the caller must correct the request. `retry`: transient. `stop`: this part needs its
 * operator. Any other error is a bug.
 *
 * Building an error has no side effect; its handler logs it once.
 */
export class ChainsieveError extends Error {
  readonly next: 'refuse' | 'retry' | 'stop'
  /** Stable name for programs, e.g. `unknown_field`. Never classify by message text. */
  readonly code: string
  /** For `retry`: minimum milliseconds to wait, if the other side states them. */
  readonly retryAfterMs: number | undefined
  /** Further facts for the caller. */
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(
    next: 'refuse' | 'retry' | 'stop',
    code: string,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ChainsieveError'
    this.next = next
    this.code = code
    this.retryAfterMs = options.retryAfterMs
    this.details = options.details
  }
}

export const refuse = (code: string, message: string, cause?: unknown) =>
  new ChainsieveError('refuse', code, message, { cause })

export const retry = (code: string, message: string, options: { cause?: unknown; retryAfterMs?: number } = {}) =>
  new ChainsieveError('retry', code, message, options)

export const stop = (code: string, message: string, cause?: unknown) =>
  new ChainsieveError('stop', code, message, { cause })

/** The message of anything thrown, on one line. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Converts an error of the system or disk for the operator; undefined for others, which are bugs.
 * `where` names the file for errors that name none, such as SQLite's.
 */
export const systemFault = (error: unknown, where?: string): ChainsieveError | undefined => {
  if (error instanceof ChainsieveError) return error
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return undefined
  const found = SYSTEM_REMEDIES.find(([pattern]) => pattern.test(code))
  if (!found) return undefined
  const [, name, remedy] = found
  return stop(name, `${where === undefined ? '' : `${where}: `}${messageOf(error)}: ${remedy}`, error)
}

const SYSTEM_REMEDIES: [pattern: RegExp, code: string, remedy: string][] = [
  [
    /^(EACCES|EPERM|SQLITE_PERM|SQLITE_CANTOPEN.*|SQLITE_READONLY.*|SQLITE_AUTH)$/,
    'system_fault',
    'check its owner and permissions',
  ],
  [/^EISDIR$/, 'system_fault', 'there is a folder in place of a file, move it away'],
  [/^EROFS$/, 'system_fault', 'the disk is mounted read-only, choose another folder or mount it for writing'],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE|SQLITE_IOERR_WRITE)$/, 'disk_full', 'free some space on the disk'],
  [/^(EMFILE|ENFILE)$/, 'too_many_open_files', 'raise the limit of open files to 256 or more (ulimit -n)'],
  [
    /^ERR_WORKER_INIT_FAILED$/,
    'system_fault',
    'raise the limit of open files to 256 or more (ulimit -n), or that of processes (ulimit -u)',
  ],
  [
    /^(ERR_WORKER_OUT_OF_MEMORY|ENOMEM)$/,
    'system_fault',
    'give the process 256 MB of memory or more, and remove --max-old-space-size from its settings',
  ],
  [/^SQLITE_(BUSY|LOCKED).*$/, 'file_busy', 'another process is using the file, try again in a moment'],
  [/^(SQLITE_CORRUPT.*|SQLITE_NOTADB)$/, 'damaged_file', 'the file is damaged: move it away and index again'],
  [
    /^(EIO|SQLITE_IOERR.*)$/,
    'system_fault',
    'the disk could not be read or written, see the log of the operating system',
  ],
]

/** Transient system errors: a full disk (ENOSPC) gets room, files are closed. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  ...SYSTEM_REMEDIES.map(([, code]) => code).filter(code => code !== 'damaged_file'),
  'data_folder_not_writable',
])

/** Whether a restart may help; bugs may not recur either. */
export const isPassingError = (error: unknown): boolean =>
  !(error instanceof ChainsieveError) || error.next === 'retry' || PASSING_CODES.has(error.code)

/** An error in transit between threads, which do not transfer classes. */
export interface TransferredError {
  next: ChainsieveError['next'] | 'bug'
  code: string
  message: string
}

export const toTransferredError = (error: unknown): TransferredError => {
  const known = systemFault(error)
  if (known) return { next: known.next, code: known.code, message: known.message }
  return {
    next: 'bug',
    code: 'bug',
    message: error instanceof Error ? (error.stack ?? error.message) : messageOf(error),
  }
}

export const fromTransferredError = ({ next, code, message }: TransferredError): Error =>
  next === 'bug' ? new Error(message) : new ChainsieveError(next, code, message)
