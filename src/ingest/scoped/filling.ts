import type { LogFilter, ScopedPart } from '../../chain/logs/scoped-source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import { refuse } from '../../lib/errors.ts'
import { merged } from '../../lib/ranges.ts'
import { childrenIn, filterOfFactory, filterOfScope, textOfFactory } from '../../scopes/factory.ts'
import { type Coverage, type Lacking, lackingOf, textOf } from '../../scopes/filter.ts'
import { planOf } from '../../scopes/plan.ts'
import { questionsOfChildren } from '../../scopes/questions.ts'
import type { Factory, Scope } from '../../scopes/scope.ts'
import { extentOf, isMissing, joinUnavailable, type Unavailable } from '../missing.ts'
import type { Lane } from '../pipeline.ts'
import { prefetch } from '../prefetch.ts'
import type { Work } from '../work.ts'
import type { Known } from './known.ts'
import { openTransactionFilling } from './transactions.ts'

/** Blocks that are stored in one transaction, or what came within so long. */
const FLUSH_MS = 500
/**
 * Where blocks join what is stored around them, all of that is written again: the more come at a time, the less often. So they wait for so many times the
 * time that the last ones took, but for no more than so many blocks.
 */
const WORTH = 10
const MOST_WAITING = 4_000

/** Looks up to a block for all that scopes want and that was not looked for before. Gives back the blocks that no node can tell of. */
export const fillScopes = async (
  work: Work,
  known: Known,
  scopes: readonly Scope[],
  top: number,
): Promise<Unavailable | undefined> => {
  try {
    return await fillAll(work, known, scopes, top)
  } finally {
    work.state.filling = null
  }
}

/** First events of factories, which name their children; then other logs, and transactions, of which those with logs are there then. */
const fillAll = async (work: Work, known: Known, scopes: readonly Scope[], top: number) => {
  const lacking: (Unavailable | undefined)[] = []
  const lane = work.pipeline.lane('fill')
  const until = ({ to }: Scope) => Math.min(to ?? top, top)
  const sent = await openTransactionFilling(work, known, scopes, top)
  for (const scope of scopes) {
    const { factory, from } = scope
    if (factory)
      lacking.push(
        await fillFilter(work, known, lane, { filter: filterOfFactory(factory), from, to: until(scope), factory }),
      )
  }
  const questions = scopes.flatMap(scope => {
    const filter = filterOfScope(scope)
    const own = filter ? [{ filter, from: scope.from, to: until(scope) }] : []
    const { factory } = scope
    return factory ? [...own, ...questionsOfChildren(scope, known.children(textOfFactory(factory)), until(scope))] : own
  })
  for (const { filter, from, to } of planOf(questions))
    lacking.push(await fillFilter(work, known, lane, { filter, from, to }))
  for (const parts of sent) lacking.push(await fillParts(work, known, lane, parts()))
  return joinUnavailable(lacking)
}

interface Filling {
  filter: LogFilter
  from: number
  to: number
  /** What names further addresses in what is found. */
  factory?: Factory
}

const fillFilter = async (work: Work, known: Known, lane: Lane, filling: Filling) => {
  const { source, pipeline, lookups, signal } = work
  const { scoped } = source ?? {}
  if (!scoped)
    throw refuse('no_scopes', 'the source of this network cannot look for logs alone: take --contract and --event away')
  const { filter, from, to, factory } = filling
  const range = { from, to }
  // Whoever looks for children needs to have seen each event, and whole blocks name some as well.
  const parts = factory
    ? lackingOf(filter, onlyOf(known.covered(), textOfFactory(factory)), [], range)
    : lackingOf(filter, known.covered(), pipeline.held(), range)
  return fillParts(work, known, lane, {
    parts,
    find: part => scoped.find(part.filter, part, signal, lookups.bloom),
    factory,
  })
}

/** Questions that are still to be asked, and who answers them. */
export interface PartsToFill {
  parts: readonly Lacking[]
  find(part: Lacking): AsyncIterable<ScopedPart>
  factory?: Factory | undefined
}

const fillParts = async (
  work: Work,
  known: Known,
  lane: Lane,
  { parts, find, factory }: PartsToFill,
): Promise<Unavailable | undefined> => {
  const { state, signal, storeBatch, job } = work
  const lacking: Unavailable = { ranges: [], why: '' }
  state.total += parts.reduce((sum, part) => sum + part.to - part.from + 1, 0)
  const isNewestFirst = 'order' in job && job.order === 'newest'
  for (const part of isNewestFirst ? parts.toReversed() : parts) {
    let blocks: RawBlock[] = []
    let next = part.from
    let since = performance.now()
    let took = 0
    const isDue = () => {
      const waited = performance.now() - since
      if (blocks.length >= MOST_WAITING) return true
      return (blocks.length >= storeBatch || waited > FLUSH_MS) && waited > WORTH * took
    }
    const flush = async (end: number) => {
      const children = factory ? blocks.flatMap(raw => childrenIn(raw, [factory])) : []
      const covered = [{ filter: factory ? textOfFactory(factory) : textOf(part.filter), from: next, to: end }]
      const began = performance.now()
      await known.keep(lane, { blocks, notes: { covered, looked: [], children } })
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
        // What is missing lies further on: these blocks are asked for again later.
        const { to } = (await tells(next)) ? left : await extentOf(tells, next, left)
        lacking.ranges.push({ from: next, to })
        lacking.why = error.message
        state.total -= to - next + 1
        next = to + 1
      }
    }
  }
  return lacking.ranges.length === 0 ? undefined : { ...lacking, ranges: merged(lacking.ranges) }
}

const onlyOf = (covered: Coverage, text: string): Coverage => new Map([[text, covered.get(text) ?? []]])
