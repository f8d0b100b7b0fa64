import type { LogFilter } from '../../chain/logs/scoped-source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import { refuse } from '../../lib/errors.ts'
import { childrenIn, filterOfFactory, filterOfScope, textOfFactory } from '../../scopes/factory.ts'
import { type Coverage, filterFor, lackingOf, textOf } from '../../scopes/filter.ts'
import type { Factory, Scope } from '../../scopes/scope.ts'
import type { Lane } from '../pipeline.ts'
import { prefetch } from '../prefetch.ts'
import type { Work } from '../work.ts'
import type { Known } from './known.ts'

/** Blocks that are stored in one transaction, or what came within so long. */
const FLUSH_MS = 500

/** Looks up to a block for all that scopes want and that was not looked for before. */
export const fillScopes = async (work: Work, known: Known, scopes: readonly Scope[], top: number) => {
  const lane = work.pipeline.lane('fill')
  for (const scope of scopes) {
    const to = Math.min(scope.to ?? top, top)
    const filter = filterOfScope(scope)
    if (filter) await fillFilter(work, known, lane, { filter, from: scope.from, to })
    if (scope.factory) await fillFactory(work, known, lane, { scope, factory: scope.factory, to })
  }
}

interface Filling {
  filter: LogFilter
  from: number
  to: number
  /** What names further addresses in what is found. */
  factory?: Factory
}

const fillFilter = async (work: Work, known: Known, lane: Lane, filling: Filling) => {
  const { source, pipeline, state, signal, storeBatch, job } = work
  if (!source?.scoped)
    throw refuse('no_scopes', 'the source of this network cannot look for logs alone: take --contract and --event away')
  const { filter, from, to, factory } = filling
  const range = { from, to }
  // Whoever looks for children needs to have seen each event, and whole blocks name some as well.
  const lacking = factory
    ? lackingOf(filter, onlyOf(known.covered(), textOfFactory(factory)), [], range)
    : lackingOf(filter, known.covered(), pipeline.held(), range)
  state.total += lacking.reduce((sum, part) => sum + part.to - part.from + 1, 0)
  const isNewestFirst = 'order' in job && job.order === 'newest'
  for (const part of isNewestFirst ? lacking.toReversed() : lacking) {
    let blocks: RawBlock[] = []
    let next = part.from
    let since = performance.now()
    const flush = async (end: number) => {
      const children = factory ? blocks.flatMap(raw => childrenIn(raw, [factory])) : []
      const covered = [{ filter: factory ? textOfFactory(factory) : textOf(part.filter), from: next, to: end }]
      await known.keep(lane, { blocks, notes: { covered, looked: [], children } })
      state.done += end - next + 1
      next = end + 1
      blocks = []
      since = performance.now()
    }
    for await (const found of source.scoped.find(part.filter, part, signal)) {
      signal.throwIfAborted()
      await prefetch(work, found.blocks)
      blocks.push(...found.blocks)
      if (blocks.length >= storeBatch || found.to === part.to || performance.now() - since > FLUSH_MS)
        await flush(found.to)
    }
  }
}

const onlyOf = (covered: Coverage, text: string): Coverage => new Map([[text, covered.get(text) ?? []]])

/** Epochs of a factory's children: in each, the same addresses are asked for. */
const EPOCHS = 64

/**
 * First the factory's events are looked for, which name its children; then the logs of these, from the block on in which they are named. Of
 * very many, some are asked for from a little earlier on, so that not each has questions of its own.
 */
const fillFactory = async (
  work: Work,
  known: Known,
  lane: Lane,
  { scope, factory, to }: { scope: Scope; factory: Factory; to: number },
) => {
  const { from, topics } = scope

  await fillFilter(work, known, lane, { filter: filterOfFactory(factory), from, to, factory })
  const children = known.children(textOfFactory(factory)).filter(({ number }) => number <= to)
  const births = [...new Set(children.map(({ number }) => Math.max(number, from)))]
  const step = Math.max(1, Math.ceil(births.length / EPOCHS))
  const starts = births.filter((_, i) => i % step === 0)
  for (const [i, start] of starts.entries()) {
    const end = (starts[i + 1] ?? to + 1) - 1
    const addresses = children.filter(({ number }) => number <= end).map(({ address }) => address)
    await fillFilter(work, known, lane, { filter: filterFor(addresses, topics), from: start, to: end })
  }
}
