import { RECENT } from '../../chain/blocks/follow-reorgs.ts'
import type { BlockRef, ChainSource, FollowOptions } from '../../chain/source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import type { Scoping } from '../../config/scopes.ts'
import { positionOf } from '../../engine/schema.ts'
import { ChainsieveError, refuse, stop } from '../../lib/errors.ts'
import { systemClock } from '../../lib/retry.ts'
import { makeRoom } from '../decoding/open-decoding.ts'
import { prefetch, type Work } from '../job-context.ts'
import type { BlockLane } from '../lane.ts'
import type { BlockRetention, IndexJob } from '../messages.ts'
import { fill } from './backfill.ts'
import { cannotFill, extentOf, fillUntilWhole, isMissing, joinUnavailable, type Unavailable } from './missing.ts'
import { createHeadScopes, fillScopes, resolveBlock, scopesAt, scopesFrom } from './scopes.ts'
import { BLOCKS_FORGOTTEN, untilForgotten } from './watch.ts'

type FollowJob = Extract<IndexJob, { type: 'follow' }>

/** Follows the head and fills below it; restarts from stored blocks after transient errors. */
export const keepFollowing = async (work: Work, job: FollowJob) => {
  const { signal, log, state } = work
  for (;;) {
    try {
      return await followAndFill(work, job)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
      state.total = state.done
      if (error.code === BLOCKS_FORGOTTEN) continue
      log.warn('Was interrupted, restarts in a moment', { error })
      await systemClock.sleep(RETRY_JOB_MS, signal)
    }
  }
}

interface Track extends Pick<FollowOptions, 'from' | 'tip' | 'stored' | 'headers' | 'transactions'> {
  take(work: Work, lane: BlockLane, block: RawBlock): Promise<void>
  left?(): void
  fill(work: Work, before: Unavailable | undefined): Promise<Unavailable | undefined>
}

const followAndFill = async (work: Work, job: FollowJob) => {
  const head = await work.source!.head(work.signal)
  work.state.head = head
  work.ruleWatcher.fixStarts(head)
  await leaveOldHeaders(work, job)
  const track =
    job.scoping && !job.scoping.whole ? await trackScopes(work, job, head) : await trackBlocks(work, job, head)
  const over = new AbortController()
  const inside = { ...work, signal: AbortSignal.any([work.signal, over.signal]) }
  const parts = [
    followHead(inside, track, job),
    fillUntilWhole(inside, before => track.fill(inside, before)),
    untilForgotten(inside),
  ]
  try {
    await Promise.all(parts)
  } finally {
    over.abort()
    await Promise.allSettled(parts)
  }
}

const trackBlocks = async (work: Work, job: FollowJob, head: number): Promise<Track> => {
  const { source, signal, pipeline, lookups } = work
  const from = Math.min(head, Math.max(resolveBlock(job.from, head) ?? 0, await firstKept(work, job.keep, head)))
  const tip = pipeline.held().at(-1)?.to
  const has = async (number: number) => (await readBlock(source!, number, signal)) !== undefined
  // The back-fill handles blocks that nodes have pruned.
  const mayCatchUp = async (tip: number) =>
    tip >= from - 1 && head - tip <= CATCH_UP && (head - tip <= RECENT || (await has(tip + 1)))
  // Only following detects which blocks of a development node replaced stored ones.
  const near = tip !== undefined && (job.node.shrinks === true || (await mayCatchUp(tip)))
  if (tip !== undefined && !near) await leaveOldBlocks(work, tip, job)
  // Following takes blocks that may be reorganised; a back-fill takes only settled ones.
  const wantedNext = async () => {
    const kept = pipeline.held().at(-1)?.to ?? head
    return Math.max(from, (await settledBelow(work, job, head)) + 1, kept < head ? kept + 1 : 0)
  }
  const first = near ? tip + 1 : await firstHad(has, await wantedNext(), head)
  return {
    from: first,
    tip: near ? pipeline.stored(tip) : undefined,
    stored: pipeline.stored,
    async take(inside, lane, block) {
      await prefetch(inside, [block])
      await lane.add(block)
    },
    async fill(inside, before) {
      const blocks = await fill(inside, from, first - 1, job.order, before)
      if (!job.scoping) return blocks
      const scopes = scopesFrom(scopesAt(job.scoping.scopes, head), lookups.floor())
      return joinUnavailable([blocks, await fillScopes(inside, scopes, first - 1)])
    },
  }
}

