import { fstatSync, openSync, statSync } from 'node:fs'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

/** Another one once a file was replaced; undefined where there is none. */
export const fileIdentity = (path: string): string | undefined => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

/**
 * A descriptor to read the bytes of a file by that SQLite may have open in this process. It is never closed: whichever descriptor of a
 * file a process closes, the system takes all its locks on that file, those of SQLite's connections too. Another program that then
 * opens and closes the file takes itself for the last one, and removes the log that this process goes on writing to.
 * Threads use those that were opened before they were started.
 */
export const rawFile = (path: string): number => {
  const key = `raw file ${path}`
  const { dev, ino } = statSync(path)
  const known = getEnvironmentData(key) as unknown as Opened | undefined
  if (known?.dev === dev && known.ino === ino) return known.file
  const file = openSync(path, 'r')
  const opened = fstatSync(file)
  setEnvironmentData(key, { file, dev: opened.dev, ino: opened.ino } satisfies Opened as never)
  return file
}

interface Opened {
  file: number
  dev: number
  ino: number
}
