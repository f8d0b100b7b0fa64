import type { LogFilter, ScopedPart } from '../../chain/source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import type { BlockPoint } from '../../config/kinds.ts'
import type { WantedScope } from '../../config/scopes.ts'
import type { Child } from '../../engine/coverage.ts'
import type { Lookups } from '../../engine/port.ts'
import { refuse } from '../../lib/errors.ts'
import { countIntegers, gapsIn, mergeRanges, type Range } from '../../lib/ranges.ts'
import { type ChainScope, childrenIn, type Factory, textOfFactory } from '../../scopes/factory.ts'
import { filterText, findOpenQuestions, type OpenQuestion, planQuestions } from '../../scopes/filter.ts'
import {
  findOpenTransactions,
  isOfLogs,
  questionsOf,
  type ScopeQuestion,
  transactionQuestionsOf,
} from '../../scopes/questions.ts'
import { prefetch, type Work } from '../job-context.ts'
import type { BlockLane } from '../lane.ts'
import { joinParts } from '../scoped/partial-blocks.ts'
import { extentOf, isMissing, joinUnavailable, type Unavailable } from './missing.ts'

const FLUSH_MS = 500
/** Joining rewrites stored neighbours, so blocks wait this multiple of the last duration. */
const WAIT_FACTOR = 10
const MAX_WAITING_BLOCKS = 4_000

type EndedScope = ChainScope & { to: number }

/** Fills gaps of scopes up to a block: events of factories, then logs, then transactions. */
export const fillScopes = async (
  work: Work,
  wanted: readonly ChainScope[],
  top: number,
): Promise<Unavailable | undefined> => {
  const { pipeline, lookups, state } = work
  const { coverage } = lookups
  const scopes = wanted.map((scope): EndedScope => ({ ...scope, to: Math.min(scope.to ?? top, top) }))
  const lacking: (Unavailable | undefined)[] = []
  try {
    const sent = await openTransactionFilling(work, scopes, top)
    for (const { filter, text, factory, ...range } of questionsIn(lookups, scopes)) {
      if (!factory) continue
      // Finding children takes every event, including those in whole blocks.
      const covered = new Map([[text, coverage.covered().get(text) ?? []]])
      lacking.push(await fillLogs(work, findOpenQuestions(filter, covered, [], range), factory))
    }
    const questions = questionsIn(lookups, scopes).filter(({ filter, factory }) => !factory && isOfLogs(filter))
    for (const { filter, ...range } of planQuestions(questions))
      lacking.push(await fillLogs(work, findOpenQuestions(filter, coverage.covered(), pipeline.held(), range)))
    for (const fillSent of sent) lacking.push(await fillSent())
  } finally {
    state.filling = null
  }
  return joinUnavailable(lacking)
}

const fillLogs = async (work: Work, parts: readonly OpenQuestion[], factory?: Factory) => {
  const { source, lookups, signal } = work
  const { scoped } = source ?? {}
  if (!scoped)
    throw refuse('no_scopes', 'the source of this network cannot look for logs alone: take --contract and --event away')
  return fillParts(work, parts, part => scoped.find(part.filter, part, signal, lookups.bloom), factory)
}

/** Begins to look for transactions; the rest follows when logs have named children. */
const openTransactionFilling = async (work: Work, scopes: readonly EndedScope[], top: number) => {
  const { source, pipeline, lookups, signal } = work
  const lackingIn = (addresses: readonly string[], { from, to }: Range) =>
    findOpenTransactions(addresses, lookups.coverage.covered(), pipeline.held(), { from, to })
  const asking = scopes.filter(scope => {
    if (scope.transactions === undefined) return false
    if (scope.factory) return gapsIn(pipeline.held(), scope.from, scope.to).length > 0
    return lackingIn(scope.addresses, scope).length > 0
  })
  if (asking.length === 0) return []
  const { transactions } = source ?? {}
  if (!transactions) throw refuse('no_scopes', 'the source of this network cannot look for transactions alone')
  const from = asking.reduce((least, scope) => Math.min(least, scope.from), top)
  const found = await transactions.searching(from, signal)
  if (found.by === null) refuseUnlessRead(work, asking, found.why, { from, to: top })
  const known = (hashes: readonly string[]): ReadonlySet<string> =>
    hashes.length === 0 ? new Set() : work.storedBlocks().transactions(hashes)
  return asking.map(scope => () => {
    const { factory } = scope
    const children = lookups.coverage.children().filter(it => factory && it.factory === textOfFactory(factory))
    const parts = transactionQuestionsOf(scope, children, scope.to).flatMap(it => lackingIn(it.filter.addresses, it))
    return fillParts(work, parts, part =>
      transactions.find(part.filter.addresses, part, { by: found.by, known }, signal),
    )
  })
}

