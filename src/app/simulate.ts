import { backTest } from '../back-test/run.ts'
import { refuse } from '../lib/errors.ts'
import { gapsIn, type Range } from '../lib/ranges.ts'
import { partsBetween } from '../lib/time.ts'
import type { Limits } from '../limits/index.ts'
import type { FindList } from '../rules/lower.ts'
import { readSource } from '../rules/notify/values.ts'
import { covers, isWide, networkOf, type RuleInput } from '../rules/rule.ts'
import {
  edgeSearch,
  MAX_EPISODES,
  type RuleSimulation,
  type SimulatedRange,
  type SimulationOfNetwork,
  type SimulationSeries,
  searchOf,
  withSeries,
} from '../rules/search.ts'
import { lookedFor } from '../rules/windows/steps.ts'
import type { Pool } from '../search/pool.ts'
import type { NetworkCaller } from '../search/service.ts'

interface SimulateOptions {
  pool: Pick<Pool, 'ranges' | 'request' | 'deadlineMs'>
  networks(): readonly string[]
  /** Undefined: alerts are not counted, and windows not evaluated. */
  limits?: Limits | undefined
  /** Watch lists of the rule's account. */
  lists: FindList
}

const DEFAULT_HITS = 10

/** Backtests a rule: searches its matches in stored history, without alerts (dry run). */
export const simulate = async (
  { pool, networks, lists, limits }: SimulateOptions,
  rule: RuleInput,
  range: SimulatedRange,
  asking: Pick<NetworkCaller, 'account' | 'signal'>,
): Promise<RuleSimulation> => {
  if (rule.config.targetType === 'State')
    throw refuse(
      'illegal_argument_exception',
      'A State rule cannot be simulated: it reads a node at new blocks, and what accounts had at stored blocks only an archive node tells. Create it, and see its alerts.',
    )
  const named = networkOf(rule)
  const among = networks().filter(network => covers(named, network))
  if (among.length === 0)
    throw refuse(
      'index_not_found_exception',
      `${named} is neither stored nor configured here: there is nothing to search.`,
    )
  if (!isWide(named)) return simulateIn({ pool, lists, limits }, named, rule, range, asking)
  const each: SimulationOfNetwork[] = []
  for (const network of among)
    each.push({ network, ...(await simulateIn({ pool, lists, limits }, network, rule, range, asking)) })
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
  { pool, lists, limits }: Omit<SimulateOptions, 'networks'>,
  network: string,
  rule: RuleInput,
  { buckets, size = DEFAULT_HITS, episodes, ...range }: SimulatedRange,
  asking: Pick<NetworkCaller, 'account' | 'signal'>,
): Promise<RuleSimulation> => {
  const ranges = await pool.ranges(network)
  const { from, to } = endsOf(range, ranges)
  const request = searchOf(lookedFor(rule.config)[0]!, { from, to, order: 'desc', size }, lists)
  const holes = gapsIn(ranges, from, to)
  const whole = { fromBlock: from, toBlock: to, complete: holes.length === 0, holes }
  const none = { total: 0, ...whole, hits: [] }
  const tested = async (total: number) =>
    limits &&
    backTest({
      ...{ rule, lists, network, from, to, ranges, total, ask, limits, episodes },
      deadlineMs: pool.deadlineMs,
    })
  const nothing = async () => ({ ...none, ...(buckets !== undefined && { series: null }), ...(await tested(0)) })
  const ask = async (request: Parameters<Pool['request']>[0]['request']): Promise<string> => {
    const { status, body } = await pool.request({ network, request, ...asking })
    const text = Buffer.from(body as Uint8Array).toString()
    if (status !== 200) throw new Error(`the search of a rule was answered ${status}: ${text}`)
    return text
  }
  const hitsIn = (text: string) => (readSource(text) as unknown as HitsAnswer).hits
  const timeOf = async (order: 'asc' | 'desc'): Promise<number | undefined> => {
    const { hits } = JSON.parse(await ask(edgeSearch(from, to, order))) as { hits: { hits: BlockHit[] } }
    const [hit] = hits.hits
    return hit && Number(hit._source.timestamp) * 1_000
  }

  if (ranges.length === 0) return nothing()
  if (buckets === undefined) {
    const hits = hitsIn(await ask(request))
    return { total: hits.total, ...whole, hits: hits.hits, ...(await tested(hits.total)) }
  }
  const [first, last] = [await timeOf('asc'), await timeOf('desc')]
  if (first === undefined || last === undefined) return nothing()
  const parts = partsBetween(first, last, buckets)
  const text = await ask(withSeries(request, parts))
  const hits = hitsIn(text)
  const { aggregations } = JSON.parse(text) as Aggregated
  const counts = new Map(aggregations.series.buckets.map(({ key, doc_count }) => [key, doc_count]))
  const series: SimulationSeries = {
    intervalMs: parts.intervalMs,
    buckets: parts.starts.map(start => ({ from: new Date(start).toISOString(), count: counts.get(start) ?? 0 })),
  }
  return { total: hits.total, ...whole, hits: hits.hits, series, ...(await tested(hits.total)) }
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

/** One end that is given may lie outside of what is stored. */
const endsOf = ({ fromBlock, toBlock, lastBlocks }: SimulatedRange, ranges: readonly Range[]) => {
  const top = ranges.at(-1)?.to ?? 0
  if (lastBlocks !== undefined) return { from: Math.max(0, top - lastBlocks + 1), to: top }
  const from = fromBlock ?? Math.min(ranges[0]?.from ?? 0, toBlock ?? Number.POSITIVE_INFINITY)
  return { from, to: toBlock ?? Math.max(top, from) }
}