const trackScopes = async (work: Work, job: FollowJob, begin: number): Promise<Track> => {
  const { source, signal, lookups } = work
  const { coverage } = lookups
  let head = begin
  const scopes = scopesFrom(scopesAt(job.scoping!.scopes, head), await firstKept(work, job.keep, head))
  const nextOf = (head: number) => {
    const tip = coverage.newest()?.number
    return tip !== undefined && tip <= head && head - tip <= CATCH_UP ? tip + 1 : Math.max(0, head - job.finality + 1)
  }
  // Finds a factory's children below the head first, since their logs are needed at the head.
  if (scopes.some(({ factory }) => factory !== undefined))
    for (let top = Number.NEGATIVE_INFINITY; head - top > CATCH_UP; head = await source!.head(signal)) {
      top = nextOf(head) - 1
      await fillUntilWhole(work, () => fillScopes(work, scopes, top))
    }
  const from = nextOf(head)
  const tip = coverage.newest()
  return {
    ...{ from, tip: tip?.number === from - 1 ? tip : undefined, stored: coverage.looked },
    ...{ headers: true, transactions: scopes.some(it => it.transactions !== undefined) },
    ...createHeadScopes(scopes, coverage),
    fill: inside => fillScopes(inside, scopes, from - 1),
  }
}

/** Longest gap, in blocks, that following closes by itself; a longer one takes a back-fill. */
const CATCH_UP = 2000

const followHead = async (
  work: Work,
  { take, left, fill, ...track }: Track,
  { finality, toFinalized = false }: Depth,
) => {
  const { source, pipeline, dictionaries, state, pace, signal } = work
  const { finalized } = work.finality
  const lane = pipeline.lane('head')
  try {
    for await (const event of source!.follow({ ...track, finality, finalized, toFinalized, signal })) {
      if (event.type === 'rollback') {
        await lane.flush()
        await rollBack(work, event.to)
        left?.()
        continue
      }
      const number = Number(event.block.block.number)
      if (dictionaries?.isFilling() && !state.isShared) await makeRoom(work)
      await take(work, lane, event.block)
      state.headAt = performance.now()
      pace.came({ number, time: Number(event.block.block.timestamp) })
      state.head = Math.max(state.head ?? -1, number)
      // At the head, each block is a transaction; far behind it, blocks share one.
      if (number > state.head - finality) await lane.flush()
    }
  } finally {
    await lane.flush()
  }
}

const firstKept = async ({ source, lookups, signal }: Work, { blocks, forMs }: BlockRetention = {}, head: number) => {
  const byCount = blocks === undefined ? 0 : head - blocks + 1
  let from = Math.max(lookups.floor(), byCount)
  if (forMs === undefined) return from
  const timeOf = async (number: number): Promise<number | undefined> => {
    const block = await readBlock(source!, number, signal)
    return block && Number(block.block.timestamp)
  }
  // Uses the chain's time, as pruning does, since the local clock may be wrong.
  const since = Math.min((await timeOf(head)) ?? Number.POSITIVE_INFINITY, Date.now() / 1_000) - forMs / 1_000
  let to = head
  while (from < to) {
    const middle = (from + to) >> 1
    if (((await timeOf(middle)) ?? 0) < since) from = middle + 1
    else to = middle
  }
  return from
}

/** First block that nodes still have: pruned blocks must not keep the head from being followed. */
const firstHad = async (has: (number: number) => Promise<boolean>, from: number, head: number): Promise<number> => {
  if (from >= head || (await has(from))) return from
  const { to } = await extentOf(has, from, { from, to: head })
  return Math.min(to + 1, head)
}

const RETRY_JOB_MS = 5_000
export type Depth = Pick<Extract<IndexJob, { type: 'follow' }>, 'finality' | 'toFinalized'>
const rollBack = async ({ pipeline, ruleWatcher, pace, tokens, links, log }: Work, to: number) => {
  await pipeline.rollback(to)
  ruleWatcher.rollback(to)
  pace.lost(to)
  for (const known of [tokens, links]) known.forget(positionOf(to + 1, 0))
  log.info('Followed a reorganisation', { keptUpTo: to })
}

const settledBelow = async ({ finality, signal, log }: Work, depth: Depth, top: number): Promise<number> => {
  const byDepth = top - depth.finality
  if (depth.toFinalized !== true) return byDepth
  const final = await finality.known(signal)
  if (final !== null) return Math.min(final, top)
  log.warn('No node reports finalized blocks: follows reorganisations up to a depth instead', {
    blocks: depth.finality,
  })
  return byDepth
}

