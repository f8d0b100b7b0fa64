import { setImmediate } from 'node:timers/promises'
import { BLOCK_MISSING } from '../chain/rpc/answers.ts'
import type { ReadStateAt, StateAnswer } from '../chain/source.ts'
import { ChainsieveError, messageOf, refuse, retry } from '../lib/errors.ts'
import { partsIn, type Range } from '../lib/ranges.ts'
import { withTimeout } from '../lib/retry.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import type { FindList } from '../rules/lower.ts'
import type { RuleConfig } from '../rules/rule.ts'
import type { ReadConfig } from '../rules/state/call.ts'
import { createStateReader } from '../rules/state/readings.ts'
import type { MatchedBlock, StoredMatch } from '../rules/windows/stored.ts'
import { type AskStore, createStoredBlocks } from './stored-blocks.ts'

/** What a rule of the target `State` would have read in a range. */
export interface Readings {
  /** Those that meet its conditions, in the order of the chain. */
  matches: readonly StoredMatch[]
  blocksRead: number
  /** All of them, of a rule with `when`. */
  blocks(first: number, end: number): AsyncGenerator<MatchedBlock, undefined>
}

export interface StateHistory {
  network: string
  config: RuleConfig
  lists: FindList
  from: number
  to: number
  /** Stored blocks. */
  ranges: readonly Range[]
  ask: AskStore
  read: ReadStateAt
  limits: Limits
  deadlineMs: number
  signal: AbortSignal
}

/** Blocks that are read where the range does not say where it begins. */
const DEFAULT_BLOCKS = 100
/** Blocks that are read at once: the limits of the nodes hold as well. */
const READS_AT_ONCE = 16
/** Characters of all answers, which are kept until all are there. */
const MAX_READ_CHARACTERS = 8_000_000

/** Where a range of blocks that are read begins by default. */
export const firstToRead = (
  { balances = [], every: { blocks: every } }: ReadConfig,
  to: number,
  { simulatedReadings }: Limits,
): number => {
  const most = Math.min(DEFAULT_BLOCKS, Math.floor(simulatedReadings / Math.max(1, balances.length)))
  return Math.max(0, (Math.floor(to / every) - Math.max(1, most) + 1) * every)
}

/** Reads what a rule asks for in a range, as if the rule had been made before its first block. */
export const readHistory = async (history: StateHistory): Promise<Readings> => {
  const { config, lists } = history
  const { every, balances } = config.read!
  const reader = createStateReader(config.read!)
  const numbers = numbersToRead(history, every.blocks, balances?.length ?? 1)
  const stored = createStoredBlocks(history.ask, ['hash'])
  const blocks = await stored.heads(numbers)
  const first = blocks[0]
  const [before] = first ? await stored.heads([first.number - every.blocks]) : []
  const answers = await readStateOf(history, reader.questions, { blocks, before })

  const meets = reader.matches(config, lists)
  const verdicts = config.when && reader.verdicts(config, lists)
  const matches: StoredMatch[] = []
  const found: MatchedBlock[] = []
  for (const [i, block] of blocks.entries()) {
    if (i % DECODED_AT_ONCE === DECODED_AT_ONCE - 1) await setImmediate()
    const { number } = i === 0 ? (before ?? {}) : blocks[i - 1]!
    const earlier = i === 0 ? answers.before : answers.of[i - 1]
    const follows = number === block.number - every.blocks && earlier !== undefined
    const lasts = reader.readings(block, answers.of[i]!, follows ? { number: number!, answers: earlier } : undefined)
    matches.push(...lasts.filter(({ _source }) => meets(_source)))
    if (verdicts) found.push({ number: block.number, entries: verdicts(block.number, lasts), lasts })
  }
  return {
    matches,
    blocksRead: blocks.length,
    async *blocks(first, end): AsyncGenerator<MatchedBlock, undefined> {
      for (const block of found) if (block.number >= first && block.number <= end) yield block
    },
  }
}

