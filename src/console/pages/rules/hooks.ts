import { useEffect, useRef, useState } from 'preact/hooks'
import { useAsk } from '../../api/use-ask.ts'

/** The value once it has stood still for so long. */
export const useSettled = <T>(value: T, ms: number): T => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/** Runs again and again while the page is seen. */
export const useEvery = (ms: number, run: () => void) => {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), ms)
    return () => clearInterval(timer)
  }, [ms])
}

interface Page<Row> {
  rows: Row[]
  next: string | null
}

/** Rows that come in pages, of which more are asked for as they come into sight. */
export const usePages = <Row>(
  key: string,
  question: (before: string | undefined, signal: AbortSignal) => Promise<Page<Row>>,
) => {
  const first = useAsk(key, signal => question(undefined, signal))
  const [more, setMore] = useState<Page<Row>[]>([])
  const [error, setError] = useState<unknown>()
  const asking = useRef<AbortController>(undefined)
  useEffect(() => {
    setMore([])
    setError(undefined)
    return () => {
      asking.current?.abort()
      asking.current = undefined
    }
  }, [first.data])

  const pages = first.data ? [first.data, ...more] : []
  const next = pages.at(-1)?.next ?? null
  const askMore = async () => {
    if (next === null || asking.current || first.busy || error !== undefined) return
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
  return {
    rows: pages.flatMap(({ rows }) => rows),
    asked: first.data !== undefined,
    isWhole: next === null,
    error: first.error ?? error,
    busy: first.busy,
    again: first.again,
    askMore: () => void askMore(),
    /** Whether only the first page is shown, so that it may be asked for again without a jump. */
    isFirst: more.length === 0,
  }
}
