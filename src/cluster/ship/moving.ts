import { createLocationWriter } from '../../engine/shipping/document-location.ts'
import { gapsIn, mergeRanges, partsIn, type Range } from '../../lib/ranges.ts'
import type { Kind } from '../../mapping/index.ts'
import type { MovingReport as Report, ShipContext } from './context.ts'
import { addTo, differingKinds, type Tally, tallies } from './tally.ts'

/**
 * Moves a store that was filled before it had a cluster: once all documents are shipped, it
 * compares runs of blocks with the cluster, and ships them again where they differ. Then one
 * transaction directs searches to the cluster; until then the store answers and keeps all.
 *
 * Comparisons are not stored: a restart repeats them, which is much quicker than shipping.
 */
export type Moving = ReturnType<typeof createMoving>

type MoveProgress = Omit<Report, 'to'>

/** Blocks that are compared at once. */
const MAX_COMPARED_BLOCKS = 10_000
/** Unshipped blocks that do not delay the move: searches of a cluster lag that much anyway. */
const FEW_BLOCKS = 64
/** Time limit of a turn. */
const COMPARE_TURN_MS = 4

/** `ranges`: stored blocks. `onMove` runs in the transaction that moves searches to the cluster. */
export const createMoving = (ship: ShipContext, ranges: () => Range[], onMove: () => void) => {
  const { visible, lines, reader, requests, shelf, log } = ship
  const { turn, persist, note, pause } = ship.session
  const mark = createLocationWriter(ship.db)
  const size = Math.min(MAX_COMPARED_BLOCKS, ship.naming.blocksPerIndex)
  let verified: Range[] = []
  /** Run being compared; undefined once part of it was removed. */
  let comparing: Range | undefined
  /** Number of consecutive runs that differed. */
  let failures = 0
  let told = -1

  const left = () => gapsOf(ranges(), visible().ranges)
  /** Lowest shipped run that is not compared yet. */
  const next = (): Range | undefined => {
    const there = visible().ranges.flatMap(({ from, to }) => partsIn(ranges(), from, to))
    const gap = gapsOf(there, verified)[0]
    return gap && { from: gap.from, to: Math.min(gap.to, (Math.floor(gap.from / size) + 1) * size - 1) }
  }

  const count = async ({ from, to }: Range): Promise<Map<Kind, Tally>> => {
    const all = tallies()
    for (let block = from; block <= to; ) {
      await ship.publishing.publishChanges()
      await turn()
      const end = performance.now() + COMPARE_TURN_MS
      reader.begin()
      try {
        for (; block <= to && performance.now() < end; block++)
          for (const [kind, position] of lines.places(block)) addTo(all, kind, position)
      } finally {
        reader.end()
      }
    }
    return all
  }

  const compare = async (run: Range) => {
    comparing = run
    const { hidden } = visible()
    const stored = await count(run)
    const there = await persist(() => requests.tally(run, hidden))
    // Part of it was reorganised away.
    if (!comparing) return
    const kinds = differingKinds(stored, there)
    // Changed tokens are shipped first.
    if (kinds.join() === 'token' && shelf.hasChangedTokens()) return
    if (kinds.length > 0) return shipAgain(run, kinds, { stored, there })
    failures = 0
    verified = mergeRanges([...verified, run])
  }

  type Tallies = ReadonlyMap<Kind, Tally>
  const shipAgain = async (run: Range, kinds: Kind[], found: { stored: Tallies; there: Tallies }) => {
    const counts = (of: Tallies) => kinds.map(kind => `${kind} ${of.get(kind)!.count}`).join(', ')
    log.warn('The cluster does not hold what the store holds of some blocks: ships them again', {
      ...run,
      store: counts(found.stored),
      cluster: counts(found.there),
    })
    const written = await note(() => {
      shelf.lose([run])
      return shelf.batches()
    })
    // Surplus documents would remain otherwise.
    await persist(() => requests.remove({ batches: { from: 0, to: written }, above: run.from - 1, below: run.to }))
    if (failures++ > 0) await pause(failures)
  }

  const switchOver = async () => {
    const isDone = await note(() => {
      if (countBlocks(left()) > FEW_BLOCKS || next()) return false
      mark.move()
      onMove()
      return true
    })
    if (isDone) log.info('Searches go to the cluster from now on', { blocks: countBlocks(ranges()) })
  }

  /** Undefined if searches go to the cluster. */
  const report = (): MoveProgress | undefined => {
    if (mark.since() !== undefined) return undefined
    const blocks = countBlocks(ranges())
    return { blocks, shipped: blocks - countBlocks(left()), verified: countBlocks(verified) }
  }
  const tell = () => {
    const moving = report()
    if (!moving) return
    const percent = percentOf(moving)
    if (Math.floor(percent / 10) === Math.floor(told / 10)) return
    told = percent
    log.info('Moves documents to the cluster', { percent, ...moving })
  }

  return {
    /** Compares one run of blocks, or switches over; whether there was anything to do. */
    async step() {
      if (mark.since() !== undefined) return false
      tell()
      if (countBlocks(left()) > FEW_BLOCKS) return false
      const run = next()
      if (run) await compare(run)
      else await switchOver()
      return true
    },
    /** Blocks above this one were removed. */
    removed(to: number) {
      if (comparing && to < comparing.to) comparing = undefined
      verified = verified.flatMap(({ from, to: last }) => (from > to ? [] : [{ from, to: Math.min(last, to) }]))
    },
    report,
  }
}

/** Shipping is one half of the progress, comparing the other. */
export const percentOf = ({ blocks, shipped, verified }: MoveProgress): number =>
  blocks === 0 ? 100 : Math.min(100, Math.floor((50 * (shipped + verified)) / blocks))

const gapsOf = (all: readonly Range[], there: readonly Range[]): Range[] =>
  all.flatMap(({ from, to }) => gapsIn(there, from, to))
const countBlocks = (ranges: readonly Range[]): number => ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0)
