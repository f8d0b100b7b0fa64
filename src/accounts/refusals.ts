import type { Act, Actor } from './audit.ts'

interface Counted {
  by: Actor
  act: Act & { count: number }
}

/** The first one is told soon, others together. */
const FIRST_MS = 1_000
const OTHERS_MS = 60_000
/** Kinds that are told apart between two writes. */
const MOST = 100

export type Refusals = ReturnType<typeof createRefusals>

/** Counts what was refused, so that a flood of it makes a few entries of the audit trail. */
export const createRefusals = (write: (refused: Counted[]) => void, now: () => number) => {
  const counted = new Map<string, Counted>()
  let writtenAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (counted.size === 0) return
    writtenAt = performance.now()
    try {
      write([...counted.values()])
      counted.clear()
    } catch {
      // They are written with the next ones: a full disk must not fail a request that was refused anyway.
    }
  }

  return {
    add(by: Actor, action: string, why: string) {
      const full = counted.size >= MOST
      const own = `${action} ${by.address} ${by.token} ${why}`
      const key = full && !counted.has(own) ? action : own
      const known = counted.get(key)
      if (known) known.act.count++
      else {
        const detail = key === own ? { why } : { why: 'many addresses, which are counted together' }
        counted.set(key, { by: key === own ? by : {}, act: { action, detail, count: 1, at: now() } })
      }
      const wait = Math.max(FIRST_MS, writtenAt + OTHERS_MS - performance.now())
      timer ??= setTimeout(flush, wait).unref()
    },
    close: flush,
  }
}
