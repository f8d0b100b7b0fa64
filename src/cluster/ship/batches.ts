import type { PartialBlocks } from '../../engine/shipping/partial-blocks.ts'
import type { BatchNumbers } from '../../engine/shipping/shipping-state.ts'
import { holds, type Range } from '../../lib/ranges.ts'
import type { ClusterOptions } from '../connection/cluster.ts'
import { finishBatch, type ShipContext } from './context.ts'
import { linesOf, type Send } from './sending.ts'

export type ShipBatches = ReturnType<typeof createShipBatches>

export interface ShipBatchesOptions {
  send: Send
  /** Creates the indices of a block; undefined: that of tokens. */
  ensure(block: number | undefined): Promise<void> | undefined
  /** Bytes from which on a batch takes no further block. */
  batchBytes?: number | undefined
}

/** Each refresh creates segments that the cluster has to merge, so batches are large. */
const BATCH_BYTES = 96 * 2 ** 20
/** Lower limit, however often batches are given up. */
const MIN_BATCH_BYTES = 2 ** 20

/** A batch whose documents were sent. */
interface Sent {
  batch: BatchNumbers
  done: Range | undefined
  touched: ReadonlySet<string>
  /** Change up to which tokens were sent. */
  change: number
  /** Batch that sent those before it; undefined if these are there already. */
  before: Sent | undefined
  /** Whether all tokens up to that change were sent by batches that count. */
  isWhole: boolean
  isThere: boolean
}

/**
 * Ships runs of blocks in batches. While the cluster completes one batch and shows it, the next one
 * is sent. Batches are noted in their order.
 */
export const createShipBatches = (ship: ShipContext, options: ShipBatchesOptions) => {
  const { naming, shelf, lines, visible, publishing, bulk, onProgress } = ship
  const { send, batchBytes = BATCH_BYTES } = options
  const { persist, note } = ship.session
  const { next } = ship.partial
  const count = ship.metrics.counter('chainsieve_cluster_batches_total').add
  /** Last batch that is not noted yet. */
  let last: Sent | undefined
  let settling: Promise<void> = Promise.resolve()
  let room = batchBytes

  const sendAll = async (run: Range | undefined, batch: BatchNumbers, urgent: () => boolean): Promise<Sent> => {
    const touched = new Set<string>()
    let done = run
    if (run) {
      const blocks = linesOf(
        run,
        { block: lines.block, next },
        {
          hasRoom: bytes => bytes < room && !urgent(),
          onBlocks(last) {
            done = { from: run.from, to: last }
          },
        },
      )
      await send(blocks, batch, touched)
    }
    // The blocks of one that counts for nothing may go unnoticed.
    const before = last?.isWhole && shelf.isUnderWay(last.batch.number) ? last : undefined
    const since = before?.change ?? shelf.shippedChange()
    let change = since
    function* tokens() {
      const { ranges: there } = visible()
      const also = before?.done ? [before.done] : []
      // From the same snapshot as the tokens; later changes are shipped next time.
      change = lines.lastChange()
      if (run || change > since) yield* lines.tokens(done, since, block => holds(there, block) || holds(also, block))
    }
    await send(tokens(), batch, touched)
    return { batch, done, touched, change, before, isWhole: false, isThere: false }
  }

  const settle = async (sent: Sent, flushed: Promise<void>) => {
    const { batch, done, touched, change, isWhole } = sent
    const commit = () => shelf.commit(batch, done, isWhole ? change : shelf.shippedChange())
    sent.isThere = await finishBatch(ship, touched, commit, { flushed })
    if (last === sent) last = undefined
    count({ outcome: sent.isThere ? 'there' : 'reorganised' })
    room = Math.min(batchBytes, room * 2)
    if (sent.isThere && done) onProgress()
  }

  /** Creates the indices of these blocks; without blocks, that of tokens. */
  const ensure = async (run: Range | undefined) => {
    for (const block of eachIndex(run, naming, next)) await persist(() => options.ensure(block))
  }

  return {
    ensure,
    /**
     * Sends as many of these blocks as a batch has room for, and changed tokens; undefined: only
     * tokens. Takes no further block when others are `urgent`. The batch is noted later.
     */
    async ship(run: Range | undefined, urgent = () => false) {
      await ensure(run)
      const batch = await note(() => shelf.begin(run))
      // Processes that do not know of a batch would show none of its tokens.
      await publishing.publish()
      const sent = await sendAll(run, batch, urgent)
      const flushed = bulk().flush()
      flushed.catch(() => {})
      await settling
      sent.isWhole = !sent.before || sent.before.isThere
      sent.before = undefined
      last = sent
      settling = settle(sent, flushed)
      settling.catch(() => {})
    },
    /** Blocks that were sent but are not noted yet. */
    underWay: () => last?.done,
    /** Resolves when all sent batches are noted; rejects if that is impossible. */
    settled: () => settling,
    /** Size limit of a batch: lower after one was given up, which helps the next one to finish. */
    room: () => room,
    /** Stops waiting for batches that were sent but not noted. */
    async giveUp() {
      room = Math.max(Math.min(MIN_BATCH_BYTES, batchBytes), room / 4)
      await settling.catch(() => {})
      last = undefined
      settling = Promise.resolve()
    },
  }
}

/** A stored block for each index that a batch writes to; undefined: that of tokens. */
const eachIndex = (
  run: Range | undefined,
  { blocksPerIndex }: Pick<ClusterOptions, 'blocksPerIndex'>,
  next: PartialBlocks['next'],
): (number | undefined)[] => {
  const blocks: number[] = []
  if (run)
    for (let block = next(run.from); block <= run.to; ) {
      blocks.push(block)
      block = next((Math.floor(block / blocksPerIndex) + 1) * blocksPerIndex)
    }
  return blocks.length > 0 ? blocks : [undefined]
}