/** After a pause, rolls a stored tip on an abandoned branch back to the fork. */
const leaveOldBlocks = async (work: Work, tip: number, depth: Depth) => {
  const deepest = Math.min(tip - depth.finality, (await settledBelow(work, depth, tip)) - 1)
  await leaveOldBranch(
    work,
    { tip, stored: work.pipeline.stored, deepest: Math.max(-1, deepest) },
    depth,
    'stored blocks',
  )
}

const leaveOldHeaders = async (work: Work, depth: Depth) => {
  const { newest, looked } = work.lookups.coverage
  const tip = newest()?.number
  if (tip !== undefined)
    await leaveOldBranch(work, { tip, stored: looked, deepest: tip - depth.finality }, depth, 'blocks')
}

interface Branch {
  tip: number
  stored(number: number): BlockRef | undefined
  deepest: number
}

const leaveOldBranch = async (work: Work, { tip, stored, deepest }: Branch, { finality }: Depth, what: string) => {
  for (let number = tip; number > deepest; number--) {
    const ours = stored(number)
    if (ours) {
      const block = await readBlock(work.source!, number, work.signal)
      if (block === undefined) return
      if (block.block.hash !== ours.hash) continue
      if (number === tip) return
    }
    return rollBack(work, number)
  }
  throw stop(
    'reorg_too_deep',
    `more than ${finality} ${what} up to ${tip} are no longer in the chain: is this the same chain? Index it into another data folder, or raise finality`,
  )
}

const readBlock = async (source: ChainSource, number: number, signal: AbortSignal): Promise<RawBlock | undefined> => {
  try {
    const range = source.range({ from: number, to: number, order: 'oldest', run: 1, urgent: true, signal })
    for await (const [block] of range) return block
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return undefined
}

export const indexRange = async (work: Work, job: Extract<IndexJob, { type: 'index' }>) => {
  const { source, signal, state, network, lookups } = work
  const head = await source!.head(signal)
  state.head = head
  if (job.scoping && !job.scoping.whole) return indexScopes(work, job, job.scoping, head)
  const floor = lookups.floor()
  const from = resolveBlock(job.from, head) ?? floor
  const to = resolveBlock(job.to, head) ?? head
  if (to > head)
    throw refuse('beyond_head', `block ${to} is beyond the head of the chain, which is ${head}: lower --to`)
  if (from > to) throw emptyRange({ from, to }, head)
  if (from < floor)
    throw refuse(
      'blocks_pruned',
      `the blocks below ${floor} were pruned: raise --from, or allow indexing them again with chainsieve prune --network ${network} --before ${from}`,
    )
  state.asked = { from, to }
  await leaveOldHeaders(work, job)
  const tip = work.pipeline.held().at(-1)?.to
  if (tip !== undefined && tip <= head) await leaveOldBlocks(work, tip, job)
  const lacking = await fillTwice(signal, before => fill(work, from, to, job.order, before))
  if (job.scoping) await indexScopes(work, job, job.scoping, head)
  if (work.ruleWatcher.waitsForMarks) await work.finality.known(signal)
  if (lacking) throw cannotFill(lacking)
}

const indexScopes = async (work: Work, { finality }: { finality: number }, { scopes }: Scoping, head: number) => {
  const { lookups, log } = work
  await leaveOldHeaders(work, { finality })
  const settled = head - finality
  const all = scopesAt(scopes, head)
  for (const { from, to } of all) if (to !== undefined && from > to) throw emptyRange({ from, to }, head)
  if (all.some(({ to }) => (to ?? head) > settled))
    log.info('Leaves the newest blocks out, since they may be reorganised: a server follows them', { settled })
  const lacking = await fillTwice(work.signal, () => fillScopes(work, scopesFrom(all, lookups.floor()), settled))
  if (lacking) throw cannotFill(lacking)
}

const emptyRange = ({ from, to }: { from: number; to: number }, head: number) =>
  refuse('empty_range', `there are no blocks from ${from} to ${to}: check --from and --to (the head is ${head})`)
const fillTwice = async (signal: AbortSignal, fill: (before?: Unavailable) => Promise<Unavailable | undefined>) => {
  const lacking = await fill()
  if (lacking === undefined) return undefined
  await systemClock.sleep(RETRY_JOB_MS, signal)
  return fill(lacking)
}
