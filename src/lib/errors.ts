/**
 * What went wrong and what happens next. `refuse`: the caller's fault, try again corrected. `retry`: passing, try again
 * later. `stop`: this part of the program cannot go on without its operator. Anything that is not one of these is a bug.
 *
 * Building an error has no side effect; whoever handles it logs it, once.
 */
export class ChainsieveError extends Error {
  readonly next: 'refuse' | 'retry' | 'stop'
  /** Stable machine-readable name, e.g. `unknown_field`, `pack_broken_line`. Never classify by message text. */
  readonly code: string
  /** For `retry`: the least number of milliseconds to wait, where the other side said so. */
  readonly retryAfterMs: number | undefined

  constructor(
    next: 'refuse' | 'retry' | 'stop',
    code: string,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ChainsieveError'
    this.next = next
    this.code = code
    this.retryAfterMs = options.retryAfterMs
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
