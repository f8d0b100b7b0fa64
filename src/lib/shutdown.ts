import { type Log, silent } from './log.ts'

/** One order of stopping for the whole program: the signal aborts, then what was started last is closed first. */
export interface Shutdown {
  /** Aborts when the program is asked to stop. */
  signal: AbortSignal
  /** Has `close` called when the program stops, before whatever was added earlier. */
  add(name: string, close: () => unknown): void
  /** Aborts the signal and closes everything; a second call waits for the first. Failures to close are logged, never thrown. */
  close(): Promise<void>
}

export interface ShutdownOptions {
  log?: Log
  /** Where SIGINT and SIGTERM arrive; default `process`. */
  signals?: Pick<NodeJS.Process, 'on' | 'off'>
  /** Ends the process at once; default `process.exit`. */
  exit?: (code: number) => void
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const

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

  // The first signal lets the current block finish; who sends a second one does not want to wait.
  const listeners = (Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]).map(name => {
    const listener = () => {
      if (controller.signal.aborted) return exit(SIGNALS[name])
      log.info('Stopping', { signal: name })
      controller.abort()
    }
    signals.on(name, listener)
    return [name, listener] as const
  })

  const shutdown: Shutdown = {
    signal: controller.signal,
    add: (name, close) => void started.push({ name, close }),
    close: () => {
      controller.abort()
      closing ??= closeAll()
      return closing
    },
  }
  return shutdown
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
