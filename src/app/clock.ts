import type { Reason } from '../ingest/status/readiness.ts'
import { noteLastClock, readLastClock } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import { createStepWatch } from '../lib/retry.ts'
import { repeatEvery } from '../lib/scheduling/interval.ts'

const CLOCK_INTERVAL_MS = 60_000
/** Interval of checks for clock steps. */
const STEP_LOOK_MS = 1_000
/** Smaller corrections are not a leap. */
const TOLERANCE_MS = 5 * 60_000
/** Shorter leaps are not reported: they look like a stopped server. */
const MIN_REPORTED_LEAP_MS = 24 * 3_600_000
/** Maximum age of the newest block if the clock is right and the chain advances. */
const BLOCK_AGE_MS = 3_600_000
/** Without new blocks, a clock is trusted after it was steady for this long. */
const BELIEVED_MS = 24 * 3_600_000

interface ClockOptions {
  data: string
  /** Time of the newest stored block in epoch seconds; undefined if there is none. */
  newestBlock(): Promise<number | undefined>
  log: Log
  now?(): number
  /** Monotonic milliseconds. */
  elapsed?(): number
}

/**
 * Detects clock skew: forward leaps, by the last time noted in the data folder. Ages are frozen
 * until a stored block confirms the new time, as happens soon after a long stop.
 */
export const createClockWatch = ({
  data,
  newestBlock,
  log,
  now = Date.now,
  elapsed = () => performance.now(),
}: ClockOptions) => {
  const stepOf = createStepWatch({ now, elapsed })
  let known = readLastClock(data) ?? now()
  let at = elapsed()
  /** `looks`: times seen; `block`: newest block, unchanged since `quietFrom` (by `elapsed`). */
  let leap: { since: number; looks: number; block: number; quietFrom: number } | undefined
  let isReported = false

  const ahead = () => now() - known
  const believe = (why?: string) => {
    known = Math.max(known, now())
    leap = undefined
    if (isReported && why) log.info(`The clock is believed again: ${why}`)
    isReported = false
  }

  const look = async () => {
    const passed = elapsed() - at
    at += passed
    known = Math.max(known, Math.min(known + passed, now()))
    if (ahead() <= TOLERANCE_MS) believe('it agrees with the time that has gone by')
    else {
      const block = ((await newestBlock()) ?? 0) * 1_000
      leap ??= { since: now(), looks: 0, block, quietFrom: elapsed() }
      leap.looks++
      if (block > leap.block) Object.assign(leap, { block, quietFrom: elapsed() })
      if (block >= now() - BLOCK_AGE_MS && block <= now() + BLOCK_AGE_MS) believe('a block of this time was stored')
      else if (elapsed() - leap.quietFrom >= BELIEVED_MS) believe('it has been the same for a day')
      else if (!isReported && leap.looks > 1 && ahead() > MIN_REPORTED_LEAP_MS) {
        isReported = true
        log.warn(REPORT, { days: days(ahead()), lastKnown: new Date(known).toISOString() })
      }
    }
    noteLastClock(data, known)
  }

  const lookForStep = () => {
    const seconds = Math.round(stepOf() / 1_000)
    if (seconds < 0) log.warn('The clock was set back', { seconds: -seconds })
    if (seconds > 0) log.warn('The clock was set ahead, or the machine was suspended', { seconds })
  }

  return {
    look,
    lookForStep,
    warnings: (): Reason[] =>
      isReported && leap
        ? [
            {
              type: 'clock_leap',
              since: new Date(leap.since).toISOString(),
              reason: `${REPORT} (${days(ahead())} days)`,
            },
          ]
        : [],
  }
}

const REPORT =
  'The clock is far ahead of when the data folder was last in use: nothing is removed by its age until a block of this time is stored, or the ' +
  'clock has been the same for a day without new blocks. Correct the clock if it is wrong'

const days = (ms: number): number => Math.round(ms / 86_400_000)

export const watchClock = (options: ClockOptions) => {
  const { log } = options
  const { look, lookForStep, warnings } = createClockWatch(options)
  const ends = [
    repeatEvery(CLOCK_INTERVAL_MS, look, { log, doing: 'note the time in the data folder', atOnce: true }),
    repeatEvery(STEP_LOOK_MS, lookForStep, { log, doing: 'look for steps of the clock' }),
  ]
  return { warnings, stop: () => ends.forEach(end => void end()) }
}
