import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { connection, session, useStore } from '../browser/state.ts'
import { callApi } from './client.ts'
import type { SearchAnswer } from './wire.ts'

export interface AskState<T> {
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
export const useAsk = <T>(key: string | undefined, question: (signal: AbortSignal) => Promise<T>): AskState<T> => {
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

/** The same of one path; an undefined one asks nothing. */
export const useGet = <T>(path: string | undefined): AskState<T> =>
  useAsk(path, signal => callApi<T>(path!, { signal }))

/**
 * Gets a path again `everyMs` after each answer, while the page is in sight and the server answers. An error stays until the user tries again or
 * the connection is back.
 */
export const useLive = <T>(path: string | undefined, everyMs: number | ((data: T) => number)): AskState<T> => {
  const asked = useGet<T>(path)
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

/** What is done when the user wants it, and what came of it last. */
export const useAction = <T>(act: () => Promise<T>) => {
  const [state, setState] = useState<{ data?: T; error?: unknown; busy: boolean }>({ busy: false })
  const run = async () => {
    setState({ busy: true })
    try {
      setState({ data: await act(), busy: false })
    } catch (error) {
      setState({ error, busy: false })
    }
  }
  return { ...state, run }
}

/** The value once it has stood still for so long. */
export const useSettled = <T>(value: T, ms: number): T => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/** Runs again and again while the page is seen; never without a time. */
export const useEvery = (ms: number | undefined, run: () => void) => {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    if (ms === undefined) return
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), ms)
    return () => clearInterval(timer)
  }, [ms])
}

/** One page of rows, and what the next one is asked for by; null behind the last. */
export interface RowPage<Row, Next> {
  rows: readonly Row[]
  next: Next | null
}

/** Rows that were asked for in pages. */
export interface Pages<Row> extends AskState<unknown> {
  rows: readonly Row[]
  /** No page is left. */
  isWhole: boolean
  /** Why a page after the first cannot be read. */
  moreError: unknown
  askMore(): void
}

/**
 * Rows that come in pages, of which more are asked for as they come into sight. An undefined key asks nothing. While only the first page
 * is shown, it is asked for again after each `everyMs`, if given: that makes no jump.
 */
export const usePages = <Row, Next, P extends RowPage<Row, Next>>(
  key: string | undefined,
  question: (after: Next | undefined, signal: AbortSignal) => Promise<P & RowPage<Row, Next>>,
  everyMs?: number,
): Pages<Row> & { data: P | undefined } => {
  const first = useAsk<P & RowPage<Row, Next>>(key, signal => question(undefined, signal))
  const [more, setMore] = useState<readonly RowPage<Row, Next>[]>([])
  const [moreError, setError] = useState<unknown>()
  const asking = useRef<AbortController>(undefined)
  // Before the effects of a table that asks for more as soon as it is drawn.
  useLayoutEffect(() => {
    setMore([])
    setError(undefined)
    return () => {
      asking.current?.abort()
      asking.current = undefined
    }
  }, [first.data])
  useEvery(everyMs, () => {
    if (more.length === 0 && !asking.current) first.again()
  })

  const pages: RowPage<Row, Next>[] = first.data ? [first.data, ...more] : []
  const next = pages.at(-1)?.next ?? null
  const rows = useMemo(() => pages.flatMap(({ rows }) => rows), [first.data, more])
  const askMore = async () => {
    if (next === null || asking.current || first.busy || moreError !== undefined) return
    const controller = new AbortController()
    asking.current = controller
    try {
      const page = await question(next, controller.signal)
      if (!controller.signal.aborted) setMore(more => [...more, page])
    } catch (error) {
      if (!controller.signal.aborted) setError(error)
    } finally {
      if (asking.current === controller) asking.current = undefined
    }
  }
  return { ...first, rows, isWhole: next === null, moreError, askMore: () => void askMore() }
}

/** The hits of an answer as a page, which is full with `size` of them. */
export const hitPage = (answer: SearchAnswer, size: number) => ({
  ...answer,
  rows: answer.hits.hits,
  next: answer.hits.hits.length < size ? null : (answer.hits.hits.at(-1)!.sort ?? null),
})
