import type { LogFilter } from '../chain/logs/scoped-source.ts'
import type { Range } from '../lib/ranges.ts'
import { filterFor, filterOf, textOf } from './filter.ts'
import type { Question } from './questions.ts'

/** A filter as text, and the blocks in which it counts. */
export interface Kept extends Range {
  filter: string
}

/** What of a filter's coverage still is of use: the part of it that some questions ask for, in their ranges. */
export const keptOf = (text: string, questions: readonly Question[]): Kept[] => {
  const covered = filterOf(text)
  return questions.flatMap(question => {
    const { from, to } = question
    if (question.text === text) return [{ filter: text, from, to }]
    const filter = common(covered, question.filter)
    return filter ? [{ filter: textOf(filter), from, to }] : []
  })
}

/** Where other words than topics stand in their place, a filter is not about logs. */
export const isOfLogs = ({ topics }: LogFilter): boolean => topics.every(topic => topic.startsWith('0x'))

/** What fits two filters. */
const common = (one: LogFilter, other: LogFilter): LogFilter | undefined => {
  if (isOfLogs(one) !== isOfLogs(other)) return undefined
  const addresses = shared(one.addresses, other.addresses)
  const topics = shared(one.topics, other.topics)
  return addresses && topics && filterFor(addresses, topics)
}

/** No values stand for any. */
const shared = (some: readonly string[], others: readonly string[]): readonly string[] | undefined => {
  if (some.length === 0) return others
  if (others.length === 0) return some
  const known = new Set(others)
  const both = some.filter(value => known.has(value))
  return both.length > 0 ? both : undefined
}
