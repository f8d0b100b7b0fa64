import type { ComponentChildren } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import { type JsonObject, listAt, stringifyJson } from '../../api/json.ts'
import type { Kind, SearchAnswer } from '../../api/wire.ts'
import { Link, navigate } from '../../browser/router.tsx'
import { Await } from '../../parts/answer.tsx'
import { Chart, type Series } from '../../parts/chart.tsx'
import { NetworkContext } from '../../parts/text.tsx'
import { allOf, term, useSearches } from './ask.ts'
import { isAddress, numberAt, termsBuckets } from './read.ts'
import { AddressLink } from './values.tsx'

interface OverTimeProps {
  title: string
  kinds: readonly Kind[]
  query: JsonObject
  /** Field whose values get a line and a count each, such as `method.raw`. */
  by?: string
  /** Aggregation of a bar instead of its count, and where its answer is. */
  measure?: { aggs: JsonObject; at: string }
  note?: ComponentChildren
}

/** Bars at most; the server chooses their length. */
const BARS = 60
const MOST_SPLIT_NAMES = 6

/** What a search finds over time; every number leads to its search in Explore. */
export const OverTime = ({ title, kinds, query, by, measure, note }: OverTimeProps) => {
  const network = useContext(NetworkContext)
  const names = by === undefined ? {} : { names: { terms: { field: by, size: MOST_SPLIT_NAMES } } }
  const spans = {
    auto_date_histogram: { field: 'timestamp', buckets: BARS },
    aggs: { ...names, ...measure?.aggs },
  }
  const asked = useSearches([{ kinds, body: { query, size: 0, aggs: { ...names, spans } } }])
  const search = (query: JsonObject) =>
    `/explore?${new URLSearchParams({ network, kinds: kinds.join(), q: stringifyJson(query) })}`
  const cut = (from: number, to: number) =>
    navigate(
      `${search(query)}&${new URLSearchParams({ from: String(Math.floor(from * 1_000)), to: String(Math.ceil(to * 1_000)) })}`,
    )
  return (
    <section class="card over-time" aria-label={title}>
      <header class="page-head">
        <h2>{title}</h2>
        <Link to={search(query)}>Search in Explore</Link>
      </header>
      {note}
      <Await asked={asked} failed="It cannot be counted" busy="Counting">
        {([answer]) =>
          answer!.hits.total === 0 ? (
            <p class="dim">None in the stored blocks.</p>
          ) : (
            <SpansChart
              {...{ title, answer: answer!, at: measure?.at, onSelect: cut }}
              searchOf={by === undefined ? undefined : name => search(allOf(query, term(by, name)))}
            />
          )
        }
      </Await>
    </section>
  )
}

interface SpansProps {
  title: string
  answer: SearchAnswer
  at: string | undefined
  /** Search of one name, if bars are split. */
  searchOf: ((name: string) => string) | undefined
  onSelect(from: number, to: number): void
}

const SpansChart = ({ title, answer, at, searchOf, onSelect }: SpansProps) => {
  const series = useMemo((): Series => {
    const spans = listAt(answer.aggregations, 'spans.buckets')
    const times = spans.map(span => (numberAt(span, 'key') ?? 0) / 1_000)
    const counts = spans.map(span => numberAt(span, at ?? 'doc_count') ?? 0)
    if (!searchOf) return { times, counts }
    const found = spans.map(span => new Map(termsBuckets(span as JsonObject, 'names').map(it => [it.key, it.count])))
    const named = termsBuckets(answer.aggregations, 'names').map(({ key, count }) => ({
      // A span tells its most frequent names alone, so that their sum may lack some.
      ...{ name: key, total: count, href: searchOf(key), values: found.map(counts => counts.get(key) ?? 0) },
      ...(isAddress(key) && { label: <AddressLink value={key} brief /> }),
    }))
    const rest = counts.map((count, i) => named.reduce((left, { values }) => left - values[i]!, count))
    const total = named.reduce((left, { total }) => left - total, answer.hits.total)
    const others = { name: 'others', values: rest, total, isRest: true }
    return { times, counts, split: rest.some(count => count > 0) ? [...named, others] : named }
  }, [answer])
  return <Chart label={`${title} over time`} {...{ series, onSelect }} />
}
