/** The result of checking one thing that the program needs. No text holds a secret. */
export interface Finding {
  check: Check
  /** The thing that was checked: a URL without its secrets, a file, a host. */
  subject: string
  state: FindingState
  /** The result, in a sentence or a list. */
  found: string
  /** Advice; absent if there is nothing to do. */
  remedy?: string
}

export type FindingState = 'ok' | 'warn' | 'fail'
export type Check = 'node' | 'store' | 'cluster' | 'clock' | 'mail' | 'webhook' | 'disk' | 'files'

export type Findings = AsyncGenerator<Finding> | Generator<Finding>

/** Makes findings about one subject. */
export const findingsAbout = (check: Check, subject: string) => ({
  ok: (found: string): Finding => ({ check, subject, state: 'ok', found }),
  warn: (found: string, remedy: string): Finding => ({ check, subject, state: 'warn', found, remedy }),
  fail: (found: string, remedy: string): Finding => ({ check, subject, state: 'fail', found, remedy }),
})