/** Blocks whose readings are decoded before other work has its turn. */
const DECODED_AT_ONCE = 10

/** The stored blocks of a range that are divisible by `every`. */
const numbersToRead = ({ ranges, from, to, limits }: StateHistory, every: number, questions: number): number[] => {
  const parts = partsIn(ranges, from, to).map(part => ({
    first: Math.ceil(part.from / every),
    count: Math.max(0, Math.floor(part.to / every) - Math.ceil(part.from / every) + 1),
  }))
  const readings = questions * parts.reduce((sum, { count }) => sum + count, 0)
  if (readings > limits.simulatedReadings)
    throw overLimit('simulatedReadings', limits, `A simulation that asks for ${readings}`)
  return parts.flatMap(({ first, count }) => Array.from({ length: count }, (_, i) => (first + i) * every))
}

interface StoredHead {
  number: number
  hash: string
  time: number
}

const readStateOf = (
  { network, read, deadlineMs, signal }: StateHistory,
  questions: Parameters<ReadStateAt>[1],
  { blocks, before }: { blocks: readonly StoredHead[]; before: StoredHead | undefined },
): Promise<{ of: StateAnswer[][]; before: StateAnswer[] | undefined }> => {
  const of: StateAnswer[][] = []
  let done = 0
  let size = 0
  const late = () =>
    retry(
      'search_timeout_exception',
      `the state of ${done} of ${blocks.length} blocks was read before query-deadline passed: take fewer blocks, or raise it. The node may be slow, or its budget used up for now.`,
    )
  return withTimeout(deadlineMs, signal, late, async signal => {
    const failing = new AbortController()
    const ending = AbortSignal.any([signal, failing.signal])
    const readBlock = async ({ number, hash }: StoredHead): Promise<StateAnswer[]> => {
      try {
        return await read(hash, questions, ending)
      } catch (error) {
        ending.throwIfAborted()
        throw unread(network, number, error)
      }
    }
    const queue = blocks.entries()
    const work = async (most: number) => {
      for (let taken = 0; taken < most; taken++) {
        const { value, done: isOver } = queue.next()
        if (isOver) return
        const [i, block] = value
        const answers = await readBlock(block)
        of[i] = answers
        done++
        size += answers.reduce((sum, it) => sum + ('hex' in it ? it.hex.length : it.error.length), 0)
        if (size > MAX_READ_CHARACTERS)
          throw refuse(
            'content_too_large_exception',
            `The answers to the first ${done} of ${blocks.length} blocks have more than ${MAX_READ_CHARACTERS / 1e6} MB: take fewer blocks.`,
          )
      }
    }
    try {
      // Whether a node has the state of the oldest block tells whether it can do the others.
      await work(1)
      const earlier = before && read(before.hash, questions, ending).catch(error => lackedOr(error))
      const all = Array.from({ length: READS_AT_ONCE }, () => work(Number.POSITIVE_INFINITY))
      const [answers] = await Promise.all([earlier, ...all])
      return { of, before: answers }
    } finally {
      failing.abort()
    }
  })
}

const isLacked = (error: unknown): error is ChainsieveError =>
  error instanceof ChainsieveError && error.code === BLOCK_MISSING

/** As in live readings, what a node no longer has is no previous reading. */
const lackedOr = (error: unknown): undefined => {
  if (!isLacked(error)) throw error
}

const unread = (network: string, number: number, error: unknown): unknown => {
  if (isLacked(error))
    return refuse(
      'illegal_argument_exception',
      `No node of ${network} has the state of block ${number} (${error.message}). A back-test of state needs an archive node, as others keep the state of the newest 128 blocks or so: follow the network with one, or take newer blocks.`,
    )
  if (!(error instanceof ChainsieveError)) return error
  return new ChainsieveError(error.next, error.code, `The state of block ${number} was not read: ${messageOf(error)}`)
}
