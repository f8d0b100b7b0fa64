import { memoize } from '../lib/caches.ts'
import { ChainsieveError } from '../lib/errors.ts'
import type { Metrics } from '../metrics/index.ts'
import { rowFormatOf, type SearchService } from './service.ts'

/** `rejected`: the server was busy, and a retry may succeed. `refused`: the query was invalid. */
type QueryOutcome = 'ok' | 'refused' | 'rejected' | 'timed_out' | 'cancelled' | 'failed'

const DURATION_BOUNDS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Counts requests by kind and outcome, and times them to the answer or its first part. */
export const measureSearch = (service: SearchService, metrics: Metrics): SearchService => {
  const queries = metrics.counter('chainsieve_queries_total')
  const durations = metrics.histogram('chainsieve_query_duration_seconds', DURATION_BOUNDS_S)
  const meterOf = memoize(MAX_KINDS, (kind: string) => {
    const ok = queries.of({ kind, outcome: 'ok' })
    const observe = durations.of({ kind })
    return (began: number, outcome: QueryOutcome) => {
      observe((performance.now() - began) / 1_000)
      if (outcome === 'ok') ok()
      else queries.add({ kind, outcome })
    }
  })

  const measured = async <T>(kind: string, ask: () => Promise<T>): Promise<T> => {
    const began = performance.now()
    const end = meterOf(kind)
    try {
      const answer = await ask()
      end(began, 'ok')
      return answer
    } catch (error) {
      end(began, queryOutcome(error))
      throw error
    }
  }

  return {
    ...service,
    search: asked => measured(queryKind(asked), () => service.search(asked)),
    render: asked => measured('render', () => service.render(asked)),
    suggest: asked => measured('suggest', () => service.suggest(asked)),
    similar: asked => measured('similar', () => service.similar(asked)),
    get: asked => measured('get', () => service.get(asked)),
    documents: asked => measured('documents', () => service.documents(asked)),
    holdings: asked => measured('holdings', () => service.holdings(asked)),
    cursors: {
      ...service.cursors,
      scroll: asked => measured('scroll', () => service.cursors.scroll(asked)),
      openPit: asked => measured('pit', () => service.cursors.openPit(asked)),
    },
  }
}

/** More than there are. */
const MAX_KINDS = 100

const queryKind = ({ form, format, scroll }: Parameters<SearchService['search']>[0]): string =>
  form?.tell ?? (format && rowFormatOf(format)) ?? (scroll === undefined ? 'search' : 'scroll')

const queryOutcome = (error: unknown): QueryOutcome => {
  if (error instanceof ChainsieveError) {
    if (error.code === 'search_timeout_exception') return 'timed_out'
    return error.next === 'refuse' ? 'refused' : error.next === 'retry' ? 'rejected' : 'failed'
  }
  return error instanceof Error && error.name === 'AbortError' ? 'cancelled' : 'failed'
}
