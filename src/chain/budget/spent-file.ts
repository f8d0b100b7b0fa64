import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { PRIVATE_FILE } from '../../lib/files.ts'
import type { Log } from '../../lib/log.ts'

export interface SpentFile {
  at(endpoint: string, name: string): Spent
}

/** Credits spent at one endpoint. Days are as in ISO 8601, 2026-11-22. */
export interface Spent {
  /** Credits since that day or month, including future ones after a clock was set back. */
  since(id: string): number
  add(day: string, credits: number): void
}

type Days = Map<string, number>

export const spentInMemory = (): SpentFile => ({
  at() {
    const days: Days = new Map()
    return { since: id => exact(sumOf(days, id)), add: (day, credits) => countDay(days, day, credits) }
  },
})

/** One append-only file per month, which several processes may write; URLs are hashed. */
export const openSpent = (stem: string, log: Log, now: () => number = Date.now): SpentFile => {
  const months = createMonths(stem, log, now)
  let failing = false
  return {
    at(endpoint, name) {
      const key = createHash('sha256').update(endpoint).digest('hex').slice(0, 16)
      const pending: Days = new Map()
      return {
        since: id => exact(months.sum(key, id) + sumOf(pending, id)),
        add(day, credits) {
          const sum = countDay(pending, day, credits)
          try {
            months.append(day.slice(0, 7), { day, endpoint: key, name, credits: sum })
            pending.delete(day)
            failing = false
          } catch (error) {
            if (!failing)
              log.warn('Cannot write down what was spent at nodes: a restart would forget it', { stem, error })
            failing = true
          }
        },
      }
    },
  }
}

interface Line {
  day: string
  endpoint: string
  name: string
  credits: number
}

const createMonths = (stem: string, log: Log, now: () => number) => {
  const months = new Map<string, { read: number; spent: Map<string, Days> }>()
  const pathOf = (month: string) => `${stem}.${month}.ndjson`
  let isTold = false
  const tell = (path: string, error: unknown) => {
    if (!isTold) log.warn('Cannot read all that was spent at nodes: counts what can be read', { path, error })
    isTold = true
  }

  const take = (spent: Map<string, Days>, text: string, path: string) => {
    for (const line of text.split('\n')) {
      if (line === '') continue
      try {
        const { day, endpoint, credits } = lineIn(line)
        const days = spent.get(endpoint) ?? new Map()
        spent.set(endpoint, days)
        countDay(days, day, credits)
      } catch (error) {
        tell(path, messageOf(error))
      }
    }
  }

  const refresh = (month: string) => {
    const path = pathOf(month)
    let known = months.get(month)
    try {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (!known || size < known.read) {
        known = { read: 0, spent: new Map() }
        months.set(month, known)
      }
      if (size === known.read) return
      const bytes = readFrom(path, known.read, size)
      // Another process may be about to complete the last line.
      const end = bytes.lastIndexOf(NEWLINE) + 1
      known.read += end
      take(known.spent, bytes.toString('utf8', 0, end), path)
    } catch (error) {
      tell(path, error)
    }
  }

  const thisMonth = () => new Date(now()).toISOString().slice(0, 7)
  for (const month of monthsOf(stem)) {
    if (month >= thisMonth()) refresh(month)
    else if (month < monthBefore(now())) rmSync(pathOf(month), { force: true })
  }

  return {
    sum(endpoint: string, id: string) {
      refresh(thisMonth())
      let sum = 0
      for (const { spent } of months.values()) sum += sumOf(spent.get(endpoint) ?? NO_DAYS, id)
      return sum
    },
    append(month: string, line: Line) {
      append(pathOf(month), line)
      refresh(month)
    },
  }
}

const append = (path: string, line: Line) => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'a', PRIVATE_FILE)
  try {
    // The first newline ends a line that a full disk truncated.
    writeSync(file, `\n${JSON.stringify(line)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

const readFrom = (path: string, from: number, to: number): Buffer => {
  const bytes = Buffer.alloc(to - from)
  const file = openSync(path, 'r')
  try {
    let read = 0
    for (let more = 1; more > 0 && read < bytes.length; read += more)
      more = readSync(file, bytes, read, bytes.length - read, from + read)
    return bytes.subarray(0, read)
  } finally {
    closeSync(file)
  }
}

const lineIn = (text: string): Line => {
  const { day, endpoint, credits } = (JSON.parse(text) ?? {}) as Partial<Line>
  if (typeof day !== 'string' || typeof endpoint !== 'string' || typeof credits !== 'number')
    throw new Error(`not a line of what was spent: ${text.slice(0, 100)}`)
  return { day, endpoint, name: '', credits }
}

const monthsOf = (stem: string): string[] => {
  const start = `${basename(stem)}.`
  let names: string[]
  try {
    names = readdirSync(dirname(stem))
  } catch {
    return []
  }
  return names.flatMap(name => (name.startsWith(start) ? (MONTH.exec(name.slice(start.length))?.[1] ?? []) : []))
}

const MONTH = /^(\d{4}-\d\d)\.ndjson$/

const monthBefore = (at: number): string => {
  const date = new Date(at)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1)).toISOString().slice(0, 7)
}

const countDay = (days: Days, day: string, credits: number): number => {
  const sum = (days.get(day) ?? 0) + credits
  days.set(day, sum)
  return sum
}

const sumOf = (days: Days, id: string): number => {
  let sum = 0
  for (const [day, credits] of days) if (day >= id) sum += credits
  return sum
}

/** Prices have six decimals; rounding removes the error of floating-point sums. */
export const exact = (credits: number): number => Math.round(credits * 1e6) / 1e6

const NO_DAYS: Days = new Map()
const NEWLINE = 0x0a
