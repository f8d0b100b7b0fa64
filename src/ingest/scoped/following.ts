import type { LogFilter } from '../../chain/logs/scoped-source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import type { BlockPoint } from '../../config/kinds.ts'
import type { WantedScope } from '../../config/scopes.ts'
import { positionOf } from '../../engine/schema.ts'
import { stop } from '../../lib/errors.ts'
import { childrenIn, filterOfFactory, filterOfScope, textOfFactory } from '../../scopes/factory.ts'
import { filterFor, textOf } from '../../scopes/filter.ts'
import type { Scope } from '../../scopes/scope.ts'
import { transactionsOf } from '../../scopes/transactions.ts'
import { isMissing } from '../missing.ts'
import { prefetch } from '../prefetch.ts'
import { makeRoom } from '../sharing.ts'
import type { Work } from '../work.ts'
import { joinParts } from './join.ts'
import type { Known } from './known.ts'

/** Scopes whose ends are numbers. */
export const scopesAt = (wanted: readonly WantedScope[], head: number): Scope[] =>
  wanted.map(scope => ({
    ...scope,
    from: numberOf(scope.from, head) ?? 0,
    to: numberOf(scope.to, head),
  }))

const numberOf = (point: BlockPoint | undefined, head: number): number | undefined =>
  point && ('block' in point ? point.block : Math.max(0, head - point.latest))

/** Follows the head by its headers, and looks in each block for what scopes want. */
export const followScopes = async (
  work: Work,
  known: Known,
  scopes: readonly Scope[],
  { from, finality, toFinalized }: { from: number; finality: number; toFinalized: boolean },
) => {
  const { source, pipeline, state, pace, dictionaries, tokens, links, signal, log } = work
  const lane = pipeline.lane('head')
  const tip = known.newest()
  const stored = (number: number) => known.looked(number)
  const followed = tip && tip.number === from - 1 ? tip : undefined
  let asked = createAsked(scopes, known)
  const { finalized } = work.finality
  const depth = { finality, finalized, toFinalized }
  const transactions = scopes.some(it => it.transactions !== undefined)
  const events = source!.follow({ from, stored, tip: followed, ...depth, headers: true, transactions, signal })
  for await (const event of events) {
    if (event.type === 'rollback') {
      await pipeline.rollback(event.to)
      known.rollback(event.to)
      asked = createAsked(scopes, known)
      pace.lost(event.to)
      for (const one of [tokens, links]) one.forget(positionOf(event.to + 1, 0))
      log.info('Followed a reorganisation', { keptUpTo: event.to })
      continue
    }
    const { block: header } = event.block
    const number = Number(header.number)
    if (dictionaries?.isFilling() && !state.isShared) await makeRoom(work)
    const { raw, texts, children } = await findIn(work, asked, event.block)
    if (raw) await prefetch(work, [raw])
    const covered = texts.map(filter => ({ filter, from: number, to: number }))
    const looked = [{ number, hash: header.hash, parentHash: header.parentHash }]
    await known.keep(lane, { blocks: raw ? [raw] : [], notes: { covered, looked, children } })
    state.headAt = performance.now()
    pace.came({ number, time: Number(header.timestamp) })
    if (number > (state.head ?? -1)) state.head = number
  }
}

interface Question {
  filter: LogFilter
  /** As which it counts as covered. */
  text: string
}

/** What is asked for at the head. Addresses that are named meanwhile have a filter of their own until the next start. */
interface Asked {
  at(number: number): Question[]
  /** Of whom transactions are wanted; `filter` has the addresses. */
  transactionsAt(number: number): Question[]
  add(child: { factory: string; address: string }): Question[]
  scopes: readonly Scope[]
}

interface Lasting extends Question {
  from: number
  to: number | undefined
}

const isAt =
  (number: number) =>
  ({ from, to }: Lasting): boolean =>
    number >= from && number <= (to ?? number)

