import type { Run, Summary } from './command.ts'

/** The exit code of a back-fill or an import whose summary was printed; what broke it off is thrown. */
export const endOf = ({ failure, missing, unread }: Summary, { shutdown, log }: Run): number => {
  const isUnfinished = missing.length > 0 || unread.length > 0
  if (failure) {
    if (isUnfinished) log.warn('Failed before the end; what is stored stays, and the same command goes on from here')
    throw failure
  }
  if (!shutdown.signal.aborted) return 0
  log.warn('Stopped before the end; the same command goes on from here')
  return 1
}
