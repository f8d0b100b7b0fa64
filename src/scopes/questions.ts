import type { LogFilter } from '../chain/source.ts'
import type { Range } from '../lib/ranges.ts'
import { type ChainScope, type Factory, filterOfFactory, filterOfScope, textOfFactory } from './factory.ts'
import { type FilterCoverage, filterFor, filterOf, filterText, findOpenQuestions, type OpenQuestion } from './filter.ts'

export interface ScopeQuestion extends Range {
  filter: LogFilter
  text: string
  factory?: Factory
}

interface Born {
  address: string
  number: number
}

const EPOCHS = 64

/** Logs of a factory's children from their first block on; of very many, some a little earlier. */
const questionsOfChildren = ({ from, topics }: ChainScope, all: readonly Born[], to: number): ScopeQuestion[] => {
  const children = all.filter(({ number }) => number <= to)
  const births = [...new Set(children.map(({ number }) => Math.max(number, from)))].sort((a, b) => a - b)
  const step = Math.max(1, Math.ceil(births.length / EPOCHS))
  const starts = births.filter((_, i) => i % step === 0)
  return starts.map((start, i) => {
    const end = (starts[i + 1] ?? to + 1) - 1
    const addresses = children.filter(({ number }) => number <= end).map(({ address }) => address)
    const filter = filterFor(addresses, topics)
    return { filter, text: filterText(filter), from: start, to: end }
  })
}

export const transactionQuestionsOf = (scope: ChainScope, children: readonly Born[], to: number): ScopeQuestion[] => {
  const { addresses, factory, from, transactions } = scope
  if (transactions === undefined) return []
  const ofChildren = factory ? questionsOfChildren(scope, children, to) : []
  return [{ filter: { addresses }, from, to }, ...ofChildren].flatMap(({ filter: { addresses }, from, to }) => {
    const filter = transactionFilter(addresses)
    return addresses.length > 0 ? [{ filter, text: filterText(filter), from, to }] : []
  })
}

export const questionsOf = (
  scopes: readonly ChainScope[],
  childrenOf: (factory: string) => readonly Born[],
): ScopeQuestion[] =>
  scopes.flatMap(scope => {
    const { from, to = Number.MAX_SAFE_INTEGER, factory } = scope
    const filter = filterOfScope(scope)
    const children = factory ? childrenOf(textOfFactory(factory)) : []
    const sent = transactionQuestionsOf(scope, children, to)
    const own = [...(filter ? [{ filter, text: filterText(filter), from, to }] : []), ...sent]
    if (!factory) return own
    const text = textOfFactory(factory)
    const events = { filter: filterOfFactory(factory), text, factory, from, to }
    return [...own, events, ...questionsOfChildren(scope, children, to)]
  })

/** Stands where topics stand, for transactions in place of logs: no event has it. */
const MARK = 'transactions'

export const transactionFilter = (addresses: Iterable<string>): LogFilter => filterFor(addresses, [MARK])

export const isOfTransactions = ({ topics }: LogFilter): boolean => topics[0] === MARK

export const findOpenTransactions = (
  addresses: Iterable<string>,
  coverage: FilterCoverage,
  whole: readonly Range[],
  range: Range,
): OpenQuestion[] => {
  const covered = new Map([...coverage].filter(([text]) => isOfTransactions(filterOf(text))))
  return findOpenQuestions(transactionFilter(addresses), covered, whole, range)
}

interface KeptCoverage extends Range {
  filter: string
}

/** The part of a filter's coverage that some questions still ask for, in their ranges. */
export const remainingCoverage = (text: string, questions: readonly ScopeQuestion[]): KeptCoverage[] => {
  const covered = filterOf(text)
  return questions.flatMap(question => {
    const { from, to } = question
    if (question.text === text) return [{ filter: text, from, to }]
    const filter = common(covered, question.filter)
    return filter ? [{ filter: filterText(filter), from, to }] : []
  })
}

/** Filters for logs have only hex topics; other filters have words in their place. */
export const isOfLogs = ({ topics }: LogFilter): boolean => topics.every(topic => topic.startsWith('0x'))

const common = (one: LogFilter, other: LogFilter): LogFilter | undefined => {
  if (isOfLogs(one) !== isOfLogs(other)) return undefined
  const addresses = commonValues(one.addresses, other.addresses)
  const topics = commonValues(one.topics, other.topics)
  return addresses && topics && filterFor(addresses, topics)
}

/** An empty list allows any value. */
const commonValues = (some: readonly string[], others: readonly string[]): readonly string[] | undefined => {
  if (some.length === 0) return others
  if (others.length === 0) return some
  const known = new Set(others)
  const both = some.filter(value => known.has(value))
  return both.length > 0 ? both : undefined
}
