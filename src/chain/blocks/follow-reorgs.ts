import { ChainsieveError, retry, stop } from '../../lib/errors.ts'
import { backoff, type Clock } from '../../lib/retry.ts'
import { refOf } from '../check/check-block.ts'
import { BLOCK_MISSING, type Head, readHead, readHeads } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { BlockRef, ChainEvent, FollowOptions } from '../source.ts'
import { type FetchOptions, fetchAscending } from './fetch-range.ts'
import type { Heads } from './head-watcher.ts'

interface FollowSettings extends FetchOptions {
  rpc: Rpc
  heads: Heads
  clock: Clock
  random: () => number
  /** Whether the node is for development: its chain may be cut back or restarted. Default false. */
  shrinks?: boolean
}

/**
 * Follows the chain from the stored tip on, and detects reorgs: a stored block is rolled back if:
 *
 * - A node has a block above our tip with another parent, and its headers below link down to a
 *   stored block: its chain is consistent and at least as long as ours.
 * - A node's head is as high as our tip, but another block. Siblings may alternate briefly, so it
 *   is read twice, and its headers below must link down as well.
 * - A node's head is below our tip and differs from our block of that height in several polls,
 *   while no other node has our tip: the chain was cut back, e.g. by a restored snapshot. With
 *   `shrinks` one poll is enough, down to no blocks if even the first one differs. If the head does
 *   not differ, the node lags, and we wait.
 *
 * Inconsistent answers (a node lacks a parent, or an announced block is null) are retried, with the
 * reason in the node's status; they are neither skipped nor cause a rollback.
 */
export async function* followChain(options: FollowOptions, settings: FollowSettings): AsyncGenerator<ChainEvent> {
  const { finality, signal } = options
  const { rpc, heads, clock, random } = settings
  let tip = options.tip
  let first = options.from
  /** Blocks that were yielded but may not be stored yet, by number. */
  const yielded = new Map<number, string>()
  const held = (number: number): BlockRef | undefined => {
    const hash = yielded.get(number) ?? (options.tip?.number === number ? options.tip.hash : undefined)
    return hash === undefined ? options.stored(number) : { number, hash }
  }

  const branches = createBranchReader({ rpc, clock, held, signal })
  const finalized = (): number => (settings.shrinks === true ? -1 : (options.finalized?.() ?? -1))
  const isFinalized = (number: number): boolean => number >= 0 && number === finalized()

  let cut: { times: number; since: number } | undefined

  let failures = 0
  for (;;) {
    const head = await heads.next(signal)
    if (head === undefined) continue
    try {
      yield* advance(head)
      failures = 0
    } catch (error) {
      signal.throwIfAborted()
      // The status of the nodes has the cause; here, the block is just not available yet.
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
      const next = tip === undefined ? first : tip.number + 1
      // Nodes have pruned the wanted blocks: following starts above them.
      if (error.code === BLOCK_MISSING && failures >= GONE_TIMES && head.number - next > RECENT) throw error
      // A node that lags a little catches up soon: the next block must not be late.
      const capMs = error.code === BEHIND && !rpc.isSparing ? 1_000 : 5_000
      await clock.sleep(backoff(++failures, { random, capMs }), signal)
      heads.poke()
    }
  }

  async function* advance(head: Head): AsyncGenerator<ChainEvent> {
    if (tip === undefined || head.number >= tip.number) cut = undefined
    if (tip === undefined) {
      if (head.number >= first) yield* extend(first, head.number)
    } else if (head.number > tip.number) {
      yield* extend(tip.number + 1, head.number)
    } else if (head.number === tip.number) {
      if (head.hash !== tip.hash) {
        if (await branches.isConfirmed(head)) yield* leave(tip, head.number)
        heads.poke()
      }
    } else if ((settings.shrinks === true || isCut(head, tip)) && (await branches.isConfirmed(head))) {
      yield* leave(tip, head.number)
      heads.poke()
    } else {
      yield* advance(await branches.newerHead(tip))
    }
  }

  /** Whether the cut was seen often enough: a single answer may come from a lagging node. */
  function isCut({ number, hash }: Head, ours: BlockRef): boolean {
    const same = held(number)
    if (same === undefined || same.hash === hash) {
      cut = undefined
      return false
    }
    const now = clock.elapsed()
    cut ??= { times: 0, since: now }
    cut.times++
    const hasOurs = ({ head }: Endpoint) =>
      head !== undefined && head.number >= ours.number && now - head.at < REMEMBERED_MS
    return cut.times >= CUT_TIMES && now - cut.since >= CUT_MS && !rpc.endpoints.some(hasOurs)
  }

  async function* extend(from: number, to: number): AsyncGenerator<ChainEvent> {
    for await (const block of fetchAscending(rpc, from, to, { ...settings, tries: BLOCK_TRIES }, signal)) {
      if (tip !== undefined && block.block.parentHash !== tip.hash) {
        yield* leave(tip, tip.number)
        heads.poke()
        return
      }
      tip = refOf(block.block)
      yielded.set(tip.number, tip.hash)
      yielded.delete(tip.number - REMEMBERED_BLOCKS)
      yield { type: 'block', block }
    }
  }

  /** Rolls back to the common ancestor with the node's chain, read down from block `top`. */
  async function* leave(ours: BlockRef, top: number): AsyncGenerator<ChainEvent> {
    let ancestor: number | undefined
    // An error that stops everything must occur twice.
    for (let seen = 0; seen < 2 && ancestor === undefined; seen++) {
      if (seen > 0) await clock.sleep(SECOND_LOOK_MS, signal)
      ancestor = await branches.ancestorOf({ ours, top, lowest: () => lowestOf(ours) })
    }
    if (ancestor === undefined && settings.shrinks === true) ancestor = -1
    if (ancestor === undefined && isFinalized(lowestOf(ours))) throw belowFinalized(ours, lowestOf(ours))
    if (ancestor === undefined) {
      throw stop(
        'reorg_too_deep',
        `the node's chain leaves the stored one more than ${finality} blocks below block ${ours.number} (${ours.hash}), which is deeper than this finality. ` +
          'If the node is right (it was reset, or the chain really did this), raise finality above that depth or index into an empty data folder; otherwise use another node',
      )
    }
    if (ancestor === ours.number) return
    for (const number of yielded.keys()) if (number > ancestor) yielded.delete(number)
    tip = held(ancestor)
    first = ancestor + 1
    yield { type: 'rollback', to: ancestor }
  }

  function lowestOf(ours: BlockRef): number {
    const final = finalized()
    const deepest = options.toFinalized === true && final >= 0 ? 0 : ours.number - finality
    return Math.max(0, deepest, Math.min(final, ours.number))
  }
}

