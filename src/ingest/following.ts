import { RECENT } from '../chain/follow.ts'
import type { ChainSource } from '../chain/source.ts'
import type { RawBlock } from '../chain/wire.ts'
import type { BlockPoint } from '../config/kinds.ts'
import type { Scoping } from '../config/scopes.ts'
import { positionOf } from '../engine/schema.ts'
import { ChainsieveError, refuse, stop } from '../lib/errors.ts'
import { systemClock } from '../lib/retry.ts'
import type { Scope } from '../scopes/scope.ts'
import { fill } from './filling.ts'
import { FORGOTTEN, untilForgotten } from './forgetting.ts'
import type { Job, Keep } from './messages.ts'
import { cannotFill, extentOf, fillUntilWhole, isMissing, joinUnavailable, type Unavailable } from './missing.ts'
import { prefetch } from './prefetch.ts'
import { fillScopes } from './scoped/filling.ts'
import { followScopes, leaveOldHeaders, scopesAt } from './scoped/following.ts'
import { createKnown } from './scoped/known.ts'
import { makeRoom } from './sharing.ts'
import type { Work } from './work.ts'

/** Back-fills a range once. */
export const indexRange = async (work: Work, job: Extract<Job, { type: 'index' }>) => {
  const { source, signal, state } = work
  const head = await source!.head(signal)
  state.head = head
  if (job.scoping && !job.scoping.whole) return indexScopes(work, job, job.scoping, head)
  const { network, lookups } = work
  const floor = lookups.floor()
  const from = resolvePoint(job.from, head, floor)
  const to = resolvePoint(job.to, head, head)
  if (to > head)
    throw refuse('beyond_head', `block ${to} is beyond the head of the chain, which is ${head}: lower --to`)
  if (from > to)
    throw refuse(
      'empty_range',
      `there are no blocks from ${from} to ${to}: check --from and --to (the head is ${head})`,
    )
  if (from < floor)
    throw refuse(
      'blocks_pruned',
      `the blocks below ${floor} were pruned: raise --from, or allow indexing them again with chainsieve prune --network ${network} --before ${from}`,
    )
  state.asked = { from, to }
  // The head of last time may have been reorganised since.
  await leaveOldHeaders(work, createKnown(lookups), job.finality)
  const tip = work.pipeline.held().at(-1)?.to
  if (tip !== undefined && tip <= head) await leaveOldBranch(work, tip, job)
  const lacking = await fillTwice(signal, before => fill(work, from, to, job.order, before))
  if (job.scoping) await indexScopes(work, job, job.scoping, head)
  if (work.ruleWatcher.waitsForMarks) await work.finality.known(signal)
  if (lacking) throw cannotFill(lacking)
}

/** Looks for what scopes want, up to where the chain is settled. */
const indexScopes = async (work: Work, { finality }: { finality: number }, { scopes }: Scoping, head: number) => {
  const { lookups, log } = work
  const known = createKnown(lookups)
  await leaveOldHeaders(work, known, finality)
  const settled = head - finality
  const all = scopesAt(scopes, head)
  for (const { from, to } of all)
    if (to !== undefined && from > to)
      throw refuse(
        'empty_range',
        `there are no blocks from ${from} to ${to}: check --from and --to (the head is ${head})`,
      )
  if (all.some(({ to }) => (to ?? head) > settled))
    log.info('Leaves the newest blocks out, since they may be reorganised: a server follows them', { settled })
  const lacking = await fillTwice(work.signal, () => fillScopes(work, known, kept(all, lookups.floor()), settled))
  if (lacking) throw cannotFill(lacking)
}

/** What no node has may have been there a moment later. */
const fillTwice = async (signal: AbortSignal, fill: (before?: Unavailable) => Promise<Unavailable | undefined>) => {
  const lacking = await fill()
  if (lacking === undefined) return undefined
  await systemClock.sleep(ANEW_MS, signal)
  return fill(lacking)
}

const kept = (scopes: readonly Scope[], floor: number): Scope[] =>
  scopes.map(scope => ({ ...scope, from: Math.max(scope.from, floor) }))

