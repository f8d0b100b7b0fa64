import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainSource, LogFilter } from '../chain/source.ts'
import type { RawBlock } from '../chain/wire.ts'
import { tokensIn, tokensOf } from '../documents/tokens.ts'
import type { Lookups } from '../engine/port.ts'
import type { Log } from '../lib/log.ts'
import type { Range } from '../lib/ranges.ts'
import type { BlockFacts } from './decoding/builders/thread.ts'
import type { OpenDecoding } from './decoding/open-decoding.ts'
import type { Finality } from './finality.ts'
import type { MissingBlocks } from './jobs/missing.ts'
import type { IndexerData, RedecodingReport } from './messages.ts'
import { applyJobChanges, type JobChanges, type Pipeline } from './pipeline.ts'
import type { RemoteStore } from './remote.ts'
import type { RuleWatcher } from './rules/rule-watcher.ts'
import type { StoredBlocks } from './scoped/partial-blocks.ts'
import type { ChainPace } from './status/chain-pace.ts'

export interface JobState {
  done: number
  total: number
  /** Whether what nodes have of the blocks below the followed ones is committed. */
  filled: boolean
  head: number | null
  headAt: number
  asked: Range | null
  reading: string | null
  redecoding: RedecodingReport | null
  trouble: { why: string; since: string } | null
  filling: (Range & { filter: LogFilter; next: number }) | null
  isShared: boolean
  forgotten: number
  missing: MissingBlocks | null
  /** What the owners of rules over several networks should know. */
  acrossNotes: ReadonlyMap<number, string>
}

export const createJobState = (): JobState => ({
  done: 0,
  total: 0,
  filled: false,
  head: null,
  headAt: Number.NEGATIVE_INFINITY,
  asked: null,
  reading: null,
  redecoding: null,
  trouble: null,
  filling: null,
  isShared: false,
  forgotten: 0,
  missing: null,
  acrossNotes: new Map(),
})

export interface Work extends Omit<IndexerData, 'remote'>, OpenDecoding {
  /** Undefined once all documents are back in the store. */
  remote: RemoteStore | undefined
  pipeline: Pipeline
  ruleWatcher: RuleWatcher
  storedBlocks(): StoredBlocks
  lookups: Lookups
  source: ChainSource | undefined
  chainId: number | undefined
  state: JobState
  pace: ChainPace
  finality: Finality
  log: Log
  signal: AbortSignal
}

/** A block of the head that came so lately is mostly followed by the next one. */
const HEAD_GAP_MS = 15
/** Longest wait: a head that never rests must not stop others for good. */
const MAX_PATIENCE_MS = 1000

export const runChanges = (
  { pipeline, state, signal }: Pick<Work, 'pipeline' | 'state' | 'signal'>,
  changes: JobChanges,
) => applyJobChanges(changes, pipeline.apply, () => yieldToHead(state, signal))

const yieldToHead = async (state: JobState, signal: AbortSignal) => {
  await yieldToEventLoop()
  const until = performance.now() + MAX_PATIENCE_MS
  while (performance.now() < Math.min(until, state.headAt + HEAD_GAP_MS)) await sleep(HEAD_GAP_MS / 3)
  signal.throwIfAborted()
}

export const yieldToEventLoop = () => new Promise<void>(resolve => setImmediate(resolve))

export const prefetch = async (
  { lookups, contracts, links, tokens, state, signal }: Work,
  blocks: readonly RawBlock[],
) => {
  await lookups.prefetch(blocks)
  await contracts.prefetch(blocks, signal)
  await links.prefetch(blocks, state.head ?? -1, signal)
  const shown = blocks.flatMap(raw => [...tokensIn(raw, contracts.in(raw)).keys()])
  await tokens.prefetch(
    shown.map(address => address.slice(2)),
    signal,
  )
}

export const prefetchFor = async ({ contracts, links, tokens, signal }: Work, blocks: readonly BlockFacts[]) => {
  await contracts.prefetchCodes(
    blocks.flatMap(({ creations }) => creations),
    signal,
  )
  for (const { number, upgrades } of blocks) links.note(number, upgrades)
  const shown = blocks.flatMap(({ emitters, creations, number }) => [
    ...tokensOf(emitters, contracts.of(creations, number)).keys(),
  ])
  await tokens.prefetch(
    shown.map(address => address.slice(2)),
    signal,
  )
}
