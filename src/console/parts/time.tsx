import { useEffect } from 'preact/hooks'
import { createStore, useStore } from '../shell/store.ts'
import { ago, since } from './ago.ts'

interface Props {
  /** In seconds since 1970, or ISO text in UTC. */
  value: number | string
  brief?: boolean
  /** It may be still to come. */
  due?: boolean
}

/** A moment: as the system writes it, and how long ago. */
export const Time = ({ value, brief = false, due = false }: Props) => {
  const now = useNow()
  const date = dateOf(value)
  if (Number.isNaN(date.getTime())) return <span>{String(value)}</span>
  return (
    <time dateTime={date.toISOString()} title={date.toISOString()}>
      {ABSOLUTE.format(date)}
      {!brief && <span class="dim"> {(due ? ago : since)(date.getTime(), now)}</span>}
    </time>
  )
}

/** The chain's times are in UTC, and those of logs do not say so. */
export const dateOf = (value: number | string): Date =>
  new Date(typeof value === 'number' ? value * 1000 : /(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`)

const ABSOLUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' })

/** One clock for all of them. */
const clock = createStore(Date.now())
let [users, timer] = [0, 0]

export const useNow = (): number => {
  useEffect(() => {
    // It stood still while nothing showed a time.
    if (users === 0) clock.set(Date.now())
    if (users++ === 0) timer = window.setInterval(() => clock.set(Date.now()), 10_000)
    return () => {
      if (--users === 0) clearInterval(timer)
    }
  }, [])
  return useStore(clock)
}
