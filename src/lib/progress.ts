import type { Log } from './log.ts'

export interface ProgressStep {
  blocks: number
  logs: number
  events: number
  /** Done and total work in one unit (blocks, bytes of files); `total` is 0 if unknown. */
  done: number
  total: number
  /** Backlog of blocks to ship; absent if nothing is ever shipped. */
  toShip?: number | undefined
}

export interface Progress {
  update(step: ProgressStep): void
  finish(): void
}

export interface Output {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
}

export type Screen = ReturnType<typeof createScreen>

/** Terminal with a status line that is redrawn; other lines appear above it. */
export const createScreen = (out: Output) => {
  let shown = ''
  const CLEAR = '\r\x1b[2K'
  return {
    line: (text: string) => void out.write(shown === '' ? `${text}\n` : `${CLEAR}${text}\n${shown}`),
    /** Redraws the last line; an empty text removes it. */
    status: (text: string) => {
      // A line that wraps could not be cleared.
      const fitting = text.slice(0, Math.max(0, (out.columns ?? 80) - 1))
      if (fitting !== shown) out.write(`${shown === '' ? '' : CLEAR}${fitting}`)
      shown = fitting
    },
  }
}

export interface ProgressOptions {
  label: string
  /** Milliseconds, monotonic; default `performance.now`. */
  now?: () => number
}

/** Redraws a bar in place, for a terminal. */
export const progressBar = (screen: Screen, { label, now }: ProgressOptions): Progress =>
  paced(100, now, (pace, last) => {
    screen.status(last ? '' : bar(label, pace))
    if (last && !(isOfBytes(pace.step) && pace.step.done < pace.step.total)) screen.line(bar(label, pace))
  })

/** Logs a line every five seconds, for a file, a pipe or a log collector. */
export const progressLines = (log: Log, { label, now }: ProgressOptions): Progress =>
  paced(5_000, now, ({ step, blocksPerSecond, eventsPerSecond, secondsLeft }, last) => {
    if (isOfBytes(step)) {
      // The command itself logs its result.
      if (!last) log.info('Made progress', { doing: label, percent: percent(step), secondsLeft })
      return
    }
    log.info(last ? 'Ended' : 'Made progress', {
      network: label,
      blocks: step.blocks,
      logs: step.logs,
      events: step.events,
      percent: step.total > 0 ? percent(step) : undefined,
      blocksToShip: step.toShip || undefined,
      blocksPerSecond: Math.round(blocksPerSecond),
      eventsPerSecond: Math.round(eventsPerSecond),
      secondsLeft: last ? undefined : secondsLeft,
    })
  })

/** Bytes of files, as in a backup, rather than blocks. */
const isOfBytes = ({ blocks, total }: ProgressStep): boolean => blocks === 0 && total > 0

interface ProgressPace {
  step: ProgressStep
  blocksPerSecond: number
  eventsPerSecond: number
  /** Undefined if unknown. */
  secondsLeft: number | undefined
}

interface Sample {
  at: number
  step: ProgressStep
}

const NO_PROGRESS: ProgressStep = { blocks: 0, logs: 0, events: 0, done: 0, total: 0 }
const PROGRESS_WINDOW_MS = 10_000

/** Calls `show` once per `everyMs` with rates of ten seconds, at the end with those of the run. */
const paced = (
  everyMs: number,
  now = () => performance.now(),
  show: (pace: ProgressPace, last: boolean) => void,
): Progress => {
  const start: Sample = { at: now(), step: NO_PROGRESS }
  let samples = [start]
  let latest = start
  let shownAt = start.at

  return {
    update: step => {
      latest = { at: now(), step }
      if (latest.at - samples.at(-1)!.at >= 1_000) samples.push(latest)
      samples = samples.filter(({ at }, i) => i === samples.length - 1 || latest.at - at <= PROGRESS_WINDOW_MS)
      if (latest.at - shownAt < everyMs) return
      shownAt = latest.at
      const older = samples[0] === latest ? start : samples[0]!
      show(paceOf(older, latest), false)
    },
    finish: () => show(paceOf(start, { at: now(), step: latest.step }), true),
  }
}

const paceOf = (older: Sample, { at, step }: Sample): ProgressPace => {
  const seconds = (at - older.at) / 1_000
  const rate = (unit: 'blocks' | 'events' | 'done') => (seconds > 0 ? (step[unit] - older.step[unit]) / seconds : 0)
  const speed = rate('done')
  return {
    step,
    blocksPerSecond: rate('blocks'),
    eventsPerSecond: rate('events'),
    secondsLeft: step.total > 0 && speed > 0 ? Math.ceil(Math.max(0, step.total - step.done) / speed) : undefined,
  }
}

const bar = (label: string, { step, blocksPerSecond, eventsPerSecond, secondsLeft }: ProgressPace): string =>
  [
    label,
    ...(step.total > 0 ? [`${boxes(step)} ${percent(step)} %`] : []),
    ...(step.blocks > 0 || step.done === 0
      ? [
          `${formatCount(step.blocks)} blocks (${formatCount(blocksPerSecond)}/s)`,
          `${formatCount(step.events)} events (${formatCount(eventsPerSecond)}/s)`,
        ]
      : []),
    ...(secondsLeft ? [`${formatSeconds(secondsLeft)} left`] : []),
    ...(step.toShip ? [`${formatCount(step.toShip)} blocks to ship`] : []),
  ].join('  ')

const BAR_CHARACTERS = 20

const boxes = ({ done, total }: ProgressStep): string => {
  const full = Math.min(BAR_CHARACTERS, Math.floor((done / total) * BAR_CHARACTERS))
  return '█'.repeat(full) + '░'.repeat(BAR_CHARACTERS - full)
}

// Rounded down: 100 is shown when all is done, not before.
const percent = ({ done, total }: ProgressStep): number => Math.floor((done / total) * 1_000) / 10

const formatCount = (n: number): string => Math.round(n).toLocaleString('en')

/** `3 s`, `4 min 5 s`, `2 h 30 min`, `3 d 4 h`. */
export const formatSeconds = (seconds: number): string => {
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ]
  const first = parts.findIndex(([n]) => n > 0)
  const shown = first < 0 ? parts.slice(-1) : parts.slice(first, first + 2).filter(([n]) => n > 0)
  return shown.map(([n, unit]) => `${n} ${unit}`).join(' ')
}

export interface Bars {
  progress(label: string): Progress
}
