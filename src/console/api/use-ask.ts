import { useEffect, useRef, useState } from 'preact/hooks'
import { connection } from '../shell/connection.ts'
import { session } from '../shell/session.ts'
import { useStore } from '../shell/store.ts'

export interface Asked<T> {
  /** Of the latest question that was answered; it stays while the next one is under way. */
  data: T | undefined
  error: unknown
  busy: boolean
  /** Asks once more. */
  again(): void
}

/**
 * Asks when the component appears, when `key` changes, and when the server is back or the user has signed in again. What is no longer
 * wanted is broken off. An undefined key asks nothing.
 */
export const useAsk = <T>(key: string | undefined, question: (signal: AbortSignal) => Promise<T>): Asked<T> => {
  const [state, setState] = useState<{ data?: T | undefined; error?: unknown; busy: boolean }>({
    busy: key !== undefined,
  })
  const [round, setRound] = useState(0)
  const { since } = useStore(connection)
  const { token } = useStore(session)
  const latest = useRef(question)
  latest.current = question

  useEffect(() => {
    if (key === undefined || token === undefined) return
    const controller = new AbortController()
    const { signal } = controller
    setState(({ data }) => ({ data, busy: true }))
    latest.current(signal).then(
      data => !signal.aborted && setState({ data, busy: false }),
      error => !signal.aborted && setState(({ data }) => ({ data, error, busy: false })),
    )
    return () => controller.abort()
  }, [key, token, since, round])

  return { data: state.data, error: state.error, busy: state.busy, again: () => setRound(count => count + 1) }
}