interface BranchReaderOptions extends Pick<FollowSettings, 'rpc' | 'clock'> {
  held(number: number): BlockRef | undefined
  signal: AbortSignal
}

interface Parting {
  ours: BlockRef
  top: number
  lowest(): number
}

const createBranchReader = ({ rpc, clock, held, signal }: BranchReaderOptions) => {
  const findAncestor = async (endpoint: Endpoint, parting: Parting): Promise<number | undefined> => {
    const { ours, top } = parting
    const lowest = parting.lowest()
    let above: Head | undefined
    for (let high = top; high >= lowest; ) {
      // Does not request blocks below the stored ones: nodes may have pruned them.
      let low = high
      while (low > lowest && high - low + 1 < HEADS_PER_CALL && held(low - 1) !== undefined) low--
      const branch = await readHeads(endpoint, low, high, signal)
      for (const head of branch.reverse()) {
        if (above !== undefined && above.parentHash !== head.hash) throw notItsParent(above, head)
        const same = held(head.number)
        if (same === undefined || same.hash === head.hash) {
          if (head.number === ours.number) await checkNext(endpoint, head)
          return head.number
        }
        above = head
      }
      if (low > lowest && held(low - 1) === undefined) return low - 1
      high = low - 1
    }
    return undefined
  }

  /** The node has our tip after all: the next block must name it as its parent. */
  const checkNext = async (endpoint: Endpoint, head: Head): Promise<void> => {
    const newest = await readHead(endpoint, signal)
    if (newest.number <= head.number) return
    const [next] = (await readHeads(endpoint, head.number + 1, head.number + 1, signal)) as [Head]
    if (next.parentHash !== head.hash) throw notItsParent(next, head)
  }

  return {
    ancestorOf: (parting: Parting) =>
      rpc.attempt(endpoint => findAncestor(endpoint, parting), signal, { tries: BLOCK_TRIES, urgent: true }),
    async isConfirmed(head: Head): Promise<boolean> {
      await clock.sleep(CONFIRM_MS, signal)
      const again = async (endpoint: Endpoint) => {
        const [now] = await readHeads(endpoint, head.number, head.number, signal)
        return now!.hash === head.hash
      }
      return rpc.attempt(again, signal, { tries: BLOCK_TRIES, urgent: true })
    },
    newerHead(ours: BlockRef): Promise<Head> {
      const read = async (endpoint: Endpoint) => {
        const head = await rpc.headOf(endpoint, signal)
        if (head.number >= ours.number) return head
        throw retry(
          BEHIND,
          `its head is block ${head.number}, but block ${ours.number} is already known: the node lags`,
        )
      }
      return rpc.attempt(read, signal, { tries: rpc.endpoints.length, urgent: true })
    },
  }
}

