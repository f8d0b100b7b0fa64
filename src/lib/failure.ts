import { ChainsieveError, messageOf, systemFault } from './errors.ts'

/** An error as it travels between threads, which take no classes along. */
export interface Failure {
  next: ChainsieveError['next'] | 'bug'
  code: string
  message: string
}

export const toFailure = (error: unknown): Failure => {
  const known = systemFault(error)
  if (known) return { next: known.next, code: known.code, message: known.message }
  return {
    next: 'bug',
    code: 'bug',
    message: error instanceof Error ? (error.stack ?? error.message) : messageOf(error),
  }
}

export const fromFailure = ({ next, code, message }: Failure): Error =>
  next === 'bug' ? new Error(message) : new ChainsieveError(next, code, message)
