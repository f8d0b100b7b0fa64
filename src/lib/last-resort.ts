import type { Log } from './log.ts'

/** Most faults that are logged in a minute: what repeats itself must not fill the disk. */
const MAX_TOLD = 20

/**
 * Lets the process go on after what nothing has caught. That is a fault of the program, and clients have nothing to do with it. The
 * returned function ends that.
 */
export const surviveFaults = (log: Log, on: Pick<NodeJS.Process, 'on' | 'off'> = process): (() => void) => {
  let told = 0
  let minute = 0
  const survive = (error: unknown) => {
    // The reader of the log is gone: telling that would fail again.
    if ((error as NodeJS.ErrnoException | null)?.code === 'EPIPE') return
    const now = Math.floor(performance.now() / 60_000)
    if (now !== minute) [told, minute] = [0, now]
    if (told++ < MAX_TOLD) log.error('Survived a fault in Chainsieve, please report it', { error })
  }
  on.on('uncaughtException', survive)
  on.on('unhandledRejection', survive)
  return () => {
    on.off('uncaughtException', survive)
    on.off('unhandledRejection', survive)
  }
}
