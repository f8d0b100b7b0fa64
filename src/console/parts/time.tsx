import { useEffect } from 'preact/hooks'
import { createStore, useStore } from '../shell/store.ts'

/** A moment: as the system writes it, and how long ago; `value` is in seconds since 1970, or ISO text in UTC. */
export const Time = ({ value, brief = false }: { value: number | string; brief?: boolean }) => {
  const now = useNow()
  const date = dateOf(value)
  if (Number.isNaN(date.getTime())) return <span>{String(value)}</span>
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {ABSOLUTE.format(date)}
      {!brief && <span class="dim"> {ago(date.getTime(), now)}</span>}
    </time>
  )
}

/** The chain's times are in UTC, and those of logs do not say so. */
export const dateOf = (value: number | string): Date =>
  new Date(typeof value === 'number' ? value * 1000 : /(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`)

export const ago = (time: number, now: number): string => {
  const seconds = (time - now) / 1000
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return RELATIVE.format(Math.round(seconds / length), unit)
}

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

const ABSOLUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' })
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })

/** One clock for all of them. */
const clock = createStore(Date.now())
let [users, timer] = [0, 0]

export const useNow = (): number => {
  useEffect(() => {
    if (users++ === 0) timer = window.setInterval(() => clock.set(Date.now()), 10_000)
    return () => {
      if (--users === 0) clearInterval(timer)
    }
  }, [])
  return useStore(clock)
}
