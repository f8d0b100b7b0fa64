import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Status } from '../../src/ingest/status/status.ts'

/** What a server takes at a moment. Sizes are in bytes. */
export interface Sample {
  /** Milliseconds since the soak began. */
  at: number
  /** Number of the process: each kill begins another one. */
  life: number
  /** Milliseconds since that process served. */
  age: number
  memory: number
  files: number
  threads: number
  store: number
  ledger: number
  /** Write-ahead logs of both. */
  log: number
  lag: number | null
  /** Deliveries that were taken, and queries that were answered, since the soak began. */
  delivered: number
  answered: number
}

/** From Linux's /proc; undefined where the process or /proc is not there. */
export const lookAt = (pid: number): Pick<Sample, 'memory' | 'files' | 'threads'> | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1])
    return {
      memory: number('RssAnon') * 1024,
      threads: number('Threads'),
      files: readdirSync(`/proc/${pid}/fd`).length,
    }
  } catch {
    return undefined
  }
}

/** The networks' files, that of deliveries, and the write-ahead logs. */
export const sizesOf = (data: string): Pick<Sample, 'store' | 'ledger' | 'log'> => {
  const networks = join(data, 'networks')
  const isLog = (name: string) => name.endsWith('-wal')
  return {
    store: sum(networks, name => !isLog(name)),
    ledger: sum(data, name => name === 'deliveries.sqlite'),
    log: sum(networks, isLog) + sum(data, isLog),
  }
}

/** Files come and go meanwhile. */
const sum = (folder: string, counts: (name: string) => boolean): number => {
  let bytes = 0
  try {
    for (const name of readdirSync(folder).filter(counts)) {
      try {
        bytes += statSync(join(folder, name)).size
      } catch {}
    }
  } catch {}
  return bytes
}

export const lagOf = (status: Status | undefined): number | null => status?.networks[0]?.lag ?? null