/** Follows the head by its headers, and fills what is missing below. */
const followAndFillScopes = async (work: Work, job: Extract<Job, { type: 'follow' }>, wanted: Scoping) => {
  const { source, signal, state, lookups, ruleWatcher } = work
  const { finality, toFinalized = false } = job
  let head = await source!.head(signal)
  state.head = head
  ruleWatcher.fixStarts(head)
  const known = createKnown(lookups)
  await leaveOldHeaders(work, known, finality)
  const scopes = kept(scopesAt(wanted.scopes, head), await firstKept(work, job.keep, head))
  const nextOf = (head: number) => {
    const tip = known.newest()?.number
    return tip !== undefined && tip <= head && head - tip <= CATCH_UP ? tip + 1 : Math.max(0, head - finality + 1)
  }
  // What a factory names below the head is asked for at the head, too: it must be known first.
  if (scopes.some(({ factory }) => factory !== undefined))
    for (let top = Number.NEGATIVE_INFINITY; head - top > CATCH_UP; head = await source!.head(signal)) {
      top = nextOf(head) - 1
      await fillUntilWhole(work, () => fillScopes(work, known, scopes, top))
    }
  const first = nextOf(head)
  const stopAll = new AbortController()
  const inside = { ...work, signal: AbortSignal.any([signal, stopAll.signal]) }
  const parts = [
    followScopes(inside, known, scopes, { from: first, finality, toFinalized }),
    fillUntilWhole(inside, () => fillScopes(inside, known, scopes, first - 1)),
    untilForgotten(work, inside.signal),
  ]
  try {
    await Promise.all(parts)
  } finally {
    stopAll.abort()
    await Promise.allSettled(parts)
  }
}

/** Starts again after every passing error, from what is stored at that time. */
export const keepFollowing = async (work: Work, job: Extract<Job, { type: 'follow' }>) => {
  const { signal, log, state } = work
  for (;;) {
    try {
      return await followAndFill(work, job)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
      state.total = state.done
      if (error.code === FORGOTTEN) continue
      log.warn('Was interrupted, restarts in a moment', { error })
      await systemClock.sleep(ANEW_MS, signal)
    }
  }
}

const ANEW_MS = 5_000

/** Follows the head, and fills what is missing below at the same time. */
const followAndFill = async (work: Work, job: Extract<Job, { type: 'follow' }>) => {
  const { source, signal, state, pipeline, ruleWatcher } = work
  if (job.scoping && !job.scoping.whole) return followAndFillScopes(work, job, job.scoping)
  const head = await source!.head(signal)
  state.head = head
  ruleWatcher.fixStarts(head)
  const wanted = Math.max(resolvePoint(job.from, head, 0), await firstKept(work, job.keep, head))
  const from = Math.min(wanted, head)
  await leaveOldHeaders(work, createKnown(work.lookups), job.finality)
  const tip = pipeline.held().at(-1)?.to
  const has = async (number: number) => (await blockAt(source!, number, signal)) !== undefined
  // What nodes have pruned by now is the back-fill's.
  const mayCatchUp = async (tip: number) =>
    tip >= from - 1 && head - tip <= CATCH_UP && (head - tip <= RECENT || (await has(tip + 1)))
  // Only following finds out which blocks a node for development has instead of the stored ones.
  const near = tip !== undefined && (job.node.shrinks === true || (await mayCatchUp(tip)))
  if (tip !== undefined && !near) await leaveOldBranch(work, tip, job)
  // Blocks that may still be reorganised are left to following; a back-fill touches settled ones alone.
  const wantedNext = async () => {
    const kept = pipeline.held().at(-1)?.to ?? head
    return Math.max(from, (await settledBelow(work, job, head)) + 1, kept < head ? kept + 1 : 0)
  }
  const first = near ? tip + 1 : await firstHad(has, await wantedNext(), head)
  const stopAll = new AbortController()
  const both = AbortSignal.any([signal, stopAll.signal])
  const inside = { ...work, signal: both }
  const fillAll = async () => {
    await fillUntilWhole(inside, async before => {
      const blocks = await fill(inside, from, first - 1, job.order, before)
      if (!job.scoping) return blocks
      const scopes = kept(scopesAt(job.scoping.scopes, head), work.lookups.floor())
      return joinUnavailable([blocks, await fillScopes(inside, createKnown(work.lookups), scopes, first - 1)])
    })
  }
  const parts = [follow(inside, first, near ? tip : undefined, job), fillAll(), untilForgotten(work, both)]
  try {
    await Promise.all(parts)
  } finally {
    stopAll.abort()
    await Promise.allSettled(parts)
  }
}

type Depth = Pick<Extract<Job, { type: 'follow' }>, 'finality' | 'toFinalized'>

/** The highest block, at or below this one, that no reorganisation is expected to remove. */
const settledBelow = async ({ finality, signal, log }: Work, depth: Depth, top: number): Promise<number> => {
  const byDepth = top - depth.finality
  if (depth.toFinalized !== true) return byDepth
  const final = await finality.known(signal)
  if (final !== null) return Math.min(final, top)
  log.warn('No node tells finalized blocks: follows reorganisations up to a depth instead', { blocks: depth.finality })
  return byDepth
}

