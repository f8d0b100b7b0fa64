import type { Run, Summary } from './services.ts'

/** The exit code of a back-fill or an import whose summary was printed; what broke it off is thrown. */
export const endOf = ({ failure, missing, unread }: Summary, { shutdown, log }: Run): number => {
  const isUnfinished = missing.length > 0 || unread.length > 0
  if (failure) {
    if (isUnfinished) log.warn('Failed before the end; stored blocks are kept, and the same command continues here')
    throw failure
  }
  if (!shutdown.signal.aborted) return 0
  log.warn('Stopped before the end; the same command continues here')
  return 1
}
