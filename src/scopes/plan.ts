import type { LogFilter } from '../chain/source.ts'
import type { Range } from '../lib/ranges.ts'
import { filterFor, filterText } from './filter.ts'

export interface RangeQuestion extends Range {
  filter: LogFilter
}

const BLOCKS_OF_CALL = 10_000

/** The same questions by fewer calls: those for the same events are joined where ranges overlap. */
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