const refuseUnlessRead = (
  { network, log }: Pick<Work, 'network' | 'log'>,
  scopes: readonly ChainScope[],
  why: string,
  { from, to }: Range,
) => {
  if (scopes.some(({ transactions }) => transactions === 'search'))
    throw refuse(
      'no_transaction_search',
      `${network}: a scope has transactions = true, but no node finds the transactions of an address (${why}). Add a node with trace_filter (Erigon, Nethermind, Reth, anvil) or ots_searchTransactionsAfter (Erigon, anvil), ` +
        `or set transactions = "read-blocks" to read the ${to - from + 1} blocks from ${from} to ${to} one by one, or leave transactions out`,
    )
  log.info('Reads each block for the transactions of scopes, since no node finds them', { from, to, why })
}

const fillParts = async (
  work: Work,
  parts: readonly OpenQuestion[],
  find: (part: OpenQuestion) => AsyncIterable<ScopedPart>,
  factory?: Factory,
): Promise<Unavailable | undefined> => {
  const { pipeline, state, signal, storeBatch, job } = work
  const lane = pipeline.lane('fill')
  const lacking: Unavailable = { ranges: [], why: '' }
  const coverTextOf = (filter: LogFilter) => (factory ? textOfFactory(factory) : filterText(filter))
  state.total += countIntegers(parts)
  const isNewestFirst = 'order' in job && job.order === 'newest'
  for (const part of isNewestFirst ? parts.toReversed() : parts) {
    let blocks: RawBlock[] = []
    let next = part.from
    let since = performance.now()
    let took = 0
    const isDue = () => {
      const waited = performance.now() - since
      if (blocks.length >= MAX_WAITING_BLOCKS) return true
      return (blocks.length >= storeBatch || waited > FLUSH_MS) && waited > WAIT_FACTOR * took
    }
    const flush = async (end: number) => {
      const children = factory ? blocks.flatMap(raw => childrenIn(raw, [factory])) : []
      const covered = [{ filter: coverTextOf(part.filter), from: next, to: end }]
      const began = performance.now()
      await lane.addScoped({ blocks, notes: { covered, looked: [], children } })
      state.done += end - next + 1
      next = end + 1
      if (state.filling) state.filling.next = next
      blocks = []
      since = performance.now()
      took = since - began
    }
    state.filling = { filter: part.filter, from: part.from, to: part.to, next }
    const tells = async (number: number) => {
      try {
        for await (const _ of find({ ...part, from: number, to: number }));
        return true
      } catch (error) {
        if (!isMissing(error)) throw error
        return false
      }
    }
    while (next <= part.to) {
      try {
        for await (const found of find({ ...part, from: next })) {
          signal.throwIfAborted()
          await prefetch(work, found.blocks)
          blocks.push(...found.blocks)
          if (found.to === part.to || isDue()) await flush(found.to)
        }
        break
      } catch (error) {
        if (!isMissing(error)) throw error
        blocks = []
        const left = { from: next, to: part.to }
        const { to } = (await tells(next)) ? left : await extentOf(tells, next, left)
        lacking.ranges.push({ from: next, to })
        lacking.why = error.message
        state.total -= to - next + 1
        next = to + 1
      }
    }
  }
  return lacking.ranges.length === 0 ? undefined : { ...lacking, ranges: mergeRanges(lacking.ranges) }
}

