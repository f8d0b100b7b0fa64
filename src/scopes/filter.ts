import type { LogFilter } from '../chain/source.ts'
import { gapsIn, type Range } from '../lib/ranges.ts'

export const filterText = ({ addresses, topics }: LogFilter): string => JSON.stringify([addresses, topics])

export const filterOf = (text: string): LogFilter => {
  const [addresses, topics] = JSON.parse(text) as [string[], string[]]
  return { addresses, topics }
}

export const filterFor = (addresses: Iterable<string>, topics: Iterable<string>): LogFilter => ({
  addresses: canonical(addresses),
  topics: canonical(topics),
})

const canonical = (texts: Iterable<string>): string[] =>
  [...new Set(Array.from(texts, text => text.toLowerCase()))].sort()

export type FilterCoverage = ReadonlyMap<string, readonly Range[]>

export interface OpenQuestion extends Range {
  filter: LogFilter
}

/** Parts of a filter not covered by earlier filters or whole blocks of the range, ascending. */
export const findOpenQuestions = (
  wanted: LogFilter,
  coverage: FilterCoverage,
  whole: readonly Range[],
  { from, to }: Range,
): OpenQuestion[] => {
  if (from > to) return []
  const known = [...coverage].flatMap(([text, ranges]) => {
    const filter = filterOf(text)
    return touches(filter, wanted)
      ? [{ addresses: new Set(filter.addresses), topics: new Set(filter.topics), ranges }]
      : []
  })
  const found: OpenQuestion[] = []
  for (const gap of gapsIn(whole, from, to))
    for (const part of splitAt(
      gap,
      known.flatMap(({ ranges }) => ranges),
    )) {
      const there = known.filter(({ ranges }) => ranges.some(range => range.from <= part.from && range.to >= part.to))
      for (const filter of subtractFilters(wanted, there)) {
        const before = found.findLast(one => one.to === part.from - 1 && filterText(one.filter) === filterText(filter))
        if (before) before.to = part.to
        else found.push({ filter, ...part })
      }
    }
  return found
}

interface KnownFilter {
  addresses: ReadonlySet<string>
  topics: ReadonlySet<string>
}

const touches = (one: LogFilter, other: LogFilter): boolean =>
  share(one.addresses, other.addresses) && share(one.topics, other.topics)

const share = (one: readonly string[], other: readonly string[]): boolean => {
  if (one.length === 0 || other.length === 0) return true
  const known = new Set(other)
  return one.some(text => known.has(text))
}

const splitAt = ({ from, to }: Range, at: readonly Range[]): Range[] => {
  const starts = new Set([from])
  for (const range of at)
    for (const start of [range.from, range.to + 1]) if (start > from && start <= to) starts.add(start)
  const sorted = [...starts].sort((a, b) => a - b)
  return sorted.map((start, i) => ({ from: start, to: (sorted[i + 1] ?? to + 1) - 1 }))
}

const subtractFilters = ({ addresses, topics }: LogFilter, known: readonly KnownFilter[]): LogFilter[] => {
  const topicsLeft = (there: readonly KnownFilter[]): readonly string[] | undefined => {
    if (there.some(one => one.topics.size === 0)) return undefined
    if (topics.length === 0) return topics
    const left = topics.filter(topic => !there.some(one => one.topics.has(topic)))
    return left.length > 0 ? left : undefined
  }
  const ofAll = known.filter(one => one.addresses.size === 0)
  if (addresses.length === 0) {
    const left = topicsLeft(ofAll)
    return left ? [{ addresses, topics: left }] : []
  }
  const groups = new Map<string, { addresses: string[]; topics: readonly string[] }>()
  for (const address of addresses) {
    const left = topicsLeft(known.filter(one => one.addresses.size === 0 || one.addresses.has(address)))
    if (!left) continue
    const key = left.join()
    const group = groups.get(key) ?? { addresses: [], topics: left }
    group.addresses.push(address)
    groups.set(key, group)
  }
  return [...groups.values()]
}

export interface RangeQuestion extends Range {
  filter: LogFilter
}

const BLOCKS_OF_CALL = 10_000
/** Joins questions for the same events with overlapping ranges, to make fewer calls. */
export const planQuestions = (questions: readonly RangeQuestion[]): RangeQuestion[] => {
  const asked = questions.filter(({ from, to }) => from <= to)
  return [...Map.groupBy(asked, ({ filter }) => filter.topics.join()).values()].flatMap(some =>
    clustersOf(some).flatMap(joinQuestions),
  )
}

const clustersOf = (questions: readonly RangeQuestion[]): RangeQuestion[][] => {
  const clusters: { questions: RangeQuestion[]; cost: QuestionCost }[] = []
  for (const question of questions.toSorted((a, b) => b.to - b.from - (a.to - a.from))) {
    const alone = costOf([question])
    let best: { cluster: (typeof clusters)[number]; cost: QuestionCost; saved: number } | undefined
    for (const cluster of clusters) {
      const cost = costOf([...cluster.questions, question])
      const saved = cluster.cost.calls + alone.calls - cost.calls
      const isSame = saved === 0 && cost.parts <= cluster.cost.parts + alone.parts - 1
      if ((saved > 0 || isSame) && saved >= (best?.saved ?? 0)) best = { cluster, cost, saved }
    }
    if (!best) clusters.push({ questions: [question], cost: alone })
    else {
      best.cluster.questions.push(question)
      best.cluster.cost = best.cost
    }
  }
  return clusters.map(({ questions }) => questions)
}

interface QuestionCost {
  calls: number
  parts: number
}

const costOf = (questions: readonly RangeQuestion[]): QuestionCost => {
  const parts = splitByQuestions(questions)
  return {
    calls: parts.reduce((sum, { from, to }) => sum + Math.ceil((to - from + 1) / BLOCKS_OF_CALL), 0),
    parts: parts.length,
  }
}

const splitByQuestions = (questions: readonly RangeQuestion[]): (Range & { questions: RangeQuestion[] })[] => {
  const starts = [...new Set(questions.flatMap(({ from, to }) => [from, to + 1]))].sort((a, b) => a - b)
  return starts.slice(0, -1).flatMap((from, i) => {
    const there = questions.filter(one => one.from <= from && one.to >= from)
    return there.length > 0 ? [{ from, to: starts[i + 1]! - 1, questions: there }] : []
  })
}

const joinQuestions = (questions: readonly RangeQuestion[]): RangeQuestion[] => {
  const found: RangeQuestion[] = []
  for (const { from, to, questions: there } of splitByQuestions(questions)) {
    const isAny = there.some(({ filter }) => filter.addresses.length === 0)
    const filter = filterFor(isAny ? [] : there.flatMap(it => it.filter.addresses), there[0]!.filter.topics)
    const before = found.at(-1)
    if (before?.to === from - 1 && filterText(before.filter) === filterText(filter)) before.to = to
    else found.push({ filter, from, to })
  }
  return found
}