/** The first block that is not pruned, nor would be as soon as it is stored. */
const firstKept = async ({ source, lookups, signal }: Work, { blocks, forMs }: Keep = {}, head: number) => {
  const byCount = blocks === undefined ? 0 : head - blocks + 1
  let from = Math.max(lookups.floor(), byCount)
  if (forMs === undefined) return from
  const timeOf = async (number: number): Promise<number | undefined> => {
    const block = await blockAt(source!, number, signal)
    return block && Number(block.block.timestamp)
  }
  // As pruning counts: by the time of the chain, which a clock that is wrong does not change.
  const since = Math.min((await timeOf(head)) ?? Number.POSITIVE_INFINITY, Date.now() / 1_000) - forMs / 1_000
  let to = head
  while (from < to) {
    const middle = (from + to) >> 1
    // What no node has any more is older than what all have.
    if (((await timeOf(middle)) ?? 0) < since) from = middle + 1
    else to = middle
  }
  return from
}

/** Blocks behind the head up to which a stored tip is simply followed on; a longer gap is a back-fill of its own. */
const CATCH_UP = 2000

const follow = async (work: Work, from: number, tip: number | undefined, depth: Depth) => {
  const { finality, toFinalized = false } = depth
  const { finalized } = work.finality
  const { source, pipeline, dictionaries, tokens, links, state, pace, signal, log } = work
  const lane = pipeline.lane('head')
  const held = tip === undefined ? undefined : pipeline.stored(tip)
  try {
    for await (const event of source!.follow({
      from,
      stored: pipeline.stored,
      tip: held,
      finality,
      finalized,
      toFinalized,
      signal,
    })) {
      if (event.type === 'rollback') {
        await lane.flush()
        await pipeline.rollback(event.to)
        pace.lost(event.to)
        for (const known of [tokens, links]) known.forget(positionOf(event.to + 1, 0))
        log.info('Followed a reorganisation', { keptUpTo: event.to })
        continue
      }
      const number = Number(event.block.block.number)
      if (dictionaries?.isFilling() && !state.isShared) await makeRoom(work)
      await prefetch(work, [event.block])
      await lane.add(event.block)
      state.headAt = performance.now()
      pace.came({ number, time: Number(event.block.block.timestamp) })
      if (number > (state.head ?? -1)) state.head = number
      // At the head every block is a transaction of its own; far behind it they go together.
      if (number > (state.head ?? 0) - finality) await lane.flush()
    }
  } finally {
    await lane.flush()
  }
}

/** After a long pause the stored tip may lie on a branch that the chain has left: then it is rolled back to where they part. */
const leaveOldBranch = async (work: Work, tip: number, depth: Depth) => {
  const { source, pipeline, tokens, links, signal, log } = work
  const { finality } = depth
  const deepest = Math.min(tip - finality, (await settledBelow(work, depth, tip)) - 1)
  for (let number = tip; number >= 0 && number > deepest; number--) {
    const stored = pipeline.stored(number)
    if (stored) {
      const block = await blockAt(source!, number, signal)
      // No node can say whether it left the chain.
      if (block === undefined) return
      if (block.block.hash !== stored.hash) continue
      if (number === tip) return
    }
    // Below what is held without a gap there is nothing left to differ.
    await pipeline.rollback(number)
    for (const known of [tokens, links]) known.forget(positionOf(number + 1, 0))
    log.info('Followed a reorganisation', { keptUpTo: number })
    return
  }
  throw stop(
    'reorg_too_deep',
    `more than ${finality} stored blocks up to ${tip} are no longer in the chain: is this the same chain? Index it into another data folder, or raise finality`,
  )
}

/** The first block from which on nodes have blocks: what they have pruned must not keep the head from being followed. */
const firstHad = async (has: (number: number) => Promise<boolean>, from: number, head: number): Promise<number> => {
  if (from >= head || (await has(from))) return from
  const { to } = await extentOf(has, from, { from, to: head })
  return Math.min(to + 1, head)
}

/** Undefined where no node has it. */
const blockAt = async (source: ChainSource, number: number, signal: AbortSignal): Promise<RawBlock | undefined> => {
  try {
    const range = source.range({ from: number, to: number, order: 'oldest', run: 1, urgent: true, signal })
    for await (const [block] of range) return block
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return undefined
}

const resolvePoint = (point: BlockPoint | undefined, head: number, fallback: number): number => {
  if (point === undefined) return fallback
  return 'block' in point ? point.block : Math.max(0, head - point.latest)
}
