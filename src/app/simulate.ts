import { firstToRead, type Readings, readHistory, type StateHistory } from '../back-test/readings.ts'
import { backTest } from '../back-test/run.ts'
import { refuse } from '../lib/errors.ts'
import { gapsIn, type Range } from '../lib/ranges.ts'
import { partsBetween, type TimeParts } from '../lib/time.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits/index.ts'
import type { FindList } from '../rules/lower.ts'
import { readSource } from '../rules/notify/values.ts'
import { covers, isWide, networkOf, type RuleConfig, type RuleInput } from '../rules/rule.ts'
import {
  edgeSearch,
  MAX_EPISODES,
  type RuleSimulation,
  type SimulatedRange,
  type SimulationOfNetwork,
  searchOf,
  withSeries,
} from '../rules/search.ts'
import { lookedFor } from '../rules/windows/steps.ts'
import { secondsOf } from '../rules/windows/stored.ts'
import { networkIndex } from '../search/index-names.ts'
import type { Pool } from '../search/pool.ts'
import type { NetworkCaller } from '../search/service.ts'
import type { PastState } from './past-state.ts'

interface SimulateOptions {
  pool: Pick<Pool, 'ranges' | 'request' | 'deadlineMs'>
  networks(): readonly string[]
  /** Undefined: alerts are not counted, and windows not evaluated. */
  limits?: Limits | undefined
  /** Watch lists of the rule's account. */
  lists: FindList
  /** Only for rules that read state. */
  pastState?: PastState | undefined
}

const DEFAULT_HITS = 10

/** Backtests a rule: searches its matches in stored history, without alerts (dry run). */
export const simulate = async (
  { pool, networks, lists, limits, pastState }: SimulateOptions,
  rule: RuleInput,
  range: SimulatedRange,
  asking: Pick<NetworkCaller, 'account' | 'signal'>,
): Promise<RuleSimulation> => {
  const named = networkOf(rule)
  const among = networks().filter(network => covers(named, network))
  if (among.length === 0)
    throw refuse(
      'index_not_found_exception',
      `${named} is neither stored nor configured here: there is nothing to search.`,
    )
  const parts = { pool, lists, limits, pastState }
  if (!isWide(named)) return simulateIn(parts, named, rule, range, asking)
  const each: SimulationOfNetwork[] = []
  for (const network of among) each.push({ network, ...(await simulateIn(parts, network, rule, range, asking)) })
  return addUp(each, range)
}

/** Numbers of blocks, and what is missing of them, are those of each network. */
const addUp = (
  each: readonly SimulationOfNetwork[],
  { size = DEFAULT_HITS, buckets }: SimulatedRange,
): RuleSimulation => ({
  total: each.reduce((sum, { total }) => sum + total, 0),
  fromBlock: Math.min(...each.map(({ fromBlock }) => fromBlock)),
  toBlock: Math.max(...each.map(({ toBlock }) => toBlock)),
  complete: each.every(({ complete }) => complete),
  holes: [],
  hits: each
    .flatMap(({ hits }) => hits)
    .sort((a, b) => timeIn(b) - timeIn(a))
    .slice(0, size),
  ...(buckets !== undefined && { series: null }),
  ...(each.every(({ alerts }) => alerts !== undefined) && addUpAlerts(each)),
  networks: each.map(({ hits: _, warnings: __, ...one }) => one),
})

const addUpAlerts = (each: readonly SimulationOfNetwork[]) => {
  const sum = (numbers: readonly (number | null | undefined)[]) =>
    numbers.reduce<number | null>(
      (all, one) => (all === null || one === undefined || one === null ? null : all + one),
      0,
    )
  const episodes = each
    .flatMap(({ network, windows }) => (windows?.episodes ?? []).map(episode => ({ network, ...episode })))
    .sort((a, b) => (a.opened.time < b.opened.time ? 1 : -1))
  const [first] = each
  return {
    alerts: sum(each.map(({ alerts }) => alerts)),
    messages: (first!.messages ?? []).map((one, i) => ({
      ...one,
      messages: sum(each.map(({ messages }) => messages?.[i]?.messages)),
    })),
    ...(each.some(({ windows }) => windows) && {
      windows: {
        episodes: episodes.slice(0, MAX_EPISODES),
        open: each.reduce((all, { windows }) => all + (windows?.open ?? 0), 0),
        undecided: [],
      },
    }),
    warnings: [
      ...new Set(each.flatMap(({ network, warnings = [] }) => warnings.map(warning => `${network}: ${warning}`))),
    ],
  }
}

/** Seconds of blocks and transactions, and dates of all else. */
const timeIn = (hit: unknown): number => {
  const { timestamp } = (hit as { _source: { timestamp?: unknown } })._source
  return typeof timestamp === 'string' ? Date.parse(`${timestamp}Z`) : Number(timestamp ?? 0) * 1_000
}

