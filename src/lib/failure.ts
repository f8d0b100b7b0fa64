import { ChainsieveError, messageOf } from './errors.ts'

/** An error as it travels between threads, which take no classes along. */
export interface Failure {
  next: ChainsieveError['next'] | 'bug'
  code: string
  message: string
}

export const toFailure = (error: unknown): Failure =>
  error instanceof ChainsieveError
    ? { next: error.next, code: error.code, message: error.message }
    : { next: 'bug', code: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : messageOf(error) }

export const fromFailure = ({ next, code, message }: Failure): Error =>
  next === 'bug' ? new Error(message) : new ChainsieveError(next, code, message)
