import type { AlertUpdate, Scan } from '../../alerts/alert-store.ts'
import { BLOCK_MISSING } from '../../chain/rpc/answers.ts'
import type { ChainSource, StateAnswer } from '../../chain/source.ts'
import type { BlockLookups } from '../../engine/port.ts'
import { ChainsieveError, messageOf } from '../../lib/errors.ts'
import type { Range } from '../../lib/ranges.ts'
import type { Clock } from '../../lib/retry.ts'
import type { FindList } from '../../rules/lower.ts'
import type { StoredRule } from '../../rules/rule.ts'
import { createStateReader } from '../../rules/state/readings.ts'
import { matchOfRule } from './match.ts'

export interface StateReadingsOptions {
  network: string
  rules: {
    /** Enabled rules of the target `State` that know where they begin. */
    ofState(): readonly StoredRule[]
    rule(id: number): StoredRule | undefined
    scans: Map<number, Scan>
    listsOf(account: number): FindList
    trouble(rule: number, why: string | undefined): void
  }
  read: NonNullable<ChainSource['stateAt']>
  /** Blocks that are committed. */
  blocks: Pick<BlockLookups, 'hash' | 'ranges' | 'floor' | 'chainId'>
  /** Whether blocks between the stored ones are being fetched. */
  isFilling(): boolean
  timeOf(number: number): number | undefined
  tell(update: AlertUpdate): Promise<void>
  clock: Clock
  signal: AbortSignal
}

/** Depth at which full nodes may have dropped the state of a block: what they lack there is left out. */
export const KEPT_STATE = 128
const RETRY_READ_MS = 3_000

interface LastReading {
  matching: number
  block: number
  hash: string
  answers: readonly StateAnswer[]
}

/**
 * Reads the state that rules ask for, at stored blocks and by their hash. A rule's place is stored
 * with its alerts, so a restart goes on where it was. Blocks wait for none of this: a node that
 * fails delays only the alerts of these rules.
 */