export const createHeadScopes = (scopes: readonly ChainScope[], coverage: Lookups['coverage']) => {
  let asked = createHeadQuestions(scopes, coverage)
  return {
    left() {
      asked = createHeadQuestions(scopes, coverage)
    },
    async take(work: Work, lane: BlockLane, event: RawBlock) {
      const { hash, parentHash } = event.block
      const { raw, notes } = await findIn(work, asked, event)
      if (raw) await prefetch(work, [raw])
      const looked = [{ number: Number(event.block.number), hash, parentHash }]
      await lane.addScoped({ blocks: raw ? [raw] : [], notes: { ...notes, looked } })
    },
  }
}

type HeadQuestions = ReturnType<typeof createHeadQuestions>
/** Children named later have a separate filter until the next start. */
const createHeadQuestions = (scopes: readonly ChainScope[], coverage: Lookups['coverage']) => {
  const keyOf = ({ factory, address }: Pick<Child, 'factory' | 'address'>) => `${factory} ${address}`
  const known = new Set(coverage.children().map(keyOf))
  const all = questionsIn({ coverage }, scopes)
  const isAt =
    (number: number) =>
    ({ from, to }: ScopeQuestion): boolean =>
      number >= from && number <= to
  return {
    at: (number: number): ScopeQuestion[] => all.filter(isAt(number)),
    add(child: Child): ScopeQuestion[] {
      if (known.has(keyOf(child))) return []
      known.add(keyOf(child))
      const fresh = scopes.flatMap(scope =>
        scope.factory && textOfFactory(scope.factory) === child.factory
          ? questionsOf([{ ...scope, addresses: [child.address], factory: undefined }], () => [])
          : [],
      )
      all.push(...fresh)
      return fresh.filter(isAt(child.number))
    },
  }
}

/** A named address may emit logs in the same block and name further ones. */
const findIn = async ({ source, signal }: Work, asked: HeadQuestions, event: RawBlock) => {
  const { block: header, chainId } = event
  const number = Number(header.number)
  const find = async (some: readonly ScopeQuestion[]) => {
    const filters = some.map(({ filter }) => filter).filter(isOfLogs)
    return filters.length > 0 ? source!.scoped!.findIn(filters, header, signal) : undefined
  }
  const join = (one: RawBlock | undefined, other: RawBlock | undefined) =>
    one && other ? joinParts(one, other) : (one ?? other)
  const questions = asked.at(number)
  let raw = await find(questions)
  const factories = questions.flatMap(({ factory }) => factory ?? [])
  const children = raw ? childrenIn(raw, factories) : []
  const fresh = children.flatMap(asked.add)
  raw = join(raw, await find(fresh))
  const all = [...questions, ...fresh]
  const addresses = all.flatMap(({ filter }) => (isOfLogs(filter) ? [] : filter.addresses))
  raw = join(addresses.length > 0 ? await source!.transactions!.findIn(addresses, event, signal) : undefined, raw)
  if (raw && chainId !== undefined) raw.chainId ??= chainId
  return { raw, notes: { covered: all.map(({ text }) => ({ filter: text, from: number, to: number })), children } }
}

export const resolveBlock = (point: BlockPoint | undefined, head: number): number | undefined =>
  point && ('block' in point ? point.block : Math.max(0, head - point.latest))
export const scopesAt = (wanted: readonly WantedScope[], head: number): ChainScope[] =>
  wanted.map(scope => ({ ...scope, from: resolveBlock(scope.from, head) ?? 0, to: resolveBlock(scope.to, head) }))
export const scopesFrom = (scopes: readonly ChainScope[], floor: number): ChainScope[] =>
  scopes.map(scope => ({ ...scope, from: Math.max(scope.from, floor) }))
export const questionsIn = (
  { coverage }: Pick<Lookups, 'coverage'>,
  scopes: readonly ChainScope[],
): ScopeQuestion[] => {
  const children = Map.groupBy(coverage.children(), ({ factory }) => factory)
  return questionsOf(scopes, text => children.get(text) ?? [])
}