const simulateIn = async (
  { pool, lists, limits, pastState }: Omit<SimulateOptions, 'networks'>,
  network: string,
  rule: RuleInput,
  { buckets, size = DEFAULT_HITS, episodes, ...range }: SimulatedRange,
  asking: Pick<NetworkCaller, 'account' | 'signal'>,
): Promise<RuleSimulation> => {
  const { config } = rule
  const ranges = await pool.ranges(network)
  const { from, to } = endsOf(range, ranges, config, limits)
  const holes = gapsIn(ranges, from, to)
  const ask = async (request: Parameters<Pool['request']>[0]['request']): Promise<string> => {
    const { status, body } = await pool.request({ network, request, ...asking })
    const text = Buffer.from(body as Uint8Array).toString()
    if (status !== 200) throw new Error(`the search of a rule was answered ${status}: ${text}`)
    return text
  }
  const history = { network, config, lists, from, to, ranges, ask, deadlineMs: pool.deadlineMs }
  const parts = buckets === undefined || ranges.length === 0 ? undefined : await partsOf(history, buckets)
  const { total, hits, counts, readings } =
    config.targetType === 'State'
      ? await findRead(
          { ...history, read: requirePastState(pastState, network), limits, signal: asking.signal },
          size,
          parts,
        )
      : await findStored(history, size, parts)
  const series = parts && {
    intervalMs: parts.intervalMs,
    buckets: parts.starts.map(start => ({ from: new Date(start).toISOString(), count: counts.get(start) ?? 0 })),
  }
  return {
    ...{ total, fromBlock: from, toBlock: to, complete: holes.length === 0, holes, hits },
    ...(buckets !== undefined && { series: series ?? null }),
    ...(limits && withWarning(await backTest({ ...history, rule, readings, total, limits, episodes }), readings)),
  }
}

type SearchedHistory = Pick<StateHistory, 'network' | 'config' | 'lists' | 'from' | 'to' | 'ranges' | 'ask'>

/** Undefined if no block of the range is stored. */
const partsOf = async ({ from, to, ask }: SearchedHistory, most: number): Promise<TimeParts | undefined> => {
  const timeOf = async (order: 'asc' | 'desc'): Promise<number | undefined> => {
    const { hits } = JSON.parse(await ask(edgeSearch(from, to, order))) as { hits: { hits: BlockHit[] } }
    const [hit] = hits.hits
    return hit && Number(hit._source.timestamp) * 1_000
  }
  const [first, last] = [await timeOf('asc'), await timeOf('desc')]
  return first === undefined || last === undefined ? undefined : partsBetween(first, last, most)
}

const withWarning = <T extends Pick<RuleSimulation, 'warnings'>>(tested: T, readings: Readings | undefined): T =>
  readings?.blocksRead === 0
    ? {
        ...tested,
        warnings: [
          ...(tested.warnings ?? []),
          'No stored block of the range is divisible by every.blocks: nothing was read.',
        ],
      }
    : tested

interface Found {
  total: number
  /** Newest first. */
  hits: unknown[]
  /** By the starts of parts. */
  counts: ReadonlyMap<number, number>
  readings?: Readings
}

const findStored = async (
  { config, lists, from, to, ranges, ask }: SearchedHistory,
  size: number,
  parts: TimeParts | undefined,
): Promise<Found> => {
  if (ranges.length === 0) return { total: 0, hits: [], counts: new Map() }
  const request = searchOf(lookedFor(config)[0]!, { from, to, order: 'desc', size }, lists)
  const text = await ask(parts ? withSeries(request, parts) : request)
  const { total, hits } = (readSource(text) as unknown as HitsAnswer).hits
  const buckets = parts ? (JSON.parse(text) as Aggregated).aggregations.series.buckets : []
  return { total, hits, counts: new Map(buckets.map(({ key, doc_count }) => [key, doc_count])) }
}

const findRead = async (
  { limits = DEFAULT_LIMITS, ...history }: Omit<StateHistory, 'limits'> & { limits: Limits | undefined },
  size: number,
  parts: TimeParts | undefined,
): Promise<Found> => {
  const readings = await readHistory({ ...history, limits })
  const { matches } = readings
  const counts = new Map<number, number>()
  for (const match of parts ? matches : []) {
    const start = Math.floor((secondsOf(match) * 1_000) / parts!.intervalMs) * parts!.intervalMs
    counts.set(start, (counts.get(start) ?? 0) + 1)
  }
  const hits = matches.slice(Math.max(0, matches.length - size)).toReversed()
  const shown = hits.map(hit => ({ _index: networkIndex(history.network), _type: 'state', ...hit }))
  return { total: matches.length, hits: shown, counts, readings }
}

const requirePastState = (pastState: PastState | undefined, network: string): StateHistory['read'] => {
  const read = pastState?.(network) ?? `There is no node of ${network} to read its state from.`
  if (typeof read === 'string') throw refuse('illegal_argument_exception', read)
  return read
}

interface BlockHit {
  _source: { timestamp: number }
}

interface HitsAnswer {
  hits: { total: number; hits: unknown[] }
}

interface Aggregated {
  aggregations: { series: { buckets: { key: number; doc_count: number }[] } }
}

/** One end that is given may lie outside of what is stored. Of state, some of the newest blocks are read by default. */
const endsOf = (
  { fromBlock, toBlock, lastBlocks }: SimulatedRange,
  ranges: readonly Range[],
  config: RuleConfig,
  limits = DEFAULT_LIMITS,
) => {
  const top = ranges.at(-1)?.to ?? 0
  if (lastBlocks !== undefined) return { from: Math.max(0, top - lastBlocks + 1), to: top }
  const first = Math.min(ranges[0]?.from ?? 0, toBlock ?? Number.POSITIVE_INFINITY)
  const to = toBlock ?? Math.max(top, fromBlock ?? first)
  const begin = config.read ? Math.max(first, firstToRead(config.read, Math.min(to, top), limits)) : first
  return { from: fromBlock ?? begin, to }
}
