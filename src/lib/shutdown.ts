import { type Log, silent } from './log.ts'

export type Shutdown = ReturnType<typeof createShutdown>

export interface ShutdownOptions {
  log?: Log
  /** Source of signals; default `process`. */
  signals?: Pick<NodeJS.Process, 'on' | 'off'>
  /** Ends the process at once; default `process.exit`. */
  exit?: (code: number) => void
}

const STOP_SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const

/**
 * Graceful shutdown on SIGTERM and SIGINT: the signal aborts, then services close in reverse order
 * of their start.
 */
export const createShutdown = ({ log = silent, signals = process, exit = process.exit }: ShutdownOptions = {}) => {
  const controller = new AbortController()
  const started: { name: string; close: () => unknown }[] = []
  let closing: Promise<void> | undefined

  const closeAll = async () => {
    for (let step = started.pop(); step; step = started.pop()) {
      try {
        await step.close()
      } catch (error) {
        log.error('Failed to close', { part: step.name, error })
      }
    }
    for (const [name, listener] of listeners) signals.off(name, listener)
  }

  // The first signal lets the current block finish; a second one ends at once.
  const listeners = (Object.keys(STOP_SIGNALS) as (keyof typeof STOP_SIGNALS)[]).map(name => {
    const listener = () => {
      if (controller.signal.aborted) return exit(STOP_SIGNALS[name])
      log.info('Stopping', { signal: name })
      controller.abort()
    }
    signals.on(name, listener)
    return [name, listener] as const
  })

  return {
    signal: controller.signal,
    /** Registers `close` to run at the stop, before those added earlier. */
    add: (name: string, close: () => unknown) => void started.push({ name, close }),
    /** Aborts and closes everything; later calls wait for the first. Logs failures. */
    close: (): Promise<void> => {
      controller.abort()
      closing ??= closeAll()
      return closing
    },
  }
}

export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Logged faults per minute: repeated ones must not fill the disk. */
const MAX_LOGGED_FAULTS = 20
/** Keeps the process alive after uncaught errors, which clients did not cause; returns an undo. */
export const surviveFaults = (log: Log, on: Pick<NodeJS.Process, 'on' | 'off'> = process): (() => void) => {
  let told = 0
  let minute = 0
  const survive = (error: unknown) => {
    // The log's reader is gone: logging this would fail again.
    if ((error as NodeJS.ErrnoException | null)?.code === 'EPIPE') return
    const now = Math.floor(performance.now() / 60_000)
    if (now !== minute) [told, minute] = [0, now]
    if (told++ < MAX_LOGGED_FAULTS) log.error('Survived a fault in Chainsieve, please report it', { error })
  }
  on.on('uncaughtException', survive)
  on.on('unhandledRejection', survive)
  return () => {
    on.off('uncaughtException', survive)
    on.off('unhandledRejection', survive)
  }
}

/** Context of every task: `shutdown.signal` requests its end, `shutdown.add` registers closers. */
export interface Run {
  log: Log
  shutdown: Shutdown
}
