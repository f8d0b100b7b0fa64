import { promises } from 'node:fs'

/**
 * Resolves when all that was written before the call outlives a power cut. Whoever asks while the disk works waits for one more turn of it,
 * together with all others who ask meanwhile.
 */
export const createSynced = (sync: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  const start = (): Promise<void> => {
    next = undefined
    const now = sync().finally(() => {
      if (running === now) running = undefined
    })
    running = now
    return now
  }

  return () => {
    if (!running) return start()
    next ??= running.then(start, start)
    return next
  }
}

/** Has the disk take what SQLite has written to a log of commits, on a thread that nobody waits for. */
export const syncLog = (database: string) => async (): Promise<void> => {
  const log = await promises.open(`${database}-wal`, 'r+')
  try {
    await log.datasync()
  } finally {
    await log.close()
  }
}