const belowFinalized = ({ number, hash }: BlockRef, final: number) =>
  stop(
    'reorg_below_finalized',
    `the node's chain leaves the stored one, which leads up to block ${number} (${hash}), below block ${final}, although a node had reported that block as finalized. ` +
      'One of the nodes is wrong: remove it. If the chain really did this, start again: until a node reports what is finalized, reorganisations are followed as deep as finality allows',
  )

const notItsParent = (block: Head, parent: Head) =>
  retry(
    'block_unlinked',
    `block ${block.number} names ${block.parentHash} as its parent, but the node's block ${parent.number} is ${parent.hash}`,
  )

/** A block this far below the head that was missing repeatedly will not come any more. */
export const RECENT = 64
const GONE_TIMES = 3
const BEHIND = 'head_behind'
const BLOCK_TRIES = 4
/** Number of recent hashes cached in case the store lags. */
const REMEMBERED_BLOCKS = 1024
const HEADS_PER_CALL = 8
const CUT_TIMES = 3
const CUT_MS = 5_000
const REMEMBERED_MS = 300_000
const CONFIRM_MS = 200
const SECOND_LOOK_MS = 1_000

interface SurveyOptions {
  rpc: Rpc
  clock: Clock
  pollMs: number | undefined
  tip(): number | undefined
  stored(number: number): BlockRef | undefined
}

/** Polls heads of nodes that were idle for a while, and checks that they are on our branch. */
export const surveyNodes = async (
  { rpc, clock, pollMs = 0, tip, stored }: SurveyOptions,
  signal: AbortSignal,
): Promise<void> => {
  const everyMs = Math.max(SURVEY_MS, 2 * pollMs)
  const look = async (endpoint: Endpoint) => {
    const head = await rpc.look(endpoint, signal)
    const newest = tip()
    const number = newest === undefined ? head.number : Math.min(newest - SURVEY_DEPTH, head.number)
    const ours = number < 0 ? undefined : stored(number)
    if (!ours) return
    const { hash } = number === head.number ? head : (await readHeads(endpoint, number, number, signal))[0]!
    const isOther = hash !== ours.hash
    const since = isOther ? (endpoint.branch?.since ?? clock.now()) : undefined
    endpoint.branch =
      since === undefined ? undefined : { number, hash, since, times: (endpoint.branch?.times ?? 0) + 1 }
  }
  const isDue = ({ head, branch, health, budget }: Endpoint) => {
    const now = clock.elapsed()
    const isOld = branch !== undefined || now - (head?.at ?? Number.NEGATIVE_INFINITY) >= everyMs
    return isOld && health.backoffUntil <= now && budget?.spendable() === undefined
  }
  while (!signal.aborted) {
    await clock.sleep(everyMs, signal).catch(() => {})
    await Promise.all(
      rpc.endpoints.filter(isDue).map(endpoint =>
        look(endpoint).catch(error => {
          if (!signal.aborted && !(error instanceof ChainsieveError)) throw error
        }),
      ),
    )
  }
}

const SURVEY_MS = 10_000
/** Depth below the tip at which nodes may differ for a moment. */
const SURVEY_DEPTH = 3
