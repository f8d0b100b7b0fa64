import type { ComponentChildren } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import { type JsonObject, listAt, stringifyJson } from '../../api/json.ts'
import type { Kind, SearchAnswer } from '../../api/wire.ts'
import { Link, navigate } from '../../browser/router.tsx'
import { Await } from '../../parts/answer.tsx'
import { Chart, type Lines, type Series } from '../../parts/chart.tsx'
import { NetworkContext } from '../../parts/text.tsx'
import { allOf, term, useSearches } from './ask.ts'
import { isAddress, numberAt, termsBuckets } from './read.ts'
import { AddressLink, briefOf } from './values.tsx'

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
/** The first line is that of all others. */
const NAMED_LINES = 4
const MOST_NAMES = 20

/** What a search finds over time; every number leads to its search in Explore. */
export const OverTime = ({ title, kinds, query, by, measure, note }: OverTimeProps) => {
  const network = useContext(NetworkContext)
  const names = by === undefined ? {} : { names: { terms: { field: by, size: MOST_NAMES } } }
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
            <>
              <SpansChart {...{ title, answer: answer! }} by={by !== undefined} at={measure?.at} onSelect={cut} />
              {by !== undefined && <Legend answer={answer!} searchOf={name => search(allOf(query, term(by, name)))} />}
            </>
          )
        }
      </Await>
    </section>
  )
}

interface SpansProps {
  title: string
  answer: SearchAnswer
  by: boolean
  at: string | undefined
  onSelect(from: number, to: number): void
}

const CHART_HEIGHT = 140

const SpansChart = ({ title, answer, by, at, onSelect }: SpansProps) => {
  const series = useMemo((): Series | Lines => {
    const spans = listAt(answer.aggregations, 'spans.buckets')
    const times = spans.map(span => (numberAt(span, 'key') ?? 0) / 1_000)
    const counts = spans.map(span => numberAt(span, at ?? 'doc_count') ?? 0)
    if (!by) return { times, counts }
    const shown = termsBuckets(answer.aggregations, 'names').slice(0, NAMED_LINES)
    const found = spans.map(span => new Map(termsBuckets(span as JsonObject, 'names').map(it => [it.key, it.count])))
    const lines = shown.map(({ key }) => found.map(counts => counts.get(key) ?? 0))
    return { times, lines: [counts.map((count, i) => lines.reduce((rest, line) => rest - line[i]!, count)), ...lines] }
  }, [answer])
  return <Chart label={`${title} over time`} {...{ series, onSelect }} height={CHART_HEIGHT} />
}

const Legend = ({ answer, searchOf }: { answer: SearchAnswer; searchOf(name: string): string }) => {
  const names = termsBuckets(answer.aggregations, 'names')
  const others = names.reduce((rest, { count }) => rest - count, answer.hits.total)
  return (
    <ul class="legend">
      {names.map(({ key, count }, i) => (
        <li key={key} data-line={i < NAMED_LINES ? i + 1 : 0}>
          {isAddress(key) ? <AddressLink value={key} brief /> : briefOf(key, 40)}{' '}
          <Link to={searchOf(key)}>{count.toLocaleString()}</Link>
        </li>
      ))}
      {others > 0 && (
        <li data-line={0} class="dim">
          others, or without a name {others.toLocaleString()}
        </li>
      )}
    </ul>
  )
}
