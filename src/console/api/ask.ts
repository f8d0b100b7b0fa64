import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { connection, session, useStore } from '../browser/state.ts'
import { callApi } from './client.ts'
import type { SearchAnswer } from './wire.ts'

export interface AskState<T> {
  /** Data of the last answer; kept while the next request runs. */
  data: T | undefined
  error: unknown
  busy: boolean
  /** Asks once more. */
  again(): void
}

/**
 * Runs a request when the component appears, `key` changes, the server is back or the user signs
 * in. Outdated requests are aborted. An undefined key asks nothing.
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

/** `useAsk` for a path; undefined asks nothing. */
export const useGet = <T>(path: string | undefined): AskState<T> =>
  useAsk(path, signal => callApi<T>(path!, { signal }))

/** Polls a path `everyMs` after each answer while the page is visible; an error stops it. */
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

/** State of an action that the user starts. */
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

/** Debounces a value. */
export const useSettled = <T>(value: T, ms: number): T => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/** Runs at an interval while the page is visible; never without a time. */
export const useEvery = (ms: number | undefined, run: () => void) => {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    if (ms === undefined) return
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), ms)
    return () => clearInterval(timer)
  }, [ms])
}

/** A page of rows with the cursor of the next; null after the last. */
interface RowPage<Row, Next> {
  rows: readonly Row[]
  next: Next | null
}

export interface Pages<Row> extends AskState<unknown> {
  rows: readonly Row[]
  /** All pages are read. */
  isWhole: boolean
  /** Error of a page after the first. */
  moreError: unknown
  askMore(): void
}

/**
 * Reads pages of rows while scrolling. An undefined key asks nothing. With `everyMs`, refreshes the
 * first page while it is the only one.
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
  // Runs before effects of the table, which may ask for more.
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

/** Rows of an answer that has all of them. */
export const useRows = <T, Row>(path: string, rowsOf: (answer: T) => readonly Row[], everyMs?: number): Pages<Row> =>
  usePages(
    path,
    async (_: undefined, signal) => ({ rows: rowsOf(await callApi<T>(path, { signal })), next: null }),
    everyMs,
  )

/** An answer's hits as a page; fewer than `size` hits are the last page. */
export const hitPage = (answer: SearchAnswer, size: number) => ({
  ...answer,
  rows: answer.hits.hits,
  next: answer.hits.hits.length < size ? null : (answer.hits.hits.at(-1)!.sort ?? null),
})
