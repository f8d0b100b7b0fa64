import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Log } from '../lib/log.ts'
import { PRIVATE_FILE } from '../lib/private.ts'
import type { PeriodName, Used } from './periods.ts'

/** Keeps what was spent at endpoints over restarts. */
export interface SpentFile {
  read(endpoint: string): SpentRecord
  write(endpoint: string, name: string, spent: SpentRecord): void
}

/** What was used of the day and of the month; one that is not counted is absent. */
export type SpentRecord = Partial<Record<PeriodName, Used>>

/** Nothing is kept. */
export const NOT_KEPT: SpentFile = { read: () => ({}), write: () => {} }

interface Content {
  [key: string]: SpentRecord & { endpoint?: string }
}

/** A file of JSON for the endpoints of one network. Endpoints go by a hash of their URLs, which hold keys. */
export const openSpent = (path: string, log: Log): SpentFile => {
  const content = readContent(path, log)
  let failing = false
  return {
    read: endpoint => content.get(keyOf(endpoint)) ?? {},
    write(endpoint, name, spent) {
      content.set(keyOf(endpoint), { endpoint: name, ...spent })
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        writeFileSync(`${path}.new`, `${JSON.stringify(Object.fromEntries(content), null, 1)}\n`, {
          mode: PRIVATE_FILE,
          flush: true,
        })
        renameSync(`${path}.new`, path)
        failing = false
      } catch (error) {
        if (!failing) log.warn('Cannot write down what was spent at nodes: a restart would forget it', { path, error })
        failing = true
      }
    },
  }
}

const readContent = (path: string, log: Log): Map<string, Content[string]> => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.warn('Cannot read what was spent at nodes, counts from nothing', { path, error })
    return new Map()
  }
  try {
    const content: unknown = JSON.parse(text)
    if (typeof content !== 'object' || content === null) throw new Error('it is not an object')
    return new Map(Object.entries(content).map(([key, record]) => [key, recordOf(record)]))
  } catch (error) {
    log.warn('Cannot read what was spent at nodes, counts from nothing', { path, error })
    return new Map()
  }
}

const recordOf = (value: unknown): Content[string] => {
  const { day, month, endpoint } = (value ?? {}) as Record<string, unknown>
  const [ofDay, ofMonth] = [usedOf(day), usedOf(month)]
  return {
    ...(typeof endpoint === 'string' && { endpoint }),
    ...(ofDay && { day: ofDay }),
    ...(ofMonth && { month: ofMonth }),
  }
}

const usedOf = (value: unknown): Used | undefined => {
  const { id, credits } = (value ?? {}) as Record<string, unknown>
  if (typeof id !== 'string' || typeof credits !== 'number' || !(credits >= 0)) return undefined
  return { id, credits }
}

const keyOf = (endpoint: string): string => createHash('sha256').update(endpoint).digest('hex').slice(0, 16)
