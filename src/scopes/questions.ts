import type { LogFilter } from '../chain/logs/scoped-source.ts'
import type { Range } from '../lib/ranges.ts'
import { filterOfFactory, filterOfScope, textOfFactory } from './factory.ts'
import { filterFor, textOf } from './filter.ts'
import type { Factory, Scope } from './scope.ts'
import { transactionsOf } from './transactions.ts'

/** Logs that scopes want, and where. */
export interface Question extends Range {
  filter: LogFilter
  /** As which it counts as covered. */
  text: string
  /** What names further addresses in what is found. */
  factory?: Factory
}

/** Where the event is that names an address first. */
interface Born {
  address: string
  number: number
}

/** Epochs of a factory's children: in each, the same addresses are asked for. */
const EPOCHS = 64

/**
 * What a scope wants of a factory's children up to a block: logs from the block on in which they are named. Of very many, some are asked for
 * from a little earlier on, so that not each has questions of its own.
 */
export const questionsOfChildren = ({ from, topics }: Scope, all: readonly Born[], to: number): Question[] => {
  const children = all.filter(({ number }) => number <= to)
  const births = [...new Set(children.map(({ number }) => Math.max(number, from)))].sort((a, b) => a - b)
  const step = Math.max(1, Math.ceil(births.length / EPOCHS))
  const starts = births.filter((_, i) => i % step === 0)
  return starts.map((start, i) => {
    const end = (starts[i + 1] ?? to + 1) - 1
    const addresses = children.filter(({ number }) => number <= end).map(({ address }) => address)
    const filter = filterFor(addresses, topics)
    return { filter, text: textOf(filter), from: start, to: end }
  })
}

/** Whose transactions a scope wants up to a block, and where. */
export const transactionQuestionsOf = (scope: Scope, children: readonly Born[], to: number): Question[] => {
  const { addresses, factory, from, transactions } = scope
  if (transactions === undefined) return []
  const ofChildren = factory ? questionsOfChildren(scope, children, to) : []
  return [{ filter: { addresses }, from, to }, ...ofChildren].flatMap(({ filter: { addresses }, from, to }) => {
    const filter = transactionsOf(addresses)
    return addresses.length > 0 ? [{ filter, text: textOf(filter), from, to }] : []
  })
}

/** All that scopes want, where these children are known of each factory. */
export const questionsOf = (scopes: readonly Scope[], childrenOf: (factory: string) => readonly Born[]): Question[] =>
  scopes.flatMap(scope => {
    const { from, to = Number.MAX_SAFE_INTEGER, factory } = scope
    const filter = filterOfScope(scope)
    const children = factory ? childrenOf(textOfFactory(factory)) : []
    const sent = transactionQuestionsOf(scope, children, to)
    const own = [...(filter ? [{ filter, text: textOf(filter), from, to }] : []), ...sent]
    if (!factory) return own
    const text = textOfFactory(factory)
    const events = { filter: filterOfFactory(factory), text, factory, from, to }
    return [...own, events, ...questionsOfChildren(scope, children, to)]
  })
