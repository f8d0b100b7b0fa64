import { useEffect, useRef } from 'preact/hooks'
import { connection } from '../shell/connection.ts'
import { useStore } from '../shell/store.ts'
import { type Asked, useAsk } from './use-ask.ts'

/**
 * Asks again `everyMs` after each answer, while the page is in sight and the server answers. An error stays until the user tries again or
 * the connection is back.
 */
export const useLive = <T>(
  key: string | undefined,
  question: (signal: AbortSignal) => Promise<T>,
  everyMs: number | ((data: T) => number),
): Asked<T> => {
  const asked = useAsk(key, question)
  const { state } = useStore(connection)
  const again = useRef(asked.again)
  again.current = asked.again
  const { data, busy, error } = asked
  const isDone = !busy && error === undefined && data !== undefined

  useEffect(() => {
    if (!isDone || state === 'down') return
    const ask = () => {
      if (!document.hidden) again.current()
    }
    const timer = setTimeout(ask, typeof everyMs === 'number' ? everyMs : everyMs(data))
    document.addEventListener('visibilitychange', ask)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', ask)
    }
  }, [data, isDone, state])
  return asked
}
