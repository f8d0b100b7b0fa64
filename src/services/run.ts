import type { Log } from '../lib/log.ts'
import type { Progress } from '../lib/progress.ts'
import type { Shutdown } from '../lib/shutdown.ts'

/** What every task is given: `shutdown.signal` asks it to stop, `shutdown.add` registers what must be closed. */
export interface Run {
  log: Log
  shutdown: Shutdown
}

/** Shows how far something is. */
export interface Bars {
  progress(label: string): Progress
}