export const createStateReadings = (options: StateReadingsOptions) => {
  const { network, rules, read, blocks, timeOf, tell, clock, signal } = options
  const readers = new Map<number, { matching: number; reader: ReturnType<typeof createStateReader> }>()
  /** The newest reading of each rule, which the next one is compared with. */
  const newest = new Map<number, LastReading>()
  const retryAt = new Map<number, number>()

  const readerOf = ({ id, matching, input }: StoredRule) => {
    const known = readers.get(id)
    if (known?.matching === matching) return known.reader
    const reader = createStateReader(input.config.read!)
    readers.set(id, { matching, reader })
    return reader
  }

  /** The reading before: remembered, or read again. Undefined if the node no longer has that state. */
  const before = async (rule: StoredRule, number: number): Promise<LastReading | undefined> => {
    const hash = number < 0 ? undefined : blocks.hash(number)
    if (hash === undefined) return undefined
    const known = newest.get(rule.id)
    if (known?.block === number && known.hash === hash && known.matching === rule.matching) return known
    try {
      const answers = await read(hash, readerOf(rule).questions, signal)
      return { matching: rule.matching, block: number, hash, answers }
    } catch (error) {
      if (signal.aborted || !isDropped(error)) throw error
      return undefined
    }
  }

  /** Reads at one block and tells what matches, unless rule or chain have changed meanwhile. */
  const readAt = async (rule: StoredRule, scan: Scan, number: number) => {
    const { every } = rule.input.config.read!
    const hash = blocks.hash(number)
    const time = timeOf(number)
    if (hash === undefined || time === undefined) return
    const reader = readerOf(rule)
    const answers = await read(hash, reader.questions, signal)
    const earlier = await before(rule, number - every.blocks)
    const now = rules.rule(rule.id)
    if (now?.revision !== rule.revision || rules.scans.get(rule.id) !== scan || blocks.hash(number) !== hash) return
    const receivedAt = clock.now()
    const readings = reader.readings(
      { number, hash, time },
      answers,
      earlier && { number: earlier.block, answers: earlier.answers },
    )
    const lists = rules.listsOf(rule.account)
    const { config } = rule.input
    const found: Pick<AlertUpdate, 'hits' | 'readings'> = { hits: [] }
    if (config.when) {
      const entries = reader.verdicts(config, lists)(number, readings)
      found.readings = [{ rule: rule.id, revision: rule.matching, number, hash, time, receivedAt, entries }]
    } else {
      const matches = reader.matches(config, lists)
      found.hits = readings
        .filter(({ _source }) => matches(_source))
        .map(({ _id, _source }) =>
          matchOfRule(rule, {
            ...{ network, block: number, blockHash: hash, receivedAt },
            ...{ entity: { _id, _type: 'state' }, source: JSON.stringify(_source) },
          }),
        )
    }
    newest.set(rule.id, { matching: rule.matching, block: number, hash, answers })
    rules.trouble(rule.id, undefined)
    await go(scan, number + 1, found, { block: number, hash })
  }

  const go = (scan: Scan, next: number, found: Pick<AlertUpdate, 'hits' | 'readings'>, read?: Scan['read']) => {
    const { read: _, ...rest } = scan
    const moved = { ...rest, next }
    rules.scans.set(scan.rule, moved)
    return tell({ ...found, scans: [{ ...moved, ...(read && { read }) }] })
  }

  const readNext = async (rule: StoredRule, ranges: readonly Range[]): Promise<boolean> => {
    const scan = rules.scans.get(rule.id)
    if (!scan || (retryAt.get(rule.id) ?? 0) > clock.elapsed()) return false
    const every = rule.input.config.read!.every.blocks
    const first = Math.ceil(Math.max(scan.next, blocks.floor()) / every) * every
    const range = ranges.find(({ to }) => to >= first)
    if (!range) return false
    if (first < range.from) {
      const which = `The state of blocks ${first} to ${range.from - 1}`
      if (options.isFilling()) {
        rules.trouble(rule.id, `${which} is not read yet: these blocks are still being fetched.`)
        return false
      }
      rules.trouble(rule.id, `${which} was not read, and made no alerts: these blocks are not stored.`)
      await go(scan, range.from, { hits: [] })
      return true
    }
    try {
      await readAt(rule, scan, first)
      retryAt.delete(rule.id)
      return rules.scans.get(rule.id) !== scan
    } catch (error) {
      if (signal.aborted) throw error
      const why = messageOf(error)
      const top = ranges.at(-1)!
      if (first < top.to - KEPT_STATE && isDropped(error)) {
        // Halves the way to the newest block: how much the node has is not known.
        const next = Math.ceil((first + 1 + top.to) / 2)
        rules.trouble(
          rule.id,
          `The state of blocks ${first} to ${next - 1} was not read, and made no alerts: no node has it any more (${why}).`,
        )
        await go(scan, next, { hits: [] })
        return true
      }
      rules.trouble(rule.id, `The state of block ${first} is not read yet, and is asked for again: ${why}.`)
      retryAt.set(rule.id, clock.elapsed() + RETRY_READ_MS)
      return false
    }
  }

  return async () => {
    const open = rules.ofState()
    const ranges = blocks.ranges()
    for (const known of [readers, newest, retryAt])
      for (const id of known.keys()) if (!open.some(rule => rule.id === id)) known.delete(id)
    const queue = open.values()
    // Several at once, each block by block: the nodes' own limits hold as for other calls.
    await Promise.all(
      Array.from({ length: RULES_AT_ONCE }, async () => {
        for (const rule of queue) for (let i = 0; i < READINGS_AT_ONCE && (await readNext(rule, ranges)); i++);
      }),
    )
  }
}

const RULES_AT_ONCE = 8
/** Blocks of a rule that is behind, before it is another one's turn. */
const READINGS_AT_ONCE = 20

/** Any other failure says nothing about the block. */
const isDropped = (error: unknown): boolean => error instanceof ChainsieveError && error.code === BLOCK_MISSING