const createAsked = (scopes: readonly Scope[], known: Known): Asked => {
  const all: Lasting[] = []
  const senders: Lasting[] = []
  const asked = new Set<string>()
  const wantTransactions = ({ transactions, from, to }: Scope, addresses: readonly string[]) => {
    if (transactions === undefined || addresses.length === 0) return
    const filter = transactionsOf(addresses)
    senders.push({ filter, text: textOf(filter), from, to })
  }
  for (const scope of scopes) {
    const { from, to, factory, topics } = scope
    const filter = filterOfScope(scope)
    if (filter) all.push({ filter, text: textOf(filter), from, to })
    wantTransactions(scope, scope.addresses)
    if (!factory) continue
    all.push({ filter: filterOfFactory(factory), text: textOfFactory(factory), from, to })
    const named = known.children(textOfFactory(factory)).map(({ address }) => address)
    for (const address of named) asked.add(`${textOfFactory(factory)} ${address}`)
    const children = filterFor(named, topics)
    if (named.length > 0) all.push({ filter: children, text: textOf(children), from, to })
    wantTransactions(scope, named)
  }
  return {
    scopes,
    at: number => all.filter(isAt(number)),
    transactionsAt: number => senders.filter(isAt(number)),
    add({ factory: text, address }) {
      if (asked.has(`${text} ${address}`)) return []
      asked.add(`${text} ${address}`)
      return scopes.flatMap(scope => {
        const { factory, topics, from, to } = scope
        if (!factory || textOfFactory(factory) !== text) return []
        const filter = filterFor([address], topics)
        all.push({ filter, text: textOf(filter), from, to })
        wantTransactions(scope, [address])
        return [{ filter, text: textOf(filter) }]
      })
    },
  }
}

/** An address that a block names may emit logs in the same block, and name others in turn. */
const findIn = async ({ source, signal }: Work, asked: Asked, event: RawBlock) => {
  const { block: header, chainId } = event
  const number = Number(header.number)
  const factories = asked.scopes.flatMap(({ factory, from, to }) =>
    factory && number >= from && number <= (to ?? number) ? [factory] : [],
  )
  const questions = asked.at(number)
  const find = (some: readonly Question[]) =>
    source!.scoped!.findIn(
      some.map(({ filter }) => filter),
      header,
      signal,
    )
  let raw = questions.length > 0 ? await find(questions) : undefined
  const children = raw ? childrenIn(raw, factories) : []
  const fresh = children.flatMap(asked.add)
  const more = fresh.length > 0 ? await find(fresh) : undefined
  if (raw && more) raw = joinParts(raw, more)
  const senders = asked.transactionsAt(number)
  const addresses = senders.flatMap(({ filter }) => filter.addresses)
  const sent = addresses.length > 0 ? await source!.transactions!.findIn(addresses, event, signal) : undefined
  raw = raw && sent ? joinParts(sent, raw) : (raw ?? sent)
  if (raw && chainId !== undefined) raw.chainId ??= chainId
  return { raw, texts: [...questions, ...fresh, ...senders].map(({ text }) => text), children }
}

/** After a long pause headers that were looked at may lie on a branch that the chain has left. */
export const leaveOldHeaders = async (work: Work, known: Known, finality: number) => {
  const { source, pipeline, tokens, links, signal, log } = work
  const tip = known.newest()
  if (!tip) return
  for (let number = tip.number; number > tip.number - finality; number--) {
    const looked = known.looked(number)
    if (looked) {
      const range = source!.range({ from: number, to: number, order: 'oldest', run: 1, signal })
      try {
        for await (const blocks of range) if (blocks[0]?.block.hash === looked.hash) return leaveAt(number)
      } catch (error) {
        // No node can say whether it left the chain.
        if (isMissing(error)) return
        throw error
      }
      continue
    }
    return leaveAt(number)
  }
  throw stop(
    'reorg_too_deep',
    `more than ${finality} blocks up to ${tip.number} are no longer in the chain: is this the same chain? Index it into another data folder, or raise finality`,
  )

  async function leaveAt(number: number) {
    if (number === tip!.number) return
    await pipeline.rollback(number)
    known.rollback(number)
    for (const one of [tokens, links]) one.forget(positionOf(number + 1, 0))
    log.info('Followed a reorganisation', { keptUpTo: number })
  }
}
